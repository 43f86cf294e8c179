// The sampler's work in floats, a fraction of that in doubles, wherever floats are sure to find
// what the list of filters (sampler.h) finds in doubles.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "data/tokenizer.h"

namespace glassbox {

// A token, and the uniform numbers that draw it: the one that did, and every other in [from, to).
struct DrawnToken {
  TokenId token;
  double from, to;
};

// What draws from the same logits need of them, made once for any number of draws. A view.
struct DrawTable {
  struct Share {
    double to;  // the sum of all probabilities up to and with the token's
    TokenId token;
  };
  // Either the logits, and the sums of the weights of kDrawBlock of them each, in floats;
  std::span<const float> sums, logits;
  float max = 0;
  float scale = 0;  // from a logit to the exponent of 2 of its weight
  double total = 0, margin = 0;
  // or all tokens that may be drawn, rising.
  std::span<const Share> shares;

  // The same of copies that `keep` makes: of a std::span of whatever it returns one that lasts.
  template <class Keep>
  DrawTable kept(Keep keep) const {
    DrawTable result = *this;
    result.sums = keep(sums);
    result.logits = keep(logits);
    result.shares = keep(shares);
    return result;
  }
};

class FastDraw {
 public:
  explicit FastDraw(double temperature) : temperature_(temperature) {}

  // For draws from all tokens; none where doubles have to be read. The table lasts as long as the
  // logits, and until the next call that is not a draw.
  std::optional<DrawTable> read(std::span<const float> logits);
  std::optional<DrawTable> read(std::span<const double>) { return std::nullopt; }
  // None when u is so close to a border between two tokens that the doubles have to say.
  static std::optional<DrawnToken> draw(const DrawTable& table, double u);

  // The tokens that top-k leaves of all, rising: ranks do not depend on rounding. REQUIRES: no NaN;
  // `largest` is the largest logit; 0 < k < logits.size().
  template <class T>
  void top_k(std::span<const T> logits, T largest, std::size_t k, std::vector<TokenId>& ids);
  // Those that top-p leaves of all; false, and `ids` may hold anything, when the doubles have to
  // say. REQUIRES: no NaN.
  bool top_p(std::span<const float> logits, double p, std::vector<TokenId>& ids);
  bool top_p(std::span<const double>, double, std::vector<TokenId>&) { return false; }

 private:
  bool exp_weights(std::span<const float> logits, bool keep_weights);
  double margin(std::size_t size, std::size_t roundings) const;

  double temperature_;
  // Of exp_weights().
  float max_ = 0, scale_ = 0;
  double total_ = 0;
  std::vector<float> sums_, weights_;
  std::vector<TokenId> between_;  // scratch
};

}  // namespace glassbox
