// Computes operations, cut into chunks where there are threads: rows of a matrix, sentences of an
// attention, columns of a weight. No sum is cut, so the bits do not depend on the chunks. It knows
// arrays, not tapes.
#pragma once

#include <span>
#include <vector>

#include "kernels/op.h"
#include "kernels/optimizer.h"
#include "kernels/parallel.h"

namespace glassbox {

// One operation to be computed.
template <class T>
struct Task {
  const kernels::OpRow<T>* row = nullptr;
  kernels::Args<T> args;
  kernels::ParameterUpdate<T> update = {};
  bool updates = false;  // backward: by fused_step()
  bool whole = false;    // backward of several: not to be cut
};

// A thread's share: some rows, which are some whole sentences.
struct Chunk {
  std::uint32_t first_row, end_row, first_sentence, end_sentence;
};

// Computes in chunks where there are threads and the work is worth waking them.
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
  std::vector<Chunk> cut(std::span<const std::uint32_t> starts) const;
  // Operations one after another, each thread its own rows of all of them. REQUIRES: each has
  // Partition::rows, sentences or product and the chunks' rows, and weights are leaves.
  void forward(std::span<const Task<T>> tasks, std::span<const Chunk> chunks) const;
  // Likewise; then the gradients of weights, each thread its own columns of them, and what is
  // whole. REQUIRES: to what these add, nothing else here adds.
  void backward(std::span<const Task<T>> tasks, std::span<const Chunk> chunks) const;

 private:
  void forward(const Task<T>& task) const;
  bool worth_threads(std::span<const Task<T>> tasks) const;
  // f(chunk) for every chunk, of one operation.
  template <class F>
  void for_each_chunk(const Task<T>& task, F f) const;
  void weights_backward(std::span<const Task<T>> tasks) const;

  kernels::Threads* threads_ = nullptr;
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace glassbox
