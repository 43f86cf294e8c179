#include "infer/generate.h"

#include <fmt/core.h>

#include "base/error.h"

namespace glassbox {

Coins::Coins(std::uint32_t seed, std::uint64_t index)
    : first_(index == 0), random_(seed), stream_(seed, index) {}

double Coins::operator()() { return first_ ? random_.uniform() : stream_.uniform(); }

template <class T>
Generated generate_tokens(Decoder<T>& model, Sampler& sampler, std::span<const TokenId> prompt,
                          std::size_t max_tokens, const std::function<double()>& coin) {
  const std::size_t block = model.config().block_size;
  if (prompt.size() + 1 > block) {
    throw ConfigError(fmt::format(
        "prompt: expected at most {} words, so that the model's block of {} has room for one more, "
        "found {}; shorten it",
        block - 1, block, prompt.size()));
  }
  const TokenId bos = model.tokenizer().bos();
  KvCache<T> cache(model.config());
  std::span<const T> logits = model.step(bos, cache);
  for (const TokenId token : prompt) logits = model.step(token, cache);

  Generated result{{prompt.begin(), prompt.end()}, false};
  for (;;) {
    const TokenId token = sampler.sample(logits, coin());
    if (token == bos) {
      result.stopped = true;
      return result;
    }
    result.tokens.push_back(token);
    if (cache.full() || result.tokens.size() - prompt.size() == max_tokens) return result;
    logits = model.step(token, cache);
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
template std::string generate(Decoder<float>&, const GenerateConfig&, Random&);
template std::string generate(Decoder<double>&, const GenerateConfig&, Random&);

}  // namespace glassbox
