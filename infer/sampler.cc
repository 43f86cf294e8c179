#include "infer/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
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
  const T largest = kernels::table<T>().highest(logits.data(), logits.size());
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

// The sum, in kLanes partial sums that are added in order. REQUIRES: a multiple of kLanes numbers.
double sum_of(const std::vector<double>& numbers) {
  double lanes[kLanes] = {};
  for (std::size_t i = 0; i < numbers.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += numbers[i + lane];
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
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
// temperature). Filters set weights to 0 and the one division comes last, so what is left sums to 1
// after every filter, and a filter that takes nothing away leaves every bit as it was. Tokens are
// ranked by their logits, not by their weights: a very high or very low temperature makes equal
// weights of unequal logits.
template <class T>
std::span<const double> Sampler::probabilities(std::span<const T> logits) {
  const std::size_t size = logits.size();
  const double largest = largest_of(logits);
  std::vector<double>& weight = probabilities_;
  weight.resize(kernels::padded(size));
  std::fill(weight.begin() + static_cast<std::ptrdiff_t>(size), weight.end(), -INFINITY);  // to 0
  const std::span<const double> result(weight.data(), size);

  if (config_.temperature == 0) {
    std::fill(weight.begin(), weight.end(), 0.0);
    weight[static_cast<std::size_t>(
        std::find(logits.begin(), logits.end(), static_cast<T>(largest)) - logits.begin())] = 1;
    return result;
  }
  if (largest == INFINITY) {  // the limit: infinite logits share everything
    for (std::size_t i = 0; i < size; ++i) weight[i] = logits[i] == largest ? 0 : -INFINITY;
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      weight[i] = (static_cast<double>(logits[i]) - largest) / config_.temperature;
    }
  }
  exponentiate(weight);

  const bool cut_k = config_.top_k != 0 && config_.top_k < size;
  const bool cut_p = config_.top_p < 1;
  if (cut_k || cut_p) {
    order_.resize(size);
    for (std::size_t i = 0; i < size; ++i) order_[i] = static_cast<TokenId>(i);
    const auto likelier = [&](TokenId a, TokenId b) {
      return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
    };
    if (cut_k) {
      const auto end = order_.begin() + static_cast<std::ptrdiff_t>(config_.top_k);
      std::nth_element(order_.begin(), end, order_.end(), likelier);
      std::for_each(end, order_.end(), [&](TokenId id) { weight[id] = 0; });
      order_.erase(end, order_.end());
    }
    if (cut_p) {
      const double left = sum_of(weight);
      // A heap gives the likeliest tokens one after another; the rest is never sorted.
      const auto later = [&](TokenId a, TokenId b) { return likelier(b, a); };
      std::make_heap(order_.begin(), order_.end(), later);
      double kept = 0;
      while (!order_.empty()) {
        std::pop_heap(order_.begin(), order_.end(), later);
        kept += weight[order_.back()];
        order_.pop_back();
        if (kept >= config_.top_p * left) break;
      }
      for (const TokenId id : order_) weight[id] = 0;
    }
  }

  const double sum = sum_of(weight);
  for (double& number : weight) number /= sum;
  return result;
}

// Floats decide a draw unless the coin falls close to a border between two tokens. With x_i = (logit_i -
// largest) / temperature, w_i = exp(x_i) and S their sum, a float x_i is off by at most 3 * 2^-24 |x_i| (a
// subtraction, a rounded scale, a product), so w_i by that share of itself and 3 units of its power; a sum of 64
// rounds seven times. Over all tokens these are at most S * 2^-24 (3 sum(w_i |x_i|) / S + 10), and
// sum(w_i |x_i|) / S <= ln V, because it and ln S add up to the entropy. The running sum and S are both off by
// so much, hence 2^-23 (3 ln V + 10) of S between borders in floats and in doubles; `margin_` is twice that.
// Temperatures beyond a thousand or below a thousandth, and infinite logits, are left to the doubles.
std::optional<DrawTable> Sampler::read_quickly(std::span<const float> logits) {
  const bool cut_k = config_.top_k != 0 && config_.top_k < logits.size();
  if (cut_k || config_.top_p < 1 || config_.temperature < 1e-3 || config_.temperature > 1e3)
    return std::nullopt;
  const float largest = kernels::table<float>().highest(logits.data(), logits.size());
  if (!(std::abs(largest) <= std::numeric_limits<float>::max())) return std::nullopt;
  sums_.resize((logits.size() + kDrawBlock - 1) / kDrawBlock);
  kernels::table<float>().weigh({.logits = logits.data(), .size = logits.size(), .highest = largest, .scale = scale(),
                                 .weights = nullptr, .sums = sums_.data()});
  DrawTable table;
  table.logits_ = logits;
  table.sums_ = sums_;
  table.highest_ = largest;
  for (const float sum : sums_) table.total_ += sum;
  const int bits = static_cast<int>(std::bit_width(logits.size()));  // ln V < 0.7 bits
  table.margin_ = table.total_ * 0x1p-22 * (3 * 0.7 * bits + 10);
  return table;
}

// The weights of the one block that the coin falls into are computed once more.
std::optional<Draw> Sampler::draw_quickly(const DrawTable& table, double coin) const {
  const double place = coin * table.total_;
  double below = 0;
  std::size_t block = 0;
  for (; block < table.sums_.size() && below + table.sums_[block] <= place; ++block) below += table.sums_[block];
  if (block == table.sums_.size()) return std::nullopt;
  const std::size_t first = block * kDrawBlock;
  float weights[kDrawBlock], sum;
  kernels::table<float>().weigh({.logits = table.logits_.data() + first,
                                 .size = std::min(kDrawBlock, table.logits_.size() - first),
                                 .highest = table.highest_, .scale = scale(), .weights = weights, .sums = &sum});
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

float Sampler::scale() const { return static_cast<float>(std::numbers::log2e / config_.temperature); }

template <class T>
DrawTable Sampler::read_exactly(std::span<const T> logits) {
  shares_.clear();
  double sum = 0;
  const std::span<const double> p = probabilities(logits);
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0) shares_.push_back({sum += p[i], static_cast<TokenId>(i)});
  DrawTable table;
  table.shares_ = shares_;
  return table;
}

template <class T>
DrawTable Sampler::read(std::span<const T> logits) {
  if constexpr (std::is_same_v<T, float>) {
    if (const auto table = read_quickly(logits)) return *table;
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
  const auto drawn = std::upper_bound(first, table.shares_.end() - 1, coin,
                                      [](double c, const DrawTable::Share& share) { return c < share.to; });
  return {drawn->token, drawn == first ? 0 : drawn[-1].to, drawn->to};
}

template std::span<const double> Sampler::probabilities(std::span<const float>);
template std::span<const double> Sampler::probabilities(std::span<const double>);
template DrawTable Sampler::read(std::span<const float>);
template DrawTable Sampler::read(std::span<const double>);

}  // namespace glassbox
