// What moves the weights once their gradients are there.
#pragma once

#include <cstddef>
#include <vector>

#include "autograd/tape.h"

namespace glassbox {

struct AdamConfig {
  double beta1 = 0.85, beta2 = 0.99;  // in [0, 1)
  double epsilon = 1e-8;              // above 0: a scalar without gradient would be 0 / 0
};

// Adam over the first `size` scalars of a tape, which must be leaves; a model's parameters are. Scalars that
// have never had a gradient stay as they are. See kernels/adam.cc for the formula.
template <class T>
class Adam {
 public:
  // Throws ConfigError. REQUIRES: size is a multiple of 16 and the tape outlives the optimiser.
  Adam(Tape<T>& tape, std::size_t size, const AdamConfig& config);

  // One update from the gradients that are on the tape, which it leaves there. Handles to what was computed
  // from the old weights become stale.
  void step(double learning_rate);

 private:
  Tape<T>& tape_;
  std::size_t size_;
  AdamConfig config_;
  std::vector<T> m_, v_;                // (size) moments
  double power1_ = 1, power2_ = 1;      // beta1^t and beta2^t as running products: no pow, whose last
                                        // bit differs between C libraries
};

extern template class Adam<float>;
extern template class Adam<double>;

}  // namespace glassbox
