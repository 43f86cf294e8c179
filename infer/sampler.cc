#include "infer/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <type_traits>

#include "base/error.h"
#include "kernels/op.h"

namespace glassbox {

namespace {

using kernels::kDrawBlock;
using kernels::kLanes;

// The largest logit. Throws NumericError if one is not a number or all are minus infinity.
template <class T>
double largest_of(std::span<const T> logits) {
  const T largest = kernels::table<T>().max(logits.data(), logits.size());
  if (largest != largest) {
    const auto found = std::find_if(logits.begin(), logits.end(), [](T x) { return x != x; });
    throw NumericError(
        fmt::format("sampler: the logit of token {} is not a number", found - logits.begin()));
  }
  if (largest == -std::numeric_limits<T>::infinity()) {
    throw NumericError("sampler: no token has a logit above minus infinity");
  }
  return largest;
}

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

  bool keeps(T other, std::size_t other_id) const {
    return static_cast<int>(other > logit) |
           (static_cast<int>(other == logit) & static_cast<int>(other_id <= id));
  }
};

// The sum of the weights of logits from `least` on.
template <class T>
double sum_from(std::span<const T> logits, const float* weights, T least) {
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float weight =
          weights[i + lane];  // read in any case: then the compiler can take several at once
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
  double above =
      0;  // the sum from `high` on; as long as it is 0, `high` itself is between the ends
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

// exp of each, in place. The kernels' own: in vectors, and the same bits with every C library.
// REQUIRES: a multiple of kLanes numbers.
void exponentiate(std::vector<double>& numbers) {
  kernels::Args<double> x;
  x.out.data = numbers.data();
  x.out.rows = 1;
  x.out.cols = x.out.pitch = static_cast<std::uint32_t>(numbers.size());
  x.in[0] = x.out;
  kernels::table<double>()[kernels::Op::exp].forward(x);
}

}  // namespace

void SamplerConfig::validate() const {
  if (!(temperature >= 0 && temperature <= std::numeric_limits<double>::max())) {
    throw ConfigError(
        fmt::format("temperature: expected a finite number of at least 0, found {}; use 0 for the "
                    "most likely word",
                    temperature));
  }
  if (!(top_p >= 0 && top_p <= 1)) {
    throw ConfigError(fmt::format(
        "top_p: expected a number from 0 to 1, found {}; use 1 to switch it off", top_p));
  }
}

Sampler::Sampler(const SamplerConfig& config) : config_(config) { config_.validate(); }

// Weights are the probabilities before they are scaled: weight[i] = exp((logit[i] - largest) /
// temperature). Filters take tokens away and the one division comes last, so what is left sums to 1
// after every filter, and a filter that takes nothing away leaves every bit as it was. Tokens are
// ranked by their logits, not by their weights: a very high or very low temperature makes equal
// weights of unequal logits. Returns the sum of the weights.
template <class T>
double Sampler::filter(std::span<const T> logits) {
  const std::size_t size = logits.size();
  const double largest = largest_of(logits);
  ids_.clear();
  if (config_.temperature == 0) {
    ids_.push_back(static_cast<TokenId>(
        std::find(logits.begin(), logits.end(), static_cast<T>(largest)) - logits.begin()));
    weights_.assign(1, 1);
    return 1;
  }
  const bool cut_k = config_.top_k != 0 && config_.top_k < size;
  bool cut_p = config_.top_p < 1;
  std::optional<Cut<T>> cut;
  if (cut_k) {
    float_weights_.assign(size, 1);
    cut = cut_at(logits, static_cast<T>(largest), float_weights_.data(),
                 static_cast<double>(config_.top_k), order_);
  } else if constexpr (std::is_same_v<T, float>) {
    if (cut_p && exp_weights_quickly(logits, true)) {
      const double want = config_.top_p * total_, off = margin(size, 7 + size / kLanes);
      cut = cut_at(logits, max_, float_weights_.data(), want, order_);
      cut_p = (cut->before > 0 && want - cut->before < off) ||
              cut->sum - want < off;  // the doubles have to say
      if (cut_p) cut.reset();
    }
  }
  if (cut) {
    collect(
        size, [last = *cut, logits](std::size_t i) { return last.keeps(logits[i], i); }, ids_);
  } else {
    ids_.resize(size);
    std::iota(ids_.begin(), ids_.end(), TokenId{0});
  }

  weights_.assign(kernels::padded(ids_.size()), -INFINITY);  // pads to 0
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const double logit = logits[ids_[i]];
    if (largest < INFINITY)
      weights_[i] = (logit - largest) / config_.temperature;
    else if (logit == largest)  // the limit: infinite logits share everything
      weights_[i] = 0;
  }
  exponentiate(weights_);
  if (cut_p) {
    const double left = sum_of_weights();
    order_.resize(ids_.size());
    std::iota(order_.begin(), order_.end(), TokenId{0});
    // A heap gives the likeliest tokens one after another; the rest is never sorted.
    const auto later = [&](TokenId a, TokenId b) {
      const T x = logits[ids_[a]], y = logits[ids_[b]];
      return x < y || (x == y && a > b);
    };
    std::make_heap(order_.begin(), order_.end(), later);
    double kept = 0;
    while (!order_.empty()) {
      std::pop_heap(order_.begin(), order_.end(), later);
      kept += weights_[order_.back()];
      order_.pop_back();
      if (kept >= config_.top_p * left) break;
    }
    for (const TokenId i : order_) weights_[i] = 0;
  }
  return sum_of_weights();
}

// In kLanes partial sums, by ids, that are added in order: those who did not survive add 0.
double Sampler::sum_of_weights() const {
  double lanes[kLanes] = {};
  for (std::size_t i = 0; i < ids_.size(); ++i) lanes[ids_[i] % kLanes] += weights_[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <class T>
std::span<const double> Sampler::probabilities(std::span<const T> logits) {
  const double sum = filter(logits);
  probabilities_.assign(logits.size(), 0);
  for (std::size_t i = 0; i < ids_.size(); ++i) probabilities_[ids_[i]] = weights_[i] / sum;
  return probabilities_;
}

// Floats decide a draw unless the coin falls close to a border between two tokens. With x_i =
// (logit_i - largest) / temperature, w_i = exp(x_i) and S their sum, a float x_i is off by at most
// 3 * 2^-24 |x_i| (a subtraction, a rounded scale, a product), so w_i by that share of itself and 3
// units of its power; a sum of 64 rounds seven times. Over all tokens these are at most S * 2^-24
// (3 sum(w_i |x_i|) / S + 10), and sum(w_i |x_i|) / S <= ln V, because it and ln S add up to the
// entropy. A sum of some and S are both off by so much, hence 2^-23 (3 ln V + 3 + roundings) of S
// between borders in floats and in doubles; this is twice that.
double Sampler::margin(std::size_t size, std::size_t roundings) const {
  const int bits = static_cast<int>(std::bit_width(size));  // ln V < 0.7 bits
  return total_ * 0x1p-22 * (3 * 0.7 * bits + 3 + static_cast<double>(roundings));
}

// Temperatures beyond a thousand or below a thousandth, and infinite logits, are left to the
// doubles.
bool Sampler::exp_weights_quickly(std::span<const float> logits, bool keep_weights) {
  if (config_.temperature < 1e-3 || config_.temperature > 1e3) return false;
  max_ = kernels::table<float>().max(logits.data(), logits.size());
  if (!(std::abs(max_) <= std::numeric_limits<float>::max())) return false;
  sums_.resize((logits.size() + kDrawBlock - 1) / kDrawBlock);
  if (keep_weights) float_weights_.resize(sums_.size() * kDrawBlock);
  kernels::table<float>().exp_weights({.logits = logits.data(),
                                       .size = logits.size(),
                                       .max = max_,
                                       .scale = scale(),
                                       .weights = keep_weights ? float_weights_.data() : nullptr,
                                       .sums = sums_.data()});
  total_ = 0;
  for (const float sum : sums_) total_ += sum;
  return true;
}

// The weights of the one block that the coin falls into are computed once more.
std::optional<Draw> Sampler::draw_quickly(const DrawTable& table, double coin) const {
  const double place = coin * table.total_;
  double below = 0;
  std::size_t block = 0;
  for (; block < table.sums_.size() && below + table.sums_[block] <= place; ++block)
    below += table.sums_[block];
  if (block == table.sums_.size()) return std::nullopt;
  const std::size_t first = block * kDrawBlock;
  float weights[kDrawBlock], sum;
  kernels::table<float>().exp_weights({.logits = table.logits_.data() + first,
                                       .size = std::min(kDrawBlock, table.logits_.size() - first),
                                       .max = table.max_,
                                       .scale = scale(),
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
      if (place - below < table.margin_ || above - place < table.margin_) return std::nullopt;
      return Draw{static_cast<TokenId>(first + i), (below + table.margin_) / table.total_,
                  (above - table.margin_) / table.total_};
    }
    below = above;
  }
  return std::nullopt;
}

float Sampler::scale() const {
  return static_cast<float>(std::numbers::log2e / config_.temperature);
}

template <class T>
DrawTable Sampler::read_exactly(std::span<const T> logits) {
  const double sum = filter(logits);
  shares_.clear();
  double to = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i)
    if (weights_[i] / sum > 0) shares_.push_back({to += weights_[i] / sum, ids_[i]});
  DrawTable table;
  table.shares_ = shares_;
  return table;
}

template <class T>
DrawTable Sampler::read(std::span<const T> logits) {
  if constexpr (std::is_same_v<T, float>) {
    const bool filters = config_.top_p < 1 || (config_.top_k != 0 && config_.top_k < logits.size());
    if (!filters && exp_weights_quickly(logits, false)) {
      DrawTable table;
      table.logits_ = logits;
      table.sums_ = sums_;
      table.max_ = max_;
      table.total_ = total_;
      table.margin_ = margin(logits.size(), 7);
      return table;
    }
  }
  return read_exactly(logits);
}

Draw Sampler::draw(const DrawTable& table, double coin) {
  if (!table.logits_.empty()) {
    const auto quick = draw_quickly(table, coin);
    return quick ? *quick : draw(read_exactly(table.logits_), coin);
  }
  // Rounding may leave the last sum below the coin: then the last that can be drawn.
  const auto first = table.shares_.begin();
  const auto drawn =
      std::upper_bound(first, table.shares_.end() - 1, coin,
                       [](double c, const DrawTable::Share& share) { return c < share.to; });
  return {drawn->token, drawn == first ? 0 : drawn[-1].to, drawn->to};
}

template std::span<const double> Sampler::probabilities(std::span<const float>);
template std::span<const double> Sampler::probabilities(std::span<const double>);
template DrawTable Sampler::read(std::span<const float>);
template DrawTable Sampler::read(std::span<const double>);

}  // namespace glassbox
