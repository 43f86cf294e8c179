#include "infer/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"

using namespace glassbox;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> filtered(const SamplerConfig& config, const std::vector<double>& logits,
                             const std::vector<TokenId>& before = {}) {
  Sampler sampler(config);
  const auto left = sampler.probabilities(std::span<const double>(logits), before);
  return {left.begin(), left.end()};
}

std::vector<double> logs(std::vector<double> probabilities) {
  for (double& p : probabilities) p = std::log(p);
  return probabilities;
}

std::size_t survivors(const std::vector<double>& probabilities) {
  return static_cast<std::size_t>(
      std::count_if(probabilities.begin(), probabilities.end(), [](double p) { return p > 0; }));
}

TokenId drawn(const SamplerConfig& config, const std::vector<double>& logits, double u) {
  Sampler sampler(config);
  return sampler.sample(std::span<const double>(logits), u);
}

// The filters as one would explain them: probabilities in a list, sorted as a whole, scaled to sum
// 1 after each filter.
std::vector<double> plain(const SamplerConfig& config, std::vector<double> logits,
                          const std::vector<TokenId>& before) {
  for (TokenId id = 0; id < logits.size(); ++id) {
    bool repeated = false;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (config.repeat_last_n == 0 || before.size() - i <= config.repeat_last_n)
        repeated = repeated || before[i] == id;
    if (repeated && logits[id] > 0) logits[id] /= config.repetition_penalty;
    if (repeated && logits[id] < 0) logits[id] *= config.repetition_penalty;
  }
  std::vector<double> p(logits.size());
  const double largest = *std::max_element(logits.begin(), logits.end());
  const auto scale = [&p] {
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
  };
  for (std::size_t i = 0; i < p.size(); ++i)
    p[i] = std::exp((logits[i] - largest) / config.temperature);
  scale();
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  if (config.top_k > 0) {
    for (std::size_t rank = config.top_k; rank < order.size(); ++rank) p[order[rank]] = 0;
    scale();
  }
  double sum = 0;
  for (const std::size_t id : order) {
    const bool reached = sum > config.top_p - 1e-12 && sum > 0;
    sum += p[id];
    if (reached) p[id] = 0;
  }
  scale();
  for (double& x : p)
    if (x < config.min_p * p[order[0]] - 1e-12) x = 0;
  scale();
  return p;
}

}  // namespace

TEST_CASE("Sampler: temperature 0 takes the likeliest token and the lowest id among equals",
          "[infer][sampler]") {
  const SamplerConfig greedy{.temperature = 0};
  CHECK(filtered(greedy, {1, 3, 2, 3}) == std::vector<double>{0, 1, 0, 0});
  for (const double u : {0.0, 0.5, std::nextafter(1.0, 0.0)}) {
    CHECK(drawn(greedy, {1, 3, 2, 3}, u) == 1);
    CHECK(drawn({.temperature = 0, .top_k = 3, .top_p = 0.1}, {1, 3, 2, 3}, u) == 1);
  }
  CHECK(drawn(greedy, {0, 0, 0}, 0.9) == 0);
}

TEST_CASE("Sampler: a tiny temperature is greedy and a huge one uniform, in finite numbers",
          "[infer][sampler]") {
  const std::vector<double> logits{-3, 5, 4.999, -kInfinity};
  CHECK(filtered({.temperature = 1e-300}, logits) == std::vector<double>{0, 1, 0, 0});
  CHECK(filtered({.temperature = std::numeric_limits<double>::denorm_min()}, logits) ==
        std::vector<double>{0, 1, 0, 0});
  const double third = 1.0 / 3;
  CHECK(filtered({.temperature = 1e300}, logits) == std::vector<double>{third, third, third, 0});
}

TEST_CASE("Sampler: impossible settings are refused with their name", "[infer][sampler]") {
  const double nan = std::nan("");
  for (const double temperature : {-1.0, -1e-300, kInfinity, nan}) {
    CAPTURE(temperature);
    CHECK_THAT(error_message<ConfigError>([&] { Sampler({.temperature = temperature}); }),
               text_contains("temperature: expected"));
  }
  for (const double top_p : {-1.0, 1.5, std::nextafter(1.0, 2.0), nan}) {
    CAPTURE(top_p);
    CHECK_THAT(error_message<ConfigError>([&] { Sampler({.top_p = top_p}); }),
               text_contains("top_p: expected"));
    CHECK_THAT(error_message<ConfigError>([&] { Sampler({.min_p = top_p}); }),
               text_contains("min_p: expected"));
  }
  for (const double penalty : {0.0, -1.0, kInfinity, nan}) {
    CAPTURE(penalty);
    CHECK_THAT(error_message<ConfigError>([&] { Sampler({.repetition_penalty = penalty}); }),
               text_contains("repetition_penalty: expected"));
  }
}

TEST_CASE("Sampler: exactly k survive and ties go to the lowest ids", "[infer][sampler]") {
  CHECK(filtered({.temperature = 1, .top_k = 2}, {0, 7, 7, 7}) ==
        std::vector<double>{0, 0.5, 0.5, 0});
  CHECK(filtered({.temperature = 1, .top_k = 3}, {7, 0, 7, 7, 7}) ==
        std::vector<double>{1. / 3, 0, 1. / 3, 1. / 3, 0});
  const std::vector<double> logits{0.1, 0.9, 0.3, 0.7, 0.5};
  for (std::size_t k = 1; k <= 4; ++k) {
    CAPTURE(k);
    CHECK(survivors(filtered({.temperature = 1, .top_k = k}, logits)) == k);
  }
}

TEST_CASE("Sampler: 10,000 draws from k tokens show exactly k", "[infer][sampler]") {
  const std::vector<double> logits{0.1, 0.9, 0.3, 0.7, 0.5};
  for (std::size_t k = 1; k <= 3; ++k) {
    Sampler sampler({.temperature = 1, .top_k = k});
    Random random(11);
    std::set<TokenId> seen;
    for (int i = 0; i < 10000; ++i) {
      seen.insert(sampler.sample(std::span<const double>(logits), random.uniform()));
    }
    CHECK(seen.size() == k);
  }
}

TEST_CASE("Sampler: top-k ranks logits even where the temperature makes all weights equal",
          "[infer][sampler]") {
  CHECK(filtered({.temperature = 1e300, .top_k = 1}, {1, 2, 3}) == std::vector<double>{0, 0, 1});
  CHECK(filtered({.temperature = 1e300, .top_p = 0.1}, {1, 2, 3}) == std::vector<double>{0, 0, 1});
}

TEST_CASE("Sampler: top-p keeps the smallest set that reaches P and the token that crosses it",
          "[infer][sampler]") {
  const std::vector<double> four = logs({.5, .3, .15, .05});
  CHECK(survivors(filtered({.temperature = 1, .top_p = .6}, four)) == 2);
  CHECK(survivors(filtered({.temperature = 1, .top_p = .85}, four)) == 3);
  CHECK(survivors(filtered({.temperature = 1, .top_p = .5}, logs({.9, .1}))) == 1);
  // Reached exactly.
  CHECK(survivors(filtered({.temperature = 1, .top_p = .5}, {0, 0})) == 1);
  const std::vector<double> ten(10, 0.0);
  for (int tenths = 1; tenths <= 10; ++tenths) {
    CAPTURE(tenths);
    CHECK(survivors(filtered({.temperature = 1, .top_p = tenths / 10.0}, ten)) ==
          static_cast<std::size_t>(tenths));
  }
  // Never empty.
  for (const double p : {0.0, 1e-300, 1e-8}) {
    CHECK(filtered({.temperature = 1, .top_p = p}, four) == std::vector<double>{1, 0, 0, 0});
  }
}

TEST_CASE("Sampler: top-p works on what top-k left, scaled to sum 1", "[infer][sampler]") {
  // Of .4 .3 .2 .1 two are left as .571 .429: the first alone reaches .5, unscaled it would not.
  const std::vector<double> logits = logs({.4, .3, .2, .1});
  CHECK(filtered({.temperature = 1, .top_k = 2, .top_p = .5}, logits) ==
        std::vector<double>{1, 0, 0, 0});
  CHECK(survivors(filtered({.temperature = 1, .top_k = 2, .top_p = .6}, logits)) == 2);
  CHECK(filtered({.temperature = .01, .top_k = 1, .top_p = .8}, logits) ==
        std::vector<double>{1, 0, 0, 0});
}

TEST_CASE("Sampler: min-p keeps what is at least so many times as likely as the likeliest",
          "[infer][sampler]") {
  const std::vector<double> four = logs({.5, .3, .15, .05});
  CHECK(survivors(filtered({.temperature = 1, .min_p = .05}, four)) == 4);
  CHECK(survivors(filtered({.temperature = 1, .min_p = .2}, four)) == 3);
  CHECK(survivors(filtered({.temperature = 1, .min_p = .5}, four)) == 2);
  CHECK(filtered({.temperature = 1, .min_p = .7}, four) == std::vector<double>{1, 0, 0, 0});
  // Never empty, and equals stay together.
  CHECK(filtered({.temperature = 1, .min_p = 1}, {0, 7, 7}) == std::vector<double>{0, .5, .5});
  // After top-p: of .526 .316 .158, which min-p would leave it, top-p .51 would take the first.
  CHECK(survivors(filtered({.temperature = 1, .top_p = .51, .min_p = .2}, four)) == 2);
  // After the temperature, which brings the four nearer to each other.
  CHECK(survivors(filtered({.temperature = 5, .min_p = .5}, four)) == 4);
}

TEST_CASE(
    "Sampler: a repetition penalty makes a token of the sentence less likely, whatever its sign",
    "[infer][sampler]") {
  const std::vector<double> logits{2, -1, 1, 0};
  const auto with = [&](double penalty, std::size_t last, const std::vector<TokenId>& before) {
    return filtered({.temperature = 1, .repetition_penalty = penalty, .repeat_last_n = last},
                    logits, before);
  };
  CHECK(with(2, 0, {0, 1, 0, 3}) == filtered({.temperature = 1}, {1, -2, 1, 0}));
  CHECK(with(2, 2, {1, 0, 0}) == filtered({.temperature = 1}, {1, -1, 1, 0}));
  CHECK(with(2, 100, {1}) == filtered({.temperature = 1}, {2, -2, 1, 0}));
  CHECK(with(2, 0, {}) == filtered({.temperature = 1}, logits));
  CHECK(with(1, 0, {0, 1}) == filtered({.temperature = 1}, logits));
  CHECK(with(0.5, 0, {2, 3}) == filtered({.temperature = 1}, {2, -1, 2, 0}));
  // Before the temperature and the filters: what was the likeliest no longer is.
  CHECK(filtered({.temperature = 0, .repetition_penalty = 3}, logits, {0}) ==
        std::vector<double>{0, 0, 1, 0});
  CHECK(filtered({.temperature = 1, .top_k = 1, .repetition_penalty = 3}, logits, {0}) ==
        std::vector<double>{0, 0, 1, 0});
  // Beyond the range of doubles: limits, and no NaN.
  CHECK(filtered({.temperature = 1, .repetition_penalty = 1e300}, {-1e300, -1e300}, {0, 1}) ==
        std::vector<double>{.5, .5});
  CHECK(filtered({.temperature = 1, .repetition_penalty = 1e-300}, {1e300, 5}, {0, 1}) ==
        std::vector<double>{1, 0});
}

TEST_CASE("Sampler: a filter that removes nothing changes no bit", "[infer][sampler]") {
  Random random(5);
  std::vector<double> logits(47);
  for (double& logit : logits) logit = random.gaussian(3);
  const std::vector<double> off = filtered({.temperature = 0.7}, logits);
  for (const std::size_t k : {std::size_t{47}, std::size_t{48}, std::size_t{10000000}}) {
    const std::vector<double> on = filtered({.temperature = 0.7, .top_k = k}, logits);
    CHECK(std::memcmp(on.data(), off.data(), off.size() * sizeof(double)) == 0);
  }
  const std::vector<double> on =
      filtered({.temperature = 0.7, .top_p = std::nextafter(1.0, 0.0)}, logits);
  REQUIRE(survivors(on) == 47);
  CHECK(std::memcmp(on.data(), off.data(), off.size() * sizeof(double)) == 0);
  CHECK(filtered({.temperature = 0.7, .min_p = 1e-300}, logits) == off);
  CHECK(filtered({.temperature = 0.7, .repetition_penalty = 2}, logits) == off);
}

TEST_CASE(
    "Sampler: a token of probability 0 is never drawn, by the lowest number nor by the highest",
    "[infer][sampler]") {
  const double below_one = std::nextafter(1.0, 0.0);
  CHECK(drawn({.temperature = 1, .top_k = 1}, {1, 2, 1}, 0.0) == 1);
  CHECK(drawn({.temperature = 1, .top_k = 1}, {1, 2, 1}, below_one) == 1);
  CHECK(drawn({.temperature = 1}, {-kInfinity, 0, 0, -kInfinity}, 0.0) == 1);
  CHECK(drawn({.temperature = 1}, {-kInfinity, 0, 0, -kInfinity}, below_one) == 2);
  // Ten tenths add up to less than the highest number.
  CHECK(drawn({.temperature = 1, .top_k = 10}, std::vector<double>(12, 0.0), below_one) == 9);
}

TEST_CASE("Sampler: infinite and extreme logits have their limits, others are refused",
          "[infer][sampler]") {
  const double huge = std::numeric_limits<double>::max();
  CHECK(filtered({.temperature = 1}, {-huge, huge, 0}) == std::vector<double>{0, 1, 0});
  CHECK(filtered({.temperature = 0.8}, {kInfinity, 0, kInfinity}) ==
        std::vector<double>{.5, 0, .5});
  CHECK(filtered({.temperature = 0.8}, {-kInfinity, -700}) == std::vector<double>{0, 1});
  CHECK_THAT(error_message<NumericError>([] {
               filtered({}, {0, std::nan(""), 1});
             }),
             text_contains("token 1 is not a number"));
  CHECK_THAT(error_message<NumericError>([] { filtered({}, {std::nan("")}); }),
             text_contains("token 0"));
  for (std::size_t place = 0; place < 40; ++place) {
    std::vector<double> logits(40, 1.0);
    logits[place] = std::nan("");
    CHECK_THAT(error_message<NumericError>([&] { filtered({.temperature = 0}, logits); }),
               text_contains("token " + std::to_string(place) + " "));
    logits[place] = 2;
    CHECK(drawn({.temperature = 0}, logits, 0.5) == place);
  }
  CHECK_THAT(error_message<NumericError>([] {
               filtered({}, {-kInfinity, -kInfinity});
             }),
             text_contains("minus infinity"));
}

TEST_CASE("Sampler: the filter chain equals its plain explanation on random logits",
          "[infer][sampler]") {
  Random random(301);
  for (int round = 0; round < 3000; ++round) {
    std::vector<double> logits(1 + static_cast<std::size_t>(random.uniform() * 40));
    // Multiples of 1/2, so that there are ties.
    for (double& logit : logits) logit = std::round(random.gaussian(4)) / 2;
    SamplerConfig config{.temperature = 0.1 + 2 * random.uniform(),
                         .top_k = static_cast<std::size_t>(random.uniform() * 45),
                         .top_p = random.uniform()};
    std::vector<TokenId> before;
    if (round % 2 == 1) {
      config.min_p = round % 8 == 1 ? 1 : random.uniform() * random.uniform();
      if (round % 4 == 1) config.top_k = 0, config.top_p = 1;
    }
    if (round % 3 == 1) {
      config.repetition_penalty = 0.5 + 2 * random.uniform();
      config.repeat_last_n = static_cast<std::size_t>(random.uniform() * 12);
      for (int i = 0; i < 10; ++i)
        before.push_back(
            static_cast<TokenId>(random.uniform() * static_cast<double>(logits.size())));
    }
    CAPTURE(round, logits, before, config.temperature, config.top_k, config.top_p, config.min_p,
            config.repetition_penalty, config.repeat_last_n);
    const std::vector<double> got = filtered(config, logits, before),
                              want = plain(config, logits, before);
    double sum = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      REQUIRE((got[i] == 0) == (want[i] == 0));
      REQUIRE(std::abs(got[i] - want[i]) < 1e-14);
      sum += got[i];
    }
    REQUIRE(std::abs(sum - 1) < 1e-14);
  }
}

TEST_CASE("Sampler: frequencies follow the probabilities", "[infer][sampler]") {
  const std::vector<double> logits{1, 0, 2, -1, 0.5, 1.5};
  Sampler sampler({.temperature = 1, .top_k = 5});
  const auto left = sampler.probabilities(std::span<const double>(logits));
  const std::vector<double> p(left.begin(), left.end());
  std::vector<double> counts(p.size());
  Random random(17);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    ++counts[sampler.sample(std::span<const double>(logits), random.uniform())];
  }
  CHECK(counts[3] == 0);
  double chi_square = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) chi_square += std::pow(counts[i] - kDraws * p[i], 2) / (kDraws * p[i]);
  }
  CHECK(chi_square < 18.47);  // four degrees of freedom, p = 0.001
}

TEST_CASE("Sampler: float logits are filtered in doubles", "[infer][sampler]") {
  const std::vector<float> floats{0.1f, -2.5f, 3.3f};
  const std::vector<double> doubles(floats.begin(), floats.end());
  Sampler sampler({.temperature = 0.9, .top_k = 2});
  const auto left = sampler.probabilities(std::span<const float>(floats));
  CHECK(std::vector<double>(left.begin(), left.end()) ==
        filtered({.temperature = 0.9, .top_k = 2}, doubles));
}
