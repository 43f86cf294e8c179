// The quick path of the sampler against the plain list of its filters.
#include "infer/fast_draw.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "infer/sampler.h"
#include "tests/catch_compat.hpp"

using namespace glassbox;

namespace {

// Up to 700 of them, nearly even, as a model's are, or `widest` apart, by turns; every fifth time
// one of -infinity.
std::vector<float> drawn_logits(Random& random, int round, double widest) {
  std::vector<float> logits(1 + static_cast<std::size_t>(random.uniform() * 700));
  const double spread = round % 3 == 0 ? 0.1 : round % 3 == 1 ? 4 : widest;
  for (float& logit : logits) logit = static_cast<float>(random.gaussian(spread));
  if (round % 5 == 0 && logits.size() > 1)
    logits[logits.size() / 2] = -std::numeric_limits<float>::infinity();
  return logits;
}

// The probabilities that the list of filters gives, of all tokens from the start.
std::vector<double> by_list(const SamplerConfig& config, const std::vector<float>& logits) {
  Candidates left;
  left.ids.resize(logits.size());
  std::iota(left.ids.begin(), left.ids.end(), TokenId{0});
  left.logits.assign(logits.begin(), logits.end());
  apply_filters(config, left);
  std::vector<double> probabilities(logits.size());
  for (std::size_t i = 0; i < left.ids.size(); ++i)
    probabilities[left.ids[i]] = left.weights[i] / left.total();
  return probabilities;
}

}  // namespace

TEST_CASE(
    "FastDraw: floats and doubles leave what the list of filters leaves of all tokens, bit for bit",
    "[infer][fast_draw]") {
  Random random(303);
  for (int round = 0; round < 1500; ++round) {
    std::vector<float> logits = drawn_logits(random, round, 2000);
    if (round % 4 == 0)
      for (float& logit : logits) logit = std::round(logit);  // ties
    if (round % 11 == 0) logits[logits.size() / 3] = std::numeric_limits<float>::infinity();
    if (round % 22 == 0) logits[0] = std::numeric_limits<float>::infinity();
    const SamplerConfig config{
        .temperature = 0.2 + 2 * random.uniform(),
        .top_k = round % 2 == 0 ? 0 : static_cast<std::size_t>(random.uniform() * 800),
        .top_p = round % 3 == 0   ? 1
                 : round % 7 == 0 ? 0
                                  : 1 - random.uniform() * random.uniform(),
        .min_p = round % 13 == 0 ? random.uniform() * random.uniform() : 0};
    CAPTURE(round, logits.size(), config.temperature, config.top_k, config.top_p);
    const std::vector<double> want = by_list(config, logits);
    Sampler sampler(config);
    const auto got = sampler.probabilities(std::span<const float>(logits));
    REQUIRE(std::memcmp(got.data(), want.data(), want.size() * sizeof(double)) == 0);
    const std::vector<double> doubles(logits.begin(), logits.end());
    Sampler in_doubles(config);
    const auto same = in_doubles.probabilities(std::span<const double>(doubles));
    REQUIRE(std::memcmp(same.data(), want.data(), want.size() * sizeof(double)) == 0);

    std::vector<std::size_t> order(logits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
    const auto kept = static_cast<std::size_t>(
        std::count_if(want.begin(), want.end(), [](double p) { return p > 0; }));
    for (std::size_t rank = 0; rank < order.size(); ++rank)
      REQUIRE((want[order[rank]] > 0) == (rank < kept));
    if (config.top_p == 1 && config.min_p == 0 && config.top_k > 0 && round % 3 == 0 &&
        round % 5 != 0 && round % 11 != 0)
      REQUIRE(kept == std::min(config.top_k, logits.size()));

    const double u = random.uniform();
    double sum = 0;
    std::size_t drawn = 0;
    while (drawn + 1 < want.size() && !(u < sum + want[drawn])) sum += want[drawn++];
    if (u < sum + want[drawn]) REQUIRE(sampler.sample(std::span<const float>(logits), u) == drawn);
  }
}

TEST_CASE("FastDraw: a draw finds the doubles' token for any number, next to borders as well",
          "[infer][fast_draw]") {
  Random random(302);
  for (int round = 0; round < 60; ++round) {
    const std::vector<float> logits = drawn_logits(random, round, 60);
    const SamplerConfig config{.temperature = round % 7 == 0 ? 0.01 : 0.2 + 2 * random.uniform()};
    Sampler exact(config), sampler(config);
    const auto p = exact.probabilities(std::span<const float>(logits));
    std::vector<double> us{0, std::nextafter(1.0, 0.0)};
    double border = 0;
    for (const double x : p) {
      border += x;
      for (const double away : {0.0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5})
        for (const double u : {border - away, border + away})
          if (u >= 0 && u < 1) us.push_back(u);
      us.push_back(random.uniform());
    }
    const DrawTable table = sampler.read(std::span<const float>(logits));
    CAPTURE(round, logits.size(), config.temperature);
    for (const double u : us) {
      double sum = 0;
      std::size_t want = 0, last = 0;
      for (; want < p.size() && !(u < sum + p[want]); ++want) {
        sum += p[want];
        if (p[want] > 0) last = want;
      }
      const DrawnToken draw = sampler.draw(table, u);
      REQUIRE(draw.token == (want < p.size() ? want : last));
      for (const double other :
           {draw.from, (draw.from + draw.to) / 2, std::nextafter(draw.to, 0.0)})
        if (other >= draw.from && other < draw.to)
          REQUIRE(sampler.draw(table, other).token == draw.token);
    }
    REQUIRE(sampler.sample(std::span<const float>(logits), us[2]) ==
            sampler.draw(table, us[2]).token);
  }
}
