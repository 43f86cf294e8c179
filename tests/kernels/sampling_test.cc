// What a draw reads of logits, against plain loops, on every target.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/sampling.h"
#include "tests/support/kernel_call.h"

namespace glassbox::reference {
namespace {

TEMPLATE_TEST_CASE("max: the largest of any number of scalars, and NaN wherever one stands",
                   "[kernels][sampling]", float, double) {
  using T = TestType;
  for_each_simd_target([](const std::string&) {
    std::mt19937_64 bits(331);
    const auto& table = kernels::table<T>();
    REQUIRE(table.max(nullptr, 0) == -std::numeric_limits<T>::infinity());
    for (std::size_t size = 1; size <= 70; ++size) {
      auto x = random_matrix<T>(bits, 1, size, -3, -1)
                   .data;  // all below 0: what lies beyond the end is not read
      x.shrink_to_fit();
      REQUIRE(table.max(x.data(), size) == *std::max_element(x.begin(), x.end()));
      for (std::size_t place = 0; place < size; ++place) {
        const T before = x[place];
        x[place] = std::numeric_limits<T>::quiet_NaN();
        REQUIRE(std::isnan(table.max(x.data(), size)));
        x[place] = before;
      }
    }
  });
}

TEST_CASE(
    "exp_weights: powers of two within 3 units besides the exponent's rounding, and sums of 64",
    "[kernels][sampling]") {
  for_each_simd_target([](const std::string&) {
    std::mt19937_64 bits(332);
    constexpr double kUnit = 0x1p-24;
    for (const std::size_t size : {1, 15, 16, 17, 63, 64, 65, 130, 600}) {
      auto logits = random_matrix<float>(bits, 1, size, -40, 0).data;
      logits[0] = 0.5f;
      if (size > 2) logits[1] = -std::numeric_limits<float>::infinity();
      const std::size_t blocks = (size + kernels::kDrawBlock - 1) / kernels::kDrawBlock;
      std::vector<float> weights(blocks * kernels::kDrawBlock, -1), sums(blocks, -1);
      const float scale = 1.8f;
      kernels::table<float>().exp_weights({.logits = logits.data(),
                                           .size = size,
                                           .max = 0.5f,
                                           .scale = scale,
                                           .weights = weights.data(),
                                           .sums = sums.data()});
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const double y = i < size ? (double{logits[i]} - 0.5) * double{scale} : 0;
        const double want = i < size ? std::exp2(y) : 0;
        const double bound = want * kUnit * (3 + 2 * 0.7 * std::abs(y)) + 2e-38;
        CAPTURE(size, i, y, want, weights[i]);
        REQUIRE((i >= size ? weights[i] == 0 : std::abs(weights[i] - want) <= bound || y < -126));
        if (y < -126) REQUIRE((weights[i] >= 0 && weights[i] < 2e-38));
      }
      for (std::size_t b = 0; b < blocks; ++b) {
        double sum = 0;
        for (std::size_t i = 0; i < kernels::kDrawBlock; ++i)
          sum += weights[b * kernels::kDrawBlock + i];
        REQUIRE(std::abs(sums[b] - sum) <= sum * kUnit * 7);
      }
    }
  });
}

}  // namespace
}  // namespace glassbox::reference
