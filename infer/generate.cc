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
                                        std::size_t slots) {
  KvCache<T> prefix(model.config());
  const std::span<const T> row = read_prompt(model, prompt, prefix);
  const std::vector<T> first_logits(row.begin(), row.end());
  Sampler first_draw(config), sampler(config);
  first_draw.read(std::span<const T>(first_logits));

  struct Slot {
    KvCache<T> cache;
    Coins coins;
    Sentence sentence;
  };
  std::vector<Generated> result(count);
  std::size_t begun = 0;
  const std::size_t block = model.config().block_size;
  // Begins the next sentence in a slot, and those after it for as long as they end with their first draw;
  // false if none is left.
  const auto begin = [&](Slot& slot) {
    while (begun < count) {
      Generated& out = result[begun];
      out.tokens.reserve(block);
      out.tokens.assign(prompt.begin(), prompt.end());
      slot.coins = Coins(seed, first + begun);
      slot.sentence = {&out, prompt.size(), max_tokens, model.tokenizer().bos()};
      ++begun;
      if (slot.sentence.take(first_draw.draw(slot.coins()), prefix.size(), block)) {
        slot.cache.copy_from(prefix);
        return true;
      }
    }
    return false;
  };

  std::vector<Slot> active;
  std::vector<TokenId> tokens;
  std::vector<KvCache<T>*> caches;
  active.reserve(slots);
  while (active.size() < slots) {
    active.push_back({KvCache<T>(model.config()), Coins(seed, 0), {}});
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
                                                 std::size_t);
template std::vector<Generated> generate_samples(Decoder<double>&, const SamplerConfig&,
                                                 std::span<const TokenId>, std::size_t,
                                                 std::uint32_t, std::uint64_t, std::size_t,
                                                 std::size_t);
template std::string generate(Decoder<float>&, const GenerateConfig&, Random&);
template std::string generate(Decoder<double>&, const GenerateConfig&, Random&);

}  // namespace glassbox
