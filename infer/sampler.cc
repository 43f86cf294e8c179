#include "infer/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/op.h"

namespace glassbox {

namespace {

using kernels::kLanes;

// The largest logit. Throws NumericError if one is not a number or all are minus infinity.
template <class T>
double largest_of(std::span<const T> logits) {
  T lanes[kLanes];  // a largest of each sixteenth: vectors for the compiler
  std::fill_n(lanes, kLanes, -std::numeric_limits<T>::infinity());
  bool numbers = true;
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    int odd = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const T logit = logits[i + lane];
      lanes[lane] = logit > lanes[lane] ? logit : lanes[lane];
      odd |= logit != logit;
    }
    numbers = numbers && odd == 0;
  }
  for (; i < logits.size(); ++i) {
    lanes[0] = logits[i] > lanes[0] ? logits[i] : lanes[0];
    numbers = numbers && logits[i] == logits[i];
  }
  if (!numbers) {
    const auto found = std::find_if(logits.begin(), logits.end(), [](T x) { return x != x; });
    throw NumericError(
        fmt::format("sampler: the logit of token {} is not a number", found - logits.begin()));
  }
  const T largest = *std::max_element(lanes, lanes + kLanes);
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

template <class T>
TokenId Sampler::sample(std::span<const T> logits, double coin) {
  const std::span<const double> left = probabilities(logits);
  double sum = 0;
  std::size_t last =
      0;  // the highest id that can be drawn: rounding may leave the sum below the coin
  for (std::size_t i = 0; i < left.size(); ++i) {
    sum += left[i];
    if (coin < sum) return static_cast<TokenId>(i);
    if (left[i] > 0) last = i;
  }
  return static_cast<TokenId>(last);
}

template std::span<const double> Sampler::probabilities(std::span<const float>);
template std::span<const double> Sampler::probabilities(std::span<const double>);
template TokenId Sampler::sample(std::span<const float>, double);
template TokenId Sampler::sample(std::span<const double>, double);

}  // namespace glassbox
