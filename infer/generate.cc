#include "infer/generate.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace glassbox {

UniformStream::UniformStream(std::uint32_t seed, std::uint64_t index)
    : first_(index == 0), random_(seed), stream_(seed, index) {}

double UniformStream::operator()() { return first_ ? random_.uniform() : stream_.uniform(); }

void check_prompt(std::size_t tokens, const GptConfig& config, const char* unit) {
  if (tokens + 1 > config.block_size) {
    throw ConfigError(fmt::format(
        "prompt: expected at most {}, so that the model's block of {} has room for one more, "
        "found {}; shorten it",
        counted(config.block_size - 1, unit), config.block_size, tokens));
  }
}

template <class T>
std::span<const T> read_prompt(Decoder<T>& model, std::span<const TokenId> prompt,
                               KvCache<T>& cache) {
  check_prompt(prompt.size(), model.config(), model.tokenizer().kind().unit);
  std::vector<TokenId> tokens{model.tokenizer().bos()};
  tokens.insert(tokens.end(), prompt.begin(), prompt.end());
  return model.step(std::span<const TokenId>(tokens), cache);
}

template <class T>
void slide(Decoder<T>& model, std::span<const TokenId> tokens, KvCache<T>& cache) {
  const std::size_t kept = cache.capacity() / 2;
  cache.clear();
  if (kept > 0) model.step(tokens.last(kept + 1).first(kept), cache);
}

namespace {

// A sentence that grows.
struct Sentence {
  GeneratedSentence* out;
  std::size_t prompt;      // words it began with
  std::size_t max_tokens;  // after those; 0: to the end of the block
  TokenId bos;
  const TokenCallback* goes_on;

  // Takes the token drawn after `positions` tokens; whether the sentence goes on.
  bool take(TokenId token, std::size_t positions, std::size_t block) const {
    if (token == bos) {
      out->stopped = true;
      return false;
    }
    out->tokens.push_back(token);
    if (*goes_on && !(*goes_on)(out->tokens)) {
      out->stopped = true;
      return false;
    }
    return max_tokens == 0 ? positions < block : out->tokens.size() - prompt < max_tokens;
  }
};

}  // namespace

template <class T>
GeneratedSentence generate_tokens(Decoder<T>& model, Sampler& sampler,
                                  std::span<const TokenId> prompt, std::size_t max_tokens,
                                  const std::function<double()>& uniform,
                                  const TokenCallback& goes_on) {
  KvCache<T> cache(model.config());
  std::span<const T> logits = read_prompt(model, prompt, cache);
  GeneratedSentence result{{prompt.begin(), prompt.end()}, false};
  const Sentence sentence{&result, prompt.size(), max_tokens, model.tokenizer().bos(), &goes_on};
  while (sentence.take(sampler.sample(logits, uniform(), result.tokens), cache.size(),
                       cache.capacity())) {
    if (cache.full()) slide(model, std::span<const TokenId>(result.tokens), cache);
    logits = model.step(result.tokens.back(), cache);
  }
  return result;
}

template <class T>
void for_each_logits(Decoder<T>& model, std::span<const TokenId> tokens,
                     const std::function<void(std::size_t, std::span<const T>)>& visit) {
  KvCache<T> cache(model.config());
  TokenId newest = model.tokenizer().bos();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (cache.full()) slide(model, tokens.first(i), cache);
    visit(i, model.step(newest, cache));
    newest = tokens[i];
  }
}

StopTexts::StopTexts(const Tokenizer& tokenizer, std::vector<std::string> texts,
                     std::span<const TokenId> prompt)
    : tokenizer_(&tokenizer),
      texts_(std::move(texts)),
      prompt_tokens_(prompt.size()),
      prompt_bytes_(tokenizer.decode({prompt.begin(), prompt.end()}).size()) {
  for (const std::string& text : texts_)
    if (text.empty()) throw ConfigError("stop: expected a text to end at, found an empty one");
}

bool StopTexts::found(std::span<const TokenId> tokens) const {
  if (texts_.empty()) return false;
  // A text that was not there before ends in the newest token, and each token has a byte or more.
  const std::size_t enough = longest() + 1;
  const bool is_long = tokenizer_->kind().ends_alone && tokens.size() - prompt_tokens_ > enough;
  if (is_long) tokens = tokens.last(enough);
  const std::string text = tokenizer_->decode({tokens.begin(), tokens.end()});
  return std::ranges::any_of(texts_, [&](const std::string& stop) {
    return text.find(stop, is_long ? 0 : prompt_bytes_) != std::string::npos;
  });
}

std::size_t StopTexts::end_of(std::string_view text) const {
  std::size_t end = std::string::npos;
  for (const std::string& stop : texts_) end = std::min(end, text.find(stop, prompt_bytes_));
  const std::string_view separator = tokenizer_->kind().separator;
  if (end != std::string::npos && !separator.empty() && end > prompt_bytes_ &&
      text.substr(0, end).ends_with(separator))
    end -= separator.size();
  return end;
}

std::string StopTexts::cut(GeneratedSentence& sentence) const {
  std::string text = tokenizer_->decode(sentence.tokens);
  const std::size_t end = end_of(text);
  if (end == std::string::npos) return text;
  text.resize(end);
  while (tokenizer_->decode(sentence.tokens).size() > end) sentence.tokens.pop_back();
  return text;
}

std::size_t StopTexts::certain(std::string_view text) const {
  if (const std::size_t end = end_of(text); end != std::string::npos) return end;
  const std::size_t held_back =
      texts_.empty() ? 0 : longest() + tokenizer_->kind().separator.size() - 1;
  std::size_t end = text.size() > held_back ? text.size() - held_back : 0;
  // Not within a character: behind the last byte that one begins with, if all of it is there.
  std::size_t begin = end;
  while (begin > 0 && end - begin < 4 && (text[begin - 1] & 0xC0) == 0x80) --begin;
  if (begin > 0) {
    const auto lead = static_cast<unsigned char>(text[begin - 1]);
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (end - (begin - 1) < length) end = begin - 1;
  }
  return end;
}

std::size_t StopTexts::longest() const {
  std::size_t longest = 0;
  for (const std::string& text : texts_) longest = std::max(longest, text.size());
  return longest;
}

template <class T>
Generator<T>::Generator(Decoder<T>& model, const SamplerConfig& config,
                        std::span<const TokenId> prompt, std::size_t max_tokens, std::uint32_t seed,
                        std::size_t shared_bytes, TokenCallback goes_on)
    : model_(model),
      sampler_(config),
      prompt_(prompt.begin(), prompt.end()),
      max_tokens_(max_tokens),
      seed_(seed),
      goes_on_(std::move(goes_on)),
      prefixes_(read_prompt(shared_bytes)) {}

template <class T>
PrefixTree<T> Generator<T>::read_prompt(std::size_t shared_bytes) {
  KvCache<T> cache(model_.config());
  const DrawTable table = sampler_.read(glassbox::read_prompt(model_, prompt_, cache), prompt_);
  return {cache, table, shared_bytes};
}

template <class T>
std::vector<GeneratedSentence> Generator<T>::samples(std::uint64_t first, std::size_t count,
                                                     std::size_t slots) {
  using NodeId = typename PrefixTree<T>::NodeId;
  constexpr NodeId kNone = PrefixTree<T>::kNone;
  enum class State { walks, decodes, idle };
  struct Slot {
    KvCache<T> cache;
    UniformStream uniform;
    Sentence sentence;
    State state;
    NodeId node;      // walking: where; decoding: which one the next pass extends, or kNone
    DrawnToken draw;  // by what
  };

  std::vector<GeneratedSentence> result(count);
  std::size_t begun = 0;
  const std::size_t block = model_.config().block_size;
  const auto begin_next = [&](Slot& slot) {
    slot.state = begun < count ? State::walks : State::idle;
    if (slot.state == State::idle) return;
    GeneratedSentence& out = result[begun];
    out.tokens.reserve(block);
    out.tokens = prompt_;
    slot.uniform = UniformStream(seed_, first + begun);
    slot.sentence = {&out, prompt_.size(), max_tokens_, model_.tokenizer().bos(), &goes_on_};
    slot.node = PrefixTree<T>::kRoot;
    ++begun;
  };
  // Draws one token within the tree.
  const auto walk = [&](Slot& slot) {
    const double u = slot.uniform();
    const auto* edge = prefixes_.find(slot.node, u);
    if (!edge) {
      slot.draw = sampler_.draw(prefixes_.table(slot.node), u);
      edge = prefixes_.find(slot.node, slot.draw.token);
    }
    if (!slot.sentence.take(edge ? edge->token : slot.draw.token, prefixes_.size(slot.node),
                            block)) {
      if (!edge && !prefixes_.full()) prefixes_.add(slot.node, slot.draw);
      begin_next(slot);
    } else if (edge) {
      slot.node = edge->child;
    } else {
      prefixes_.fill(slot.node, slot.cache);
      slot.state = State::decodes;
    }
  };
  // Draws the token after a pass. The pass that a sentence begins with becomes an edge: one a
  // sentence, so the likely ones come in.
  const auto decode = [&](Slot& slot, TokenId token, std::span<const T> logits) {
    const DrawTable table = sampler_.read(logits, slot.sentence.out->tokens);
    const NodeId from = std::exchange(slot.node, kNone);
    if (from != kNone && !prefixes_.full() && !prefixes_.find(from, token))
      prefixes_.add(from, slot.draw, slot.cache, table);
    if (!slot.sentence.take(sampler_.draw(table, slot.uniform()).token, slot.cache.size(), block))
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
      for (const Slot* slot : walking) prefixes_.expect(slot->node);
      for (Slot* slot : walking) walk(*slot);
      std::erase_if(walking, [](const Slot* slot) { return slot->state != State::walks; });
    }
    std::erase_if(all, [](const Slot& slot) { return slot.state == State::idle; });
    if (all.empty()) return result;
    tokens.clear();
    caches.clear();
    for (Slot& slot : all) {
      if (slot.cache.full()) {
        slide(model_, std::span<const TokenId>(slot.sentence.out->tokens), slot.cache);
        slot.node = kNone;
      }
      tokens.push_back(slot.sentence.out->tokens.back());
      caches.push_back(&slot.cache);
    }
    const LogitRows<T> logits = model_.step(tokens, caches);
    for (std::size_t i = 0; i < all.size(); ++i) decode(all[i], tokens[i], logits[i]);
  }
}

template <class T>
std::string generate(Decoder<T>& model, const SamplerConfig& config, Random& random,
                     std::string_view prompt, std::size_t max_tokens) {
  Sampler sampler(config);
  const auto sentence = generate_tokens(model, sampler, model.tokenizer().encode(prompt),
                                        max_tokens, [&random] { return random.uniform(); });
  return model.tokenizer().decode(sentence.tokens);
}

#define GLASSBOX_GENERATE(T)                                                                   \
  template GeneratedSentence generate_tokens(Decoder<T>&, Sampler&, std::span<const TokenId>,  \
                                             std::size_t, const std::function<double()>&,      \
                                             const TokenCallback&);                            \
  template std::span<const T> read_prompt(Decoder<T>&, std::span<const TokenId>, KvCache<T>&); \
  template void slide(Decoder<T>&, std::span<const TokenId>, KvCache<T>&);                     \
  template void for_each_logits(Decoder<T>&, std::span<const TokenId>,                         \
                                const std::function<void(std::size_t, std::span<const T>)>&);  \
  template class Generator<T>;                                                                 \
  template std::string generate(Decoder<T>&, const SamplerConfig&, Random&, std::string_view,  \
                                std::size_t);
GLASSBOX_GENERATE(float)
GLASSBOX_GENERATE(double)
#undef GLASSBOX_GENERATE

}  // namespace glassbox
