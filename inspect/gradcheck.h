// Every gradient against a numeric derivative of the loss: is the derivative that training uses the
// derivative of what it computes?
//
// The numeric one is the four-point central difference
//   (8 (f(w+h) - f(w-h)) - (f(w+2h) - f(w-2h))) / 12h,
// whose error falls with h^4, so h can be large enough that rounding of f does not show.
//
// Kinks. Where relu's input changes sign between two of the four points, the difference is the
// slope of no one piece. So the inputs' signs are compared as well, and h shrinks until all points
// lie on the piece on which the gradient was taken. If w itself sits on a kink (an input is 0, or
// closer than the smallest h), there is no derivative to compare with: the parameter is then moved
// off it, and gradient and difference are taken there. So kinks raise no false alarm, and no
// parameter is skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "inspect/inspection.h"

namespace glassbox {

struct GradcheckOptions {
  std::size_t sample = 0;  // parameters to check, drawn evenly by the seed; 0 is all
  std::uint32_t seed = 42;
  std::size_t worst = 10;  // offenders to return
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

struct Gradcheck {
  struct Entry {
    std::string name;
    double analytic, numeric;
    double tolerance;  // of their difference
  };
  std::size_t checked = 0, parameters = 0, failed = 0;
  std::size_t on_a_kink = 0;  // those that were moved off a kink
  std::vector<Entry> worst;   // by difference over tolerance, the worst first

  bool ok() const { return failed == 0 && checked > 0; }
};

// `analytic` is in the order of the layout, as parameter_gradients() returns it.
Gradcheck gradcheck(Inspection& inspection, const double* analytic,
                    const GradcheckOptions& options = {});

}  // namespace glassbox
