#include "infer/generate.h"

#include <fmt/core.h>

#include <utility>

#include "base/error.h"
#include "base/quote.h"

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
        "prompt: expected at most {}, so that the model's block of {} has room for one more, "
        "found {}; shorten it",
        counted(block - 1, model.tokenizer().kind().unit), block, prompt.size()));
  }
  std::span<const T> logits = model.step(model.tokenizer().bos(), cache);
  for (const TokenId token : prompt) logits = model.step(token, cache);
  return logits;
}

// A sentence that grows.
struct Sentence {
  GeneratedSentence* out;
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
GeneratedSentence generate_tokens(Decoder<T>& model, Sampler& sampler,
                                  std::span<const TokenId> prompt, std::size_t max_tokens,
                                  const std::function<double()>& uniform) {
  KvCache<T> cache(model.config());
  std::span<const T> logits = read_prompt(model, prompt, cache);
  GeneratedSentence result{{prompt.begin(), prompt.end()}, false};
  const Sentence sentence{&result, prompt.size(), max_tokens, model.tokenizer().bos()};
  while (sentence.take(sampler.sample(logits, uniform(), result.tokens), cache.size(),
                       cache.capacity()))
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
    slot.sentence = {&out, prompt_.size(), max_tokens_, model_.tokenizer().bos()};
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

#define GLASSBOX_GENERATE(T)                                                                  \
  template GeneratedSentence generate_tokens(Decoder<T>&, Sampler&, std::span<const TokenId>, \
                                             std::size_t, const std::function<double()>&);    \
  template class Generator<T>;                                                                \
  template std::string generate(Decoder<T>&, const SamplerConfig&, Random&, std::string_view, \
                                std::size_t);
GLASSBOX_GENERATE(float)
GLASSBOX_GENERATE(double)
#undef GLASSBOX_GENERATE

}  // namespace glassbox
