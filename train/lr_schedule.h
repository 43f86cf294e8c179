// The learning rate of each step.
#pragma once

#include <cstdint>

namespace glassbox {

struct LrSchedule {
  enum class Kind { linear, constant };
  Kind kind = Kind::linear;
  double learning_rate = 0.01;
  std::uint64_t steps = 5000;

  // Of step `step`, counted from 0. linear: learning_rate * (1 - step / steps), and 0 from `steps`
  // on.
  double at(std::uint64_t step) const;
};

}  // namespace glassbox
