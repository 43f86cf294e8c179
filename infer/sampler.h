// From logits to a token: temperature, top-k, top-p, then one draw. The coin is an argument.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "kernels/aligned.h"

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
  TokenId sample(std::span<const T> logits, double coin) {
    read(logits);
    return draw(coin);
  }
  // The two halves of sample(): many draws from the same logits read them once. The logits must outlive
  // the draws.
  template <class T>
  void read(std::span<const T> logits);
  // REQUIRES: read().
  TokenId draw(double coin);

  const SamplerConfig& config() const { return config_; }

 private:
  // The draw in float arithmetic, a fraction of the work, wherever that is sure to find the token which the
  // doubles find. See the .cc.
  bool read_quickly(std::span<const float> logits);
  std::optional<TokenId> draw_quickly(double coin) const;

  SamplerConfig config_;
  std::size_t size_ = 0;  // of probabilities_, without pads
  std::vector<double> probabilities_;
  std::vector<TokenId> order_;
  bool quick_ = false;  // weights_ and sums_ hold what read() was given
  bool exact_ = false;  // probabilities_ hold it
  std::span<const float> logits_;
  kernels::AlignedVector<float> weights_, sums_;  // a sum for each kDrawBlock weights
  double total_ = 0, margin_ = 0;
};

}  // namespace glassbox
