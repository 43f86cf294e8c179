// From logits to a token: temperature, top-k, top-p, then one draw. The coin is an argument.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/tokenizer.h"

namespace glassbox {

struct SamplerConfig {
  double temperature = 0.8;  // from 0; 0 is greedy: the most likely token, the lowest id among equals
  std::size_t top_k = 0;     // exactly k survive, ties go to the lowest ids; 0 or at least V is off
  double top_p = 1;          // smallest set of most likely tokens whose probabilities sum to at least p;
                             // never empty; 1 is off
  // Throws ConfigError naming the setting, its range and what was given.
  void validate() const;
};

class Sampler {
 public:
  // Throws ConfigError.
  explicit Sampler(const SamplerConfig& config);

  // The probabilities that remain after every filter, in id order, summing to 1; a filtered token's is
  // exactly 0. Each filter sees the probabilities of what the filters before it left, scaled to sum 1; a
  // filter that removes nothing changes no number. At temperature 0 one token has probability 1.
  // Valid until the next call. The arithmetic is double whatever T is.
  template <class T>
  std::span<const double> probabilities(std::span<const T> logits);

  // Draws from probabilities(logits) with a coin in [0, 1), walking the ids upward. A token of
  // probability 0 is never drawn.
  template <class T>
  TokenId sample(std::span<const T> logits, double coin);

  const SamplerConfig& config() const { return config_; }

 private:
  SamplerConfig config_;
  std::vector<double> probabilities_;
  std::vector<TokenId> order_;
};

}  // namespace glassbox
