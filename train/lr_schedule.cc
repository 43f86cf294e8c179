#include "train/lr_schedule.h"

namespace glassbox {
namespace {

constexpr double kPi = 3.14159265358979323846;

// (1 + cos(pi p)) / 2 = cos(pi p / 2)^2 for p from 0 to 1. The series is ours because the last bit
// of std::cos differs between C libraries; its next term is below 1e-17.
double half_cosine(double p) {
  const double x = kPi / 2 * p;
  double term = 1, sum = 1;
  for (int k = 1; k <= 11; ++k) {
    term *= -x * x / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return sum * sum;
}

}  // namespace

double LrSchedule::at(std::uint64_t step) const {
  if (step < warmup_steps)
    return learning_rate * (static_cast<double>(step + 1) / static_cast<double>(warmup_steps));
  if (kind == Kind::constant) return learning_rate;
  if (step >= steps) return min_lr;
  const double done =
      static_cast<double>(step - warmup_steps) / static_cast<double>(steps - warmup_steps);
  return min_lr + (learning_rate - min_lr) * (kind == Kind::linear ? 1 - done : half_cosine(done));
}

const char* LrSchedule::name(Kind kind) {
  switch (kind) {
    case Kind::linear:
      return "linear";
    case Kind::cosine:
      return "cosine";
    case Kind::constant:
      return "constant";
  }
  return "";
}

}  // namespace glassbox
