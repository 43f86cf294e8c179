#include "train/lr_schedule.h"

namespace glassbox {

double LrSchedule::at(std::uint64_t step) const {
  if (kind == Kind::constant) return learning_rate;
  if (step >= steps) return 0;
  return learning_rate * (1 - static_cast<double>(step) / static_cast<double>(steps));
}

}  // namespace glassbox
