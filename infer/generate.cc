#include "infer/generate.h"

#include <fmt/core.h>

#include <utility>

#include "base/error.h"

namespace glassbox {

UniformStream::UniformStream(std::uint32_t seed, std::uint64_t index)
    : first_(index == 0), random_(seed), stream_(seed, index) {}

double UniformStream::operator()() { return first_ ? random_.uniform() : stream_.uniform(); }

namespace {

// Feeds BOS and the prompt to an empty cache; the logits of what comes next.
template <class T>
std::span<const T> read_prompt(Decoder<T>& model, std::span<const TokenId> prompt,
                               KvCache<T>& cache) {
  const std::size_t block = model.config().block_size;
  if (prompt.size() + 1 > block) {
    throw ConfigError(fmt::format(
        "prompt: expected at most {} words, so that the model's block of {} has room for one more, "
        "found {}; shorten it",
        block - 1, block, prompt.size()));
  }
  std::span<const T> logits = model.step(model.tokenizer().bos(), cache);
  for (const TokenId token : prompt) logits = model.step(token, cache);
  return logits;
}

// A sentence that grows.
struct Sentence {
  Generated* out;
  std::size_t prompt;      // words it began with
  std::size_t max_tokens;  // after those; 0: no limit
  TokenId bos;

  // Takes the token drawn after `positions` tokens; whether the sentence goes on.
  bool take(TokenId token, std::size_t positions, std::size_t block) const {
    if (token == bos) {
      out->stopped = true;
      return false;
    }
    out->tokens.push_back(token);
    return positions < block && out->tokens.size() - prompt != max_tokens;
  }
};

}  // namespace

template <class T>
Generated generate_tokens(Decoder<T>& model, Sampler& sampler, std::span<const TokenId> prompt,
                          std::size_t max_tokens, const std::function<double()>& coin) {
  KvCache<T> cache(model.config());
  std::span<const T> logits = read_prompt(model, prompt, cache);
  Generated result{{prompt.begin(), prompt.end()}, false};
  const Sentence sentence{&result, prompt.size(), max_tokens, model.tokenizer().bos()};
  while (sentence.take(sampler.sample(logits, coin()), cache.size(), cache.capacity()))
    logits = model.step(result.tokens.back(), cache);
  return result;
}

template <class T>
Generator<T>::Generator(Decoder<T>& model, const SamplerConfig& config,
                        std::span<const TokenId> prompt, std::size_t max_tokens, std::uint32_t seed,
                        std::size_t shared_bytes)
    : model_(model),
      sampler_(config),
      prompt_(prompt.begin(), prompt.end()),
      max_tokens_(max_tokens),
      seed_(seed),
      prefixes_(read_prompt(shared_bytes)) {}

template <class T>
PrefixTree<T> Generator<T>::read_prompt(std::size_t shared_bytes) {
  KvCache<T> cache(model_.config());
  const DrawTable table = sampler_.read(glassbox::read_prompt(model_, prompt_, cache));
  return {cache, table, shared_bytes};
}

template <class T>
std::vector<Generated> Generator<T>::samples(std::uint64_t first, std::size_t count,
                                             std::size_t slots) {
  using Place = typename PrefixTree<T>::Place;
  constexpr Place kNone = PrefixTree<T>::kNone;
  enum class State { walks, decodes, idle };
  struct Slot {
    KvCache<T> cache;
    UniformStream coins;
    Sentence sentence;
    State state;
    Place place;  // walking: where; decoding: which beginning the next pass extends, or kNone
    Draw draw;    // by what
  };

  std::vector<Generated> result(count);
  std::size_t begun = 0;
  const std::size_t block = model_.config().block_size;
  const auto begin_next = [&](Slot& slot) {
    slot.state = begun < count ? State::walks : State::idle;
    if (slot.state == State::idle) return;
    Generated& out = result[begun];
    out.tokens.reserve(block);
    out.tokens = prompt_;
    slot.coins = UniformStream(seed_, first + begun);
    slot.sentence = {&out, prompt_.size(), max_tokens_, model_.tokenizer().bos()};
    slot.place = PrefixTree<T>::kRoot;
    ++begun;
  };
  // Draws one token within the tree.
  const auto walk = [&](Slot& slot) {
    const double coin = slot.coins();
    const auto* branch = prefixes_.find(slot.place, coin);
    if (!branch) {
      slot.draw = sampler_.draw(prefixes_.table(slot.place), coin);
      branch = prefixes_.find(slot.place, slot.draw.token);
    }
    if (!slot.sentence.take(branch ? branch->token : slot.draw.token, prefixes_.size(slot.place),
                            block)) {
      if (!branch && !prefixes_.full()) prefixes_.add(slot.place, slot.draw);
      begin_next(slot);
    } else if (branch) {
      slot.place = branch->place;
    } else {
      prefixes_.fill(slot.place, slot.cache);
      slot.state = State::decodes;
    }
  };
  // Draws the token after a pass. The pass that a sentence begins with becomes a branch: one a
  // sentence, so the likely ones come in.
  const auto decode = [&](Slot& slot, TokenId token, std::span<const T> logits) {
    const DrawTable table = sampler_.read(logits);
    const Place from = std::exchange(slot.place, kNone);
    if (from != kNone && !prefixes_.full() && !prefixes_.find(from, token))
      prefixes_.add(from, slot.draw, slot.cache, table);
    if (!slot.sentence.take(sampler_.draw(table, slot.coins()).token, slot.cache.size(), block))
      begin_next(slot);
  };

  std::vector<Slot> all;
  std::vector<Slot*> walking;
  std::vector<TokenId> tokens;
  std::vector<KvCache<T>*> caches;
  for (std::size_t i = 0; i < std::min(slots, count); ++i) {
    all.push_back(
        {KvCache<T>(model_.config()), UniformStream(seed_, 0), {}, State::idle, kNone, {}});
    begin_next(all.back());
  }
  for (;;) {
    // The tree lies in far memory: each slot takes a step while the next asks for what it will
    // read.
    for (Slot& slot : all)
      if (slot.state == State::walks) walking.push_back(&slot);
    while (!walking.empty()) {
      for (const Slot* slot : walking) prefixes_.expect(slot->place);
      for (Slot* slot : walking) walk(*slot);
      std::erase_if(walking, [](const Slot* slot) { return slot->state != State::walks; });
    }
    std::erase_if(all, [](const Slot& slot) { return slot.state == State::idle; });
    if (all.empty()) return result;
    tokens.clear();
    caches.clear();
    for (Slot& slot : all) {
      tokens.push_back(slot.sentence.out->tokens.back());
      caches.push_back(&slot.cache);
    }
    const LogitRows<T> logits = model_.step(tokens, caches);
    for (std::size_t i = 0; i < all.size(); ++i) decode(all[i], tokens[i], logits[i]);
  }
}

template <class T>
std::string generate(Decoder<T>& model, const GenerateConfig& config, Random& random) {
  Sampler sampler({config.temperature, config.top_k, config.top_p});
  const Generated sentence =
      generate_tokens(model, sampler, model.tokenizer().encode(config.prompt), config.max_tokens,
                      [&random] { return random.uniform(); });
  return model.tokenizer().decode(sentence.tokens);
}

template Generated generate_tokens(Decoder<float>&, Sampler&, std::span<const TokenId>, std::size_t,
                                   const std::function<double()>&);
template Generated generate_tokens(Decoder<double>&, Sampler&, std::span<const TokenId>,
                                   std::size_t, const std::function<double()>&);
template class Generator<float>;
template class Generator<double>;
template std::string generate(Decoder<float>&, const GenerateConfig&, Random&);
template std::string generate(Decoder<double>&, const GenerateConfig&, Random&);

}  // namespace glassbox
