// Weights in memory: one aligned slab, laid out by the parameter table.
#pragma once

#include <cstddef>
#include <memory>

#include "base/random.h"
#include "kernels/aligned.h"
#include "model/parameters.h"

namespace glassbox {

// Somebody else's slab of weights. Both pointers must outlive the view.
template <class T>
struct WeightsView {
  const ParameterLayout* layout;
  const T* data;  // layout->slab_size() scalars
};

// A slab of our own, aligned to a cache line, zero at first. It moves; copy() copies.
template <class T>
class Weights {
 public:
  // Throws ConfigError, as config.validate() does.
  explicit Weights(const GptConfig& config);
  // A copy of somebody else's.
  explicit Weights(WeightsView<T> weights);

  const ParameterLayout& layout() const { return *layout_; }
  const GptConfig& config() const { return layout_->config(); }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  WeightsView<T> view() const { return {layout_.get(), data()}; }
  Weights copy() const { return Weights(view()); }
  // Rounded or widened to another precision.
  template <class U>
  Weights<U> as() const;

 private:
  std::unique_ptr<ParameterLayout> layout_;
  kernels::AlignedVector<T> data_;
};

// Draws every parameter in the table's order, each row by row as in the file.
template <class T>
void initialize_weights(const ParameterLayout& layout, T* slab, Random& random);

}  // namespace glassbox
