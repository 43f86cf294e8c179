#include "train/lr_schedule.h"

#include <cmath>

#include "tests/catch_compat.hpp"

using namespace glassbox;

TEST_CASE("LrSchedule: linear begins at the learning rate and stays above 0 to the last step",
          "[train][lr_schedule]") {
  const LrSchedule schedule{LrSchedule::Kind::linear, 0.01, 5000};
  CHECK(schedule.at(0) == 0.01);
  CHECK(std::abs(schedule.at(1) - 0.009998) < 1e-17);
  CHECK(schedule.at(2500) == 0.005);
  CHECK(std::abs(schedule.at(4999) - 2e-06) < 1e-17);
  for (std::uint64_t step = 0; step < 5000; ++step) REQUIRE(schedule.at(step) > 0);
  CHECK(LrSchedule{LrSchedule::Kind::linear, 0.3, 1}.at(0) == 0.3);
}

TEST_CASE("LrSchedule: linear is 0 beyond the last step and never below", "[train][lr_schedule]") {
  const LrSchedule schedule{LrSchedule::Kind::linear, 0.01, 3};
  for (const std::uint64_t step : {std::uint64_t{3}, std::uint64_t{4}, ~std::uint64_t{0}})
    CHECK(schedule.at(step) == 0);
  CHECK(LrSchedule{LrSchedule::Kind::linear, 0.01, 0}.at(0) == 0);
}

TEST_CASE("LrSchedule: constant is constant", "[train][lr_schedule]") {
  const LrSchedule schedule{LrSchedule::Kind::constant, 0.02, 10};
  CHECK(schedule.at(0) == 0.02);
  CHECK(schedule.at(9) == 0.02);
}

TEST_CASE("LrSchedule: cosine falls slowly, fast, slowly to the least rate",
          "[train][lr_schedule]") {
  const LrSchedule schedule{LrSchedule::Kind::cosine, 0.01, 1000, 0, 0.002};
  CHECK(schedule.at(0) == 0.01);
  CHECK(schedule.at(500) == Approx(0.006).epsilon(1e-15));
  CHECK(schedule.at(1000) == 0.002);
  for (std::uint64_t step = 0; step < 1000; ++step) {
    const double by_library =
        0.002 + 0.008 * (1 + std::cos(3.14159265358979323846 * step / 1000)) / 2;
    REQUIRE(schedule.at(step) == Approx(by_library).epsilon(1e-14));
    REQUIRE(schedule.at(step) >= schedule.at(step + 1));
  }
}

TEST_CASE("LrSchedule: after the warm-up the rest of the steps is a run of its own",
          "[train][lr_schedule]") {
  for (const auto kind :
       {LrSchedule::Kind::linear, LrSchedule::Kind::cosine, LrSchedule::Kind::constant}) {
    const LrSchedule schedule{kind, 0.5, 20, 4}, rest{kind, 0.5, 16};
    CHECK(schedule.at(0) == 0.125);
    CHECK(schedule.at(1) == 0.25);
    CHECK(schedule.at(2) == 0.375);
    CHECK(schedule.at(3) == 0.5);
    for (std::uint64_t step = 0; step < 17; ++step) REQUIRE(schedule.at(step + 4) == rest.at(step));
  }
  const LrSchedule all{LrSchedule::Kind::linear, 0.5, 4, 4};
  CHECK(all.at(3) == 0.5);
  CHECK(all.at(4) == 0);
}

TEST_CASE("LrSchedule: linear ends above the least rate by one step's share",
          "[train][lr_schedule]") {
  const LrSchedule schedule{LrSchedule::Kind::linear, 1.0, 4, 0, 0.5};
  CHECK(schedule.at(0) == 1.0);
  CHECK(schedule.at(1) == 0.875);
  CHECK(schedule.at(3) == 0.625);
  CHECK(schedule.at(9) == 0.5);
}
