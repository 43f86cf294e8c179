// The first scalar of a computation that is NaN or infinite: where training went wrong, not where
// it was noticed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/gpt.h"

namespace glassbox {

struct Anomaly {
  bool backward;         // its gradient, not its data
  std::string name, op;  // "leaf" for a weight that was bad before the step
  double value;
  struct Operand {
    std::string name;
    double data;
  };
  std::vector<Operand> operands;  // those that are not finite, else the largest: at most four
  std::string from;               // of a gradient: the operation that passed it, with its name
  std::optional<std::size_t> sentence;  // of the batch; none for a weight or the mean

  // One line.
  std::string text() const;
};

// Computes forward, then backward, as a training step does, but leaves the weights as they are.
// Returns nothing if all is finite. Afterwards the tape holds the gradients of this batch.
template <class T>
std::optional<Anomaly> find_anomaly(Gpt<T>& model, const Batch& batch);

}  // namespace glassbox
