// Numbers of any size, brought to where their squares are in range.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace glassbox {

// A power of two that brings `largest` to about 1, so that what is scaled by it loses no bit and
// has squares that neither overflow nor, where they matter, underflow. 1 for what no scale can
// help.
inline double scale_to_one(double largest) {
  if (largest == 0 || !std::isfinite(largest)) return 1;
  return std::ldexp(1, -std::clamp(std::ilogb(largest), -1022, 1022));
}

// The root of the sum of squares.
inline double norm_of(std::span<const double> values) {
  double largest = 0, squares = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  const double scale = scale_to_one(largest);
  for (const double x : values) squares += (x * scale) * (x * scale);
  return std::sqrt(squares) / scale;
}

}  // namespace glassbox
