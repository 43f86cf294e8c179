// From logits to a token: temperature, top-k, top-p, then one draw. The coin is an argument.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "data/tokenizer.h"

namespace glassbox {

struct SamplerConfig {
  double temperature =
      0.8;                // from 0; 0 is greedy: the most likely token, the lowest id among equals
  std::size_t top_k = 0;  // exactly k survive, ties go to the lowest ids; 0 or at least V is off
  double top_p = 1;  // smallest set of most likely tokens whose probabilities sum to at least p;
                     // never empty; 1 is off
  // Throws ConfigError naming the setting, its range and what was given.
  void validate() const;
};

// A token and its coins: that which drew it, and every other in [from, to).
struct Draw {
  TokenId token;
  double from, to;
};

// What draws from the same logits need of them, made once for any number of draws. A view.
class DrawTable {
 public:
  // The same of copies that `keep` makes: of a std::span of whatever it returns one that lasts.
  template <class Keep>
  DrawTable kept(Keep keep) const {
    DrawTable result = *this;
    result.sums_ = keep(sums_);
    result.logits_ = keep(logits_);
    result.shares_ = keep(shares_);
    return result;
  }
  const void* read_first() const { return sums_.data(); }  // where a draw of floats begins

 private:
  friend class Sampler;
  struct Share {
    double to;  // the sum of all probabilities up to and with the token's
    TokenId token;
  };
  // Either the logits, and the sums of the weights of kDrawBlock of them each, in floats;
  std::span<const float> sums_, logits_;
  float max_ = 0;
  double total_ = 0, margin_ = 0;
  // or all tokens that may be drawn, rising.
  std::span<const Share> shares_;
};

class Sampler {
 public:
  // Throws ConfigError.
  explicit Sampler(const SamplerConfig& config);

  // The probabilities that remain after every filter, in id order, summing to 1; a filtered token's
  // is exactly 0. Each filter sees the probabilities of what the filters before it left, scaled to
  // sum 1; a filter that removes nothing changes no number. At temperature 0 one token has
  // probability 1. Valid until the next call. The arithmetic is double whatever T is.
  template <class T>
  std::span<const double> probabilities(std::span<const T> logits);

  // Draws from probabilities(logits) with a coin in [0, 1), walking the ids upward. A token of
  // probability 0 is never drawn.
  template <class T>
  TokenId sample(std::span<const T> logits, double coin) {
    return draw(read(logits), coin).token;
  }
  // The two halves of sample(): many draws from the same logits read them once. The table lasts as
  // long as the logits do, and until the next call that is not a draw from it.
  template <class T>
  DrawTable read(std::span<const T> logits);
  // REQUIRES: a table that a sampler with the same config made, or kept() of it.
  Draw draw(const DrawTable& table, double coin);

  const SamplerConfig& config() const { return config_; }

 private:
  // What the filters leave: ids_, rising, and their weights_; returns the sum of those.
  template <class T>
  double filter(std::span<const T> logits);
  double sum_of_weights() const;
  // Arithmetic in floats, a fraction of the work, wherever that is sure to find what the doubles
  // find. See the .cc.
  bool exp_weights_quickly(std::span<const float> logits, bool keep_weights);
  double margin(std::size_t size, std::size_t roundings) const;
  std::optional<Draw> draw_quickly(const DrawTable& table, double coin) const;
  float scale() const;  // of a logit, to the exponent of 2 of its weight
  template <class T>
  DrawTable read_exactly(std::span<const T> logits);

  SamplerConfig config_;
  std::vector<TokenId> ids_;
  std::vector<double> weights_, probabilities_;
  std::vector<TokenId> order_;  // scratch
  // Of exp_weights_quickly().
  float max_ = 0;
  double total_ = 0;
  std::vector<float> sums_, float_weights_;
  std::vector<DrawTable::Share> shares_;  // of read_exactly()
};

}  // namespace glassbox
