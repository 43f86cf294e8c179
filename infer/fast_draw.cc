#include "infer/fast_draw.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/op.h"
#include "kernels/sampling.h"

namespace glassbox {

namespace {

using kernels::kDrawBlock;
using kernels::kLanes;

// The ids below `size` that `keep` is true of, rising. No branch: nobody could predict it.
template <class Keep>
void collect(std::size_t size, Keep keep, std::vector<TokenId>& ids) {
  ids.resize(size);
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    ids[count] = static_cast<TokenId>(i);
    count += static_cast<std::size_t>(keep(i));
  }
  ids.resize(count);
}

// The last of the smallest set of likeliest tokens whose weights reach a sum.
template <class T>
struct Cut {
  T logit;
  TokenId id;
  double before, sum;  // of the set's weights, without the last and with it

  void collect_kept(std::span<const T> logits, std::vector<TokenId>& ids) const {
    collect(
        logits.size(),
        [last = *this, logits](std::size_t i) {
          return static_cast<int>(logits[i] > last.logit) |
                 (static_cast<int>(logits[i] == last.logit) & static_cast<int>(i <= last.id));
        },
        ids);
  }
};

// The sum of the weights of logits from `least` on.
template <class T>
double sum_from(std::span<const T> logits, const float* weights, T least) {
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      // Read in any case: then the compiler can take several at once.
      const float weight = weights[i + lane];
      lanes[lane] += logits[i + lane] >= least ? weight : 0;
    }
  for (; i < logits.size(); ++i) lanes[i % kLanes] += logits[i] >= least ? weights[i] : 0;
  double sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

// Steps down from the largest logit, each step twice the last, until the weights there reach
// `want`; halves the step until few logits are left between its ends, and sorts those. Of equal
// logits the lowest ids are the likeliest. REQUIRES: no NaN. `largest` has a weight above 0. If
// rounding keeps all from `want`, the last is the last.
template <class T>
Cut<T> cut_at(std::span<const T> logits, T largest, const float* weights, double want,
              std::vector<TokenId>& between) {
  constexpr int kSteps = 10, kHalvings = 8;
  T low = largest, high = largest;
  // The sum from `high` on; as long as it is 0, `high` itself is between the ends.
  double above = 0;
  bool reached = false;
  for (int i = 0; i < kSteps && !reached; ++i) {
    low = largest - static_cast<T>(1 << i);
    const double sum = sum_from(logits, weights, low);
    reached = sum >= want;
    if (!reached) high = low, above = sum;
  }
  for (int i = 0; i < kHalvings && reached; ++i) {
    const T middle = low + (high - low) / 2;
    if (!(low < middle && middle < high)) break;
    const double sum = sum_from(logits, weights, middle);
    if (sum >= want)
      low = middle;
    else
      high = middle, above = sum;
  }
  if (!reached) low = -std::numeric_limits<T>::infinity();
  const int open = above == 0;
  collect(
      logits.size(),
      [&](std::size_t i) {
        return static_cast<int>(logits[i] >= low) & (static_cast<int>(logits[i] < high) | open);
      },
      between);
  std::sort(between.begin(), between.end(), [&](TokenId a, TokenId b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  });
  Cut<T> cut{high, static_cast<TokenId>(logits.size()), above, above};
  for (const TokenId id : between) {
    cut = {logits[id], id, cut.sum, cut.sum + weights[id]};
    if (cut.sum >= want) break;
  }
  return cut;
}

}  // namespace

// Floats decide a draw unless the uniform number falls close to a border between two tokens. With
// x_i = (logit_i - largest) / temperature, w_i = exp(x_i) and S their sum, a float x_i is off by at
// most 3 * 2^-24 |x_i| (a subtraction, a rounded scale, a product), so w_i by that share of itself
// and 3 units of its power; a sum of 64 rounds seven times. Over all tokens these are at most
// S * 2^-24 (3 sum(w_i |x_i|) / S + 10), and sum(w_i |x_i|) / S <= ln V, because it and ln S add up
// to the entropy. A sum of some and S are both off by so much, hence 2^-23 (3 ln V + 3 + roundings)
// of S between borders in floats and in doubles; this is twice that.
double FastDraw::margin(std::size_t size, std::size_t roundings) const {
  const int bits = static_cast<int>(std::bit_width(size));  // ln V < 0.7 bits
  return total_ * 0x1p-22 * (3 * 0.7 * bits + 3 + static_cast<double>(roundings));
}

// Temperatures beyond a thousand or below a thousandth, and infinite logits, are left to the
// doubles.
bool FastDraw::exp_weights(std::span<const float> logits, bool keep_weights) {
  if (temperature_ < 1e-3 || temperature_ > 1e3) return false;
  max_ = kernels::table<float>().max(logits.data(), logits.size());
  if (!(std::abs(max_) <= std::numeric_limits<float>::max())) return false;
  scale_ = static_cast<float>(std::numbers::log2e / temperature_);
  sums_.resize((logits.size() + kDrawBlock - 1) / kDrawBlock);
  if (keep_weights) weights_.resize(sums_.size() * kDrawBlock);
  kernels::table<float>().exp_weights({.logits = logits.data(),
                                       .size = logits.size(),
                                       .max = max_,
                                       .scale = scale_,
                                       .weights = keep_weights ? weights_.data() : nullptr,
                                       .sums = sums_.data()});
  total_ = 0;
  for (const float sum : sums_) total_ += sum;
  return true;
}

template <class T>
void FastDraw::top_k(std::span<const T> logits, T largest, std::size_t k,
                     std::vector<TokenId>& ids) {
  weights_.assign(logits.size(), 1);
  cut_at(logits, largest, weights_.data(), static_cast<double>(k), between_)
      .collect_kept(logits, ids);
}

bool FastDraw::top_p(std::span<const float> logits, double p, std::vector<TokenId>& ids) {
  if (!exp_weights(logits, true)) return false;
  const double want = p * total_, off = margin(logits.size(), 7 + logits.size() / kLanes);
  const Cut<float> cut = cut_at(logits, max_, weights_.data(), want, between_);
  if ((cut.before > 0 && want - cut.before < off) || cut.sum - want < off) return false;
  cut.collect_kept(logits, ids);
  return true;
}

std::optional<DrawTable> FastDraw::read(std::span<const float> logits) {
  if (!exp_weights(logits, false)) return std::nullopt;
  return DrawTable{.sums = sums_,
                   .logits = logits,
                   .max = max_,
                   .scale = scale_,
                   .total = total_,
                   .margin = margin(logits.size(), 7),
                   .shares = {}};
}

// Finds the block of tokens that u falls into by the blocks' sums, and computes its weights once
// more.
std::optional<DrawnToken> FastDraw::draw(const DrawTable& table, double u) {
  const double place = u * table.total;
  double below = 0;
  std::size_t block = 0;
  for (; block < table.sums.size() && below + table.sums[block] <= place; ++block)
    below += table.sums[block];
  if (block == table.sums.size()) return std::nullopt;
  const std::size_t first = block * kDrawBlock;
  float weights[kDrawBlock], sum;
  kernels::table<float>().exp_weights({.logits = table.logits.data() + first,
                                       .size = std::min(kDrawBlock, table.logits.size() - first),
                                       .max = table.max,
                                       .scale = table.scale,
                                       .weights = weights,
                                       .sums = &sum});
  std::size_t i = 0;
  for (; i < kDrawBlock; i += kLanes) {  // sixteen at a time, in four sums side by side
    float part[4] = {};
    for (std::size_t j = 0; j < kLanes; ++j) part[j % 4] += weights[i + j];
    const double next = below + ((part[0] + part[1]) + (part[2] + part[3]));
    if (next > place) break;
    below = next;
  }
  for (; i < kDrawBlock; ++i) {
    const double above = below + weights[i];
    if (above > place) {
      if (place - below < table.margin || above - place < table.margin) return std::nullopt;
      return DrawnToken{static_cast<TokenId>(first + i), (below + table.margin) / table.total,
                        (above - table.margin) / table.total};
    }
    below = above;
  }
  return std::nullopt;
}

template void FastDraw::top_k(std::span<const float>, float, std::size_t, std::vector<TokenId>&);
template void FastDraw::top_k(std::span<const double>, double, std::size_t, std::vector<TokenId>&);

}  // namespace glassbox
