#include "base/random.h"

#include <cmath>
#include <set>
#include <vector>

#include "tests/catch_compat.hpp"

using namespace glassbox;

TEST_CASE("Random: the first uniform numbers of seeds 42, 0 and 1", "[base][random]") {
  Random random(42);
  CHECK(random.uniform() == 0.6011037519201636);
  CHECK(random.uniform() == 0.44829055899754167);
  CHECK(random.uniform() == 0.8524657934904099);
  CHECK(random.uniform() == 0.6697340414393693);
  CHECK(random.uniform() == 0.17481389874592423);
  Random zero(0);
  CHECK(zero.uniform() == 0.26642920868471265);
  CHECK(zero.uniform() == 0.0003297457005828619);
  // The states of the other two stay odd through the first mixing for a long time, where `t | 60`
  // would do as well as `t | 61`.
  CHECK(Random(1).uniform() == 0.6270739405881613);
}

TEST_CASE("Random: the first Gaussians of seed 42 and standard deviation 0.08", "[base][random]") {
  Random random(42);
  CHECK(random.gaussian(0.08) == Approx(-0.07649297835073192).epsilon(1e-15));
  CHECK(random.gaussian(0.08) == Approx(-0.021842088390608833).epsilon(1e-15));
}

TEST_CASE("Random: a Gaussian draws a first uniform number of 0 again", "[base][random]") {
  const std::uint32_t kBeforeZero = 0x92d4860b;  // the one seed of all whose first number is 0
  Random random(kBeforeZero);
  REQUIRE(Random(random).uniform() == 0);
  CHECK(std::isfinite(random.gaussian(1)));
  CHECK(random.state() == kBeforeZero + 3 * 0x6d2b79f5u);
}

TEST_CASE("Random goes on from its state", "[base][random]") {
  Random random(7);
  random.gaussian(1);
  Random resumed(random.state());
  CHECK(resumed.uniform() == random.uniform());
}

TEST_CASE("Random: Gaussians have the mean and the deviation asked for", "[base][random]") {
  Random random(1);
  constexpr int kDraws = 100'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.gaussian(2);
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / kDraws) < 4 * 2 / std::sqrt(kDraws));
  CHECK(std::abs(squares / kDraws - 4) < 4 * 4 * std::sqrt(2.0 / kDraws));
}

TEST_CASE("CounterRandom gives the known answers of Philox 4x32-10", "[base][random]") {
  // From kat_vectors of Random123, the library of the paper's authors: words 0 and 1 of each block.
  const auto uniform = [](std::uint64_t block) {
    return static_cast<double>(block >> 11) * 0x1p-53;
  };
  CHECK(CounterRandom(0, 0).uniform() == uniform(0x6627e8d5'e169c58d));
  const std::uint64_t ones = ~std::uint64_t{0};
  CHECK(CounterRandom(ones, ones, ones).uniform() == uniform(0x408f276d'41c83b0e));
  CHECK(CounterRandom(0x299f31d0'a4093822, 0x03707344'13198a2e, 0x85a308d3'243f6a88).uniform() ==
        uniform(0xd16cfe09'94fdcceb));
}

TEST_CASE("CounterRandom: number k depends on seed, stream and k alone", "[base][random]") {
  CounterRandom from_start(5, 9), other(5, 10);
  for (std::uint64_t k = 0; k < 10; ++k) {
    other.uniform();
    CHECK(from_start.uniform() == CounterRandom(5, 9, k).uniform());
  }
}

TEST_CASE("CounterRandom: streams and seeds that differ in any one bit are distinct",
          "[base][random]") {
  std::set<double> firsts = {CounterRandom(0, 0).uniform()};
  for (int bit = 0; bit < 64; ++bit) {
    firsts.insert(CounterRandom(std::uint64_t{1} << bit, 0).uniform());
    firsts.insert(CounterRandom(0, std::uint64_t{1} << bit).uniform());
  }
  CHECK(firsts.size() == 129);
}

TEST_CASE("CounterRandom is uniform along a stream and across streams", "[base][random]") {
  const bool across = GENERATE(false, true);
  CAPTURE(across);
  constexpr int kDraws = 64'000, kBins = 64;
  std::vector<int> bins(kBins);
  CounterRandom along(3, 0);
  for (int i = 0; i < kDraws; ++i) {
    const double u =
        across ? CounterRandom(3, static_cast<std::uint64_t>(i)).uniform() : along.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    ++bins[static_cast<std::size_t>(u * kBins)];
  }
  double chi_square = 0;
  for (const int n : bins) chi_square += std::pow(n - kDraws / kBins, 2) / (kDraws / kBins);
  CHECK(chi_square < 103.4);  // 63 degrees of freedom, p = 0.001
  CHECK(chi_square > 30);     // too even is not random either
}
