// Operations cut into parts that can be computed apart, each by a thread of its own: rows of a run,
// sentences of an attention, columns of a weight. No sum is cut, so the bits do not depend on the
// parts.
#pragma once

#include <span>
#include <vector>

#include "kernels/op.h"
#include "kernels/parallel.h"

namespace glassbox {

// One operation to be computed.
template <class T>
struct Task {
  const kernels::OpRow<T>* row = nullptr;
  kernels::Args<T> args;
  kernels::Update<T> update = {};
  bool updates = false;  // backward: by fused_step()
  bool whole = false;    // backward of several: not to be cut
};

// Where a part begins: its first row and its first sentence. A list of them ends with the end of
// the last part.
struct PartBegin {
  std::uint32_t row, sentence;
};

// Runs operations, in parts where there are threads and the task pays for waking them.
template <class T>
class Executor {
 public:
  // Null: everything on the calling thread.
  void set_threads(kernels::Threads* threads) { threads_ = threads; }

  // One operation.
  void forward(const kernels::OpRow<T>& row, const kernels::Args<T>& x) const {
    if (!threads_) return row.forward(x);
    forward(Task<T>{&row, x});
  }
  void backward(const Task<T>& task) const;

  // Whole sentences for each thread, those that begin at the rows `starts`, of which the last is
  // the end. Empty if there are no threads or too few sentences to give each about as much.
  std::vector<PartBegin> cut(std::span<const std::uint32_t> starts) const;
  // Operations one after another, each thread its own rows of all of them. REQUIRES: each has
  // Partition::rows, sentences or product and the parts' rows, and weights are leaves.
  void forward(std::span<const Task<T>> tasks, std::span<const PartBegin> parts) const;
  // Likewise; then the gradients of weights, each thread its own columns of them, and what is
  // whole. REQUIRES: to what these add, nothing else here adds.
  void backward(std::span<const Task<T>> tasks, std::span<const PartBegin> parts) const;

 private:
  void forward(const Task<T>& task) const;
  bool pays(std::span<const Task<T>> tasks) const;
  // f(part of the task) for every part, of one operation.
  template <class F>
  void in_parts(const Task<T>& task, F f) const;
  void weights_backward(std::span<const Task<T>> tasks) const;

  kernels::Threads* threads_ = nullptr;
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace glassbox
