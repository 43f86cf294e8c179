#include "infer/generate.h"

#include <fmt/core.h>

#include <utility>

#include "base/error.h"

namespace glassbox {

Coins::Coins(std::uint32_t seed, std::uint64_t index)
    : first_(index == 0), random_(seed), stream_(seed, index) {}

double Coins::operator()() { return first_ ? random_.uniform() : stream_.uniform(); }

namespace {

// Feeds BOS and the prompt to an empty cache; the logits of what comes next.
template <class T>
std::span<const T> read_prompt(Decoder<T>& model, std::span<const TokenId> prompt, KvCache<T>& cache) {
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
std::vector<Generated> generate_samples(Decoder<T>& model, const SamplerConfig& config,
                                        std::span<const TokenId> prompt, std::size_t max_tokens,
                                        std::uint32_t seed, std::uint64_t first, std::size_t count,
                                        std::size_t slots, std::size_t shared_bytes) {
  // A tree of what sentences begin with, the prompt first. A sentence walks down it for as long as its words are
  // there, and the pass it then begins with becomes a branch: one a sentence, so the likely beginnings come in.
  constexpr std::size_t kNone = ~std::size_t{0};
  struct Beginning {
    KvCache<T> cache;
    std::vector<T> logits;
    Sampler sampler;  // has read them
    std::vector<std::pair<TokenId, std::size_t>> next;

    std::size_t after(TokenId token) const {
      for (const auto& [word, place] : next)
        if (word == token) return place;
      return kNone;
    }
  };
  std::vector<Beginning> beginnings;
  const auto add_beginning = [&](const KvCache<T>& cache, std::span<const T> logits) {
    beginnings.push_back({KvCache<T>(model.config()), {logits.begin(), logits.end()}, Sampler(config), {}});
    beginnings.back().cache.copy_from(cache);
    beginnings.back().sampler.read(std::span<const T>(beginnings.back().logits));
  };
  struct Slot {
    KvCache<T> cache;
    Coins coins;
    Sentence sentence;
    std::size_t beginning;  // that the next pass extends, or kNone
  };

  KvCache<T> prompt_cache(model.config());
  const std::span<const T> prompt_logits = read_prompt(model, prompt, prompt_cache);
  const std::size_t beginning_bytes = prompt_cache.bytes() + prompt_logits.size() * (sizeof(T) + sizeof(float));
  const std::size_t most_beginnings = 1 + shared_bytes / beginning_bytes;
  add_beginning(prompt_cache, prompt_logits);

  std::vector<Generated> result(count);
  std::size_t begun = 0;
  const std::size_t block = model.config().block_size;
  // Begins the next sentence in a slot, and those after it for as long as they end within the tree; false if
  // none is left.
  const auto begin = [&](Slot& slot) {
    while (begun < count) {
      Generated& out = result[begun];
      out.tokens.reserve(block);
      out.tokens.assign(prompt.begin(), prompt.end());
      slot.coins = Coins(seed, first + begun);
      slot.sentence = {&out, prompt.size(), max_tokens, model.tokenizer().bos()};
      ++begun;
      std::size_t at = 0;
      while (slot.sentence.take(beginnings[at].sampler.draw(slot.coins()), beginnings[at].cache.size(), block)) {
        const std::size_t next = beginnings[at].after(out.tokens.back());
        if (next == kNone) {
          slot.cache.copy_from(beginnings[at].cache);
          slot.beginning = at;
          return true;
        }
        at = next;
      }
    }
    return false;
  };

  Sampler sampler(config);
  std::vector<Slot> active;
  std::vector<TokenId> tokens;
  std::vector<KvCache<T>*> caches;
  active.reserve(slots);
  while (active.size() < slots) {
    active.push_back({KvCache<T>(model.config()), Coins(seed, 0), {}, kNone});
    if (!begin(active.back())) {
      active.pop_back();
      break;
    }
  }
  while (!active.empty()) {
    tokens.clear();
    caches.clear();
    for (Slot& slot : active) {
      tokens.push_back(slot.sentence.out->tokens.back());
      caches.push_back(&slot.cache);
    }
    const LogitRows<T> logits = model.step(tokens, caches);
    for (std::size_t i = active.size(); i-- > 0;) {
      Slot& slot = active[i];
      const std::size_t from = std::exchange(slot.beginning, kNone);
      if (from != kNone && beginnings.size() < most_beginnings && beginnings[from].after(tokens[i]) == kNone) {
        beginnings[from].next.push_back({tokens[i], beginnings.size()});
        add_beginning(slot.cache, logits[i]);
      }
      const TokenId token = sampler.sample(logits[i], slot.coins());
      if (slot.sentence.take(token, slot.cache.size(), block) || begin(slot)) continue;
      if (i + 1 < active.size()) slot = std::move(active.back());
      active.pop_back();
    }
  }
  return result;
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
template std::vector<Generated> generate_samples(Decoder<float>&, const SamplerConfig&,
                                                 std::span<const TokenId>, std::size_t,
                                                 std::uint32_t, std::uint64_t, std::size_t,
                                                 std::size_t, std::size_t);
template std::vector<Generated> generate_samples(Decoder<double>&, const SamplerConfig&,
                                                 std::span<const TokenId>, std::size_t,
                                                 std::uint32_t, std::uint64_t, std::size_t,
                                                 std::size_t, std::size_t);
template std::string generate(Decoder<float>&, const GenerateConfig&, Random&);
template std::string generate(Decoder<double>&, const GenerateConfig&, Random&);

}  // namespace glassbox
