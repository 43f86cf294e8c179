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
