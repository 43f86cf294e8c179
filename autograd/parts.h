// An operation cut into parts that can be computed apart, each by a thread of its own: rows of a run,
// sentences of an attention, columns of a weight. No sum is cut, so the bits do not depend on the parts.
#pragma once

#include "kernels/op.h"
#include "kernels/parallel.h"

namespace glassbox {

// Runs operations, in parts where there are threads and the work pays for waking them.
template <class T>
class PartRunner {
 public:
  // Null: everything on the calling thread.
  void set_threads(kernels::Threads* threads) { threads_ = threads; }

  void forward(const kernels::OpRow<T>& row, const kernels::Args<T>& x) const;
  void backward(const kernels::OpRow<T>& row, const kernels::Args<T>& x) const;
  void backward_update(const kernels::OpRow<T>& row, const kernels::Args<T>& x,
                       const kernels::Update<T>& update) const;

 private:
  bool pays(const kernels::OpRow<T>& row, const kernels::Args<T>& x) const;
  // f(part of x) for every part.
  template <class F>
  void in_rows(const kernels::OpRow<T>& row, const kernels::Args<T>& x, F f) const;
  template <class F>
  void in_columns(const kernels::Args<T>& x, F f) const;

  kernels::Threads* threads_ = nullptr;
};

extern template class PartRunner<float>;
extern template class PartRunner<double>;

}  // namespace glassbox
