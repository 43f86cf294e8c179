#include "infer/batcher.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace glassbox {

// A sentence under way.
template <class T>
struct Batcher<T>::Slot {
  Slot(const GptConfig& shape, GenerationRequest<T> asked)
      : request(std::move(asked)),
        cache(shape),
        sampler(request.sampling),
        uniform(request.seed, request.index) {
    sentence.tokens = request.prompt;
  }

  // Draws the next token; whether the sentence goes on.
  bool draw(std::span<const T> logits, TokenId bos) {
    const TokenId token = sampler.sample(logits, uniform(), sentence.tokens);
    if (token == bos) {
      sentence.stopped = true;
      return end(logits);
    }
    sentence.tokens.push_back(token);
    if (!request.on_event({sentence, logits, false, nullptr})) {
      sentence.stopped = true;
      return end();
    }
    const std::size_t made = sentence.tokens.size() - request.prompt.size();
    const bool goes_on = request.max_tokens == 0 ? !cache.full() : made < request.max_tokens;
    return goes_on || end();
  }
  bool end(std::span<const T> logits = {}, std::exception_ptr error = nullptr) {
    request.on_event({sentence, logits, true, std::move(error)});
    return false;
  }

  GenerationRequest<T> request;
  KvCache<T> cache;
  Sampler sampler;
  UniformStream uniform;
  GeneratedSentence sentence;
  bool done = false;
};

template <class T>
Batcher<T>::Batcher(const Decoder<T>& model, std::size_t threads, std::size_t slots)
    : shape_(model.config()), unit_(model.tokenizer().kind().unit), slots_(slots) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
    threads_.emplace_back([this, own = model.another()]() mutable { work(std::move(own)); });
}

template <class T>
Batcher<T>::~Batcher() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

template <class T>
void Batcher<T>::begin(GenerationRequest<T> request) {
  check_prompt(request.prompt.size(), shape_, unit_);
  request.sampling.validate();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(request));
  }
  changed_.notify_one();
}

template <class T>
std::size_t Batcher<T>::pending() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() + under_way_;
}

template <class T>
void Batcher<T>::work(Decoder<T> model) {
  const TokenId bos = model.tokenizer().bos();
  std::vector<std::unique_ptr<Slot>> all;
  std::vector<GenerationRequest<T>> fresh;
  std::vector<TokenId> tokens;
  std::vector<KvCache<T>*> caches;
  // Of the slots that are done, and of those that f ends.
  const auto guarded = [](Slot& slot, auto f) {
    try {
      slot.done = !f();
    } catch (...) {
      slot.done = true;
      slot.end({}, std::current_exception());
    }
  };
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (all.empty()) changed_.wait(lock, [&] { return stops_ || !queue_.empty(); });
      if (stops_) return;
      // Where there are several threads each takes its part.
      const std::size_t part = (queue_.size() + threads_.size() - 1) / threads_.size();
      for (std::size_t i = std::min(slots_ - all.size(), part); i > 0 && !queue_.empty(); --i) {
        fresh.push_back(std::move(queue_.front()));
        queue_.pop_front();
        ++under_way_;
      }
    }
    for (GenerationRequest<T>& request : fresh) {
      all.push_back(std::make_unique<Slot>(shape_, std::move(request)));
      Slot& slot = *all.back();
      guarded(slot, [&] {
        return slot.draw(
            read_prompt(model, std::span<const TokenId>(slot.request.prompt), slot.cache), bos);
      });
    }
    fresh.clear();
    const auto drop_done = [&] {
      const std::size_t dropped = std::erase_if(all, [](const auto& slot) { return slot->done; });
      const std::lock_guard lock(mutex_);
      under_way_ -= dropped;
    };
    drop_done();
    if (all.empty()) continue;
    tokens.clear();
    caches.clear();
    for (const auto& slot : all) {
      if (slot->cache.full())
        slide(model, std::span<const TokenId>(slot->sentence.tokens), slot->cache);
      tokens.push_back(slot->sentence.tokens.back());
      caches.push_back(&slot->cache);
    }
    const LogitRows<T> logits = model.step(tokens, caches);
    for (std::size_t i = 0; i < all.size(); ++i)
      guarded(*all[i], [&] { return all[i]->draw(logits[i], bos); });
    drop_done();
  }
}

template class Batcher<float>;
template class Batcher<double>;

}  // namespace glassbox
