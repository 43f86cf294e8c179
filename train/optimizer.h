// What moves the weights once their gradients are there.
#pragma once

#include <cstddef>
#include <vector>

#include "autograd/value.h"
#include "kernels/aligned.h"

namespace glassbox {

struct AdamConfig {
  double beta1 = 0.85, beta2 = 0.99;  // in [0, 1)
  double epsilon = 1e-8;              // above 0: a scalar without gradient would be 0 / 0
};

// Adam over the first `size` scalars of a tape, which must be leaves; a model's parameters are.
// Scalars that have never had a gradient stay as they are. See kernels/adam.cc for the formula.
template <class T>
class Adam {
 public:
  // Throws ConfigError. REQUIRES: size is a multiple of 16 and the tape outlives the optimiser.
  Adam(Tape<T>& tape, std::size_t size, const AdamConfig& config);

  // One update from the gradients that are on the tape, which it leaves there. Handles to what was
  // computed from the old weights become stale.
  void step(double learning_rate);
  // loss.backward() and step() in one: the same bits, sooner, and sooner still if nobody wants to
  // read the parameters' gradients afterwards. REQUIRES: gradients are 0 (Tape::zero_grad()).
  void backward_step(const Value<T>& loss, double learning_rate, bool keep_gradients = true);

 private:
  typename Tape<T>::ParameterUpdate next(double learning_rate);
  // Brings all moments up to this step.
  void wake();

  Tape<T>& tape_;
  AdamConfig config_;
  kernels::AlignedVector<T> m_, v_;  // (size) moments
  // Scalars whose step rounds to nothing, see kernels::Rest: (size / 16) each.
  std::vector<std::uint32_t> rest_since_, rest_awake_, rest_count_;
  std::uint32_t steps_ = 0;
  double step_size_ = 0;            // of the last step
  double power1_ = 1, power2_ = 1;  // beta1^t and beta2^t as running products: no pow, whose last
                                    // bit differs between C libraries
};

extern template class Adam<float>;
extern template class Adam<double>;

}  // namespace glassbox
