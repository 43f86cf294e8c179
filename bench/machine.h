// What the processor can do at best, measured in the same run as everything else: the figures that
// bound how fast a model can be.
#pragma once

#include <cstddef>

namespace glassbox {

// Of one core, with the vectors of the SIMD target that the kernels use; seconds of its time.
struct Machine {
  struct Arithmetic {
    double multiply_add = 0;  // seconds a scalar: of chains that wait for nothing but each other
    double root_and_division = 0;
  };
  Arithmetic of_float, of_double;
  // Seconds a byte, reading arrays that fit the first, second and third cache, and one that fits
  // none.
  static constexpr std::size_t kLevels = 4;
  double byte[kLevels] = {};
  std::size_t cache[kLevels - 1] = {};  // bytes that are taken to fit

  // Seconds to read that many bytes again and again.
  double reading(double bytes) const {
    std::size_t level = 0;
    while (level + 1 < kLevels && bytes > static_cast<double>(cache[level])) ++level;
    return bytes * byte[level];
  }
};

// Takes about half a second.
Machine measure_machine();

}  // namespace glassbox
