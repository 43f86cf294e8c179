// From logits to a token: a list of filters leaves some tokens, then one uniform number draws.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "infer/fast_draw.h"

namespace glassbox {

struct SamplerConfig {
  // From 0; 0 is greedy: the most likely token, the lowest id among equals.
  double temperature = 0.8;
  // Exactly k tokens are left, and of equal ones the lowest ids; 0 or at least V is off.
  std::size_t top_k = 0;
  // The smallest set of most likely tokens whose probabilities sum to at least p is left, never
  // none; 1 is off.
  double top_p = 1;
  // Tokens at least so many times as likely as the likeliest are left; 0 is off.
  double min_p = 0;
  // Above 0. The logits of tokens that the sentence has are divided by it where they are positive
  // and multiplied by it elsewhere: above 1 a repetition is less likely; 1 is off. Only the last n
  // tokens count, and all with n = 0.
  double repetition_penalty = 1;
  std::size_t repeat_last_n = 0;

  // Throws ConfigError naming the setting, its range and what was given.
  void validate() const;
};

// The tokens that may still be drawn.
struct Candidates {
  std::vector<TokenId> ids;  // rising
  std::vector<double> logits;
  // A weight is the probability before it is scaled: exp((logit - largest) / temperature). Filters
  // take tokens away and the one division comes last, so a filter that takes nothing away leaves
  // every bit as it was.
  std::vector<double> weights;
  std::span<const TokenId> before;  // the sentence so far, with its prompt and without BOS

  // The sum of the weights.
  double total() const;
};

// One step from logits to a distribution. Each filter sees the probabilities of what the filters
// before it left, scaled to sum 1. Tokens are ranked by their logits, not by their weights: a very
// high or very low temperature makes equal weights of unequal logits.
struct Filter {
  const char* name;
  bool (*on)(const SamplerConfig&, std::size_t candidates);
  void (*apply)(const SamplerConfig&, Candidates&);
};

// All filters in the order in which they are applied. This list is the definition of what is drawn;
// what is quicker (fast_draw.h) is tested against it.
std::span<const Filter> filters();
// Applies those that are on. `candidates` comes with all but its weights.
void apply_filters(const SamplerConfig& config, Candidates& candidates);

class Sampler {
 public:
  // Throws ConfigError.
  explicit Sampler(const SamplerConfig& config);

  // The probabilities that remain after every filter, in id order, summing to 1; a filtered token's
  // is exactly 0. `before` is the sentence so far, which a repetition penalty looks at. Valid until
  // the next call. The arithmetic is double whatever T is. Throws NumericError for a logit that is
  // not a number, or if all are minus infinity.
  template <class T>
  std::span<const double> probabilities(std::span<const T> logits,
                                        std::span<const TokenId> before = {});

  // Draws from probabilities(logits) with a uniform number u in [0, 1), walking the ids upward. A
  // token of probability 0 is never drawn.
  template <class T>
  TokenId sample(std::span<const T> logits, double u, std::span<const TokenId> before = {}) {
    return draw(read(logits, before), u).token;
  }
  // The two halves of sample(): many draws from the same logits read them once. The table lasts as
  // long as the logits do, and until the next call that is not a draw from it.
  template <class T>
  DrawTable read(std::span<const T> logits, std::span<const TokenId> before = {});
  // REQUIRES: a table that a sampler with the same config made, or kept() of it.
  DrawnToken draw(const DrawTable& table, double u);

  const SamplerConfig& config() const { return config_; }

 private:
  // Leaves in candidates_ what the filters leave of all tokens.
  template <class T>
  void filter(std::span<const T> logits, std::span<const TokenId> before);
  template <class T>
  DrawTable read_exactly(std::span<const T> logits, std::span<const TokenId> before);

  SamplerConfig config_;
  FastDraw fast_;
  Candidates candidates_;
  std::vector<double> probabilities_;
  std::vector<DrawTable::Share> shares_;
};

}  // namespace glassbox
