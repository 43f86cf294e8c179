// The walk back: from one node or several to the gradients of all that they were computed from.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "autograd/graph.h"

namespace glassbox {

// What becomes of a leaf matrix's gradient.
enum class LeafGradient {
  store,   // it is there to be read, as ever
  update,  // the operation that makes it moves the leaf at once
  skip,    // nobody needs it: it is not computed
};

// Whom a walk back asks about leaves: an optimiser that wants to move parameters where their
// gradients are made, which is sooner than after the walk, with the same bits.
template <class T>
class LeafHook {
 public:
  virtual ~LeafHook() = default;
  // `reader` is about to make the gradient of its operand k, which is `leaf`; the whole of it if
  // `is_complete`, for then nothing else reads the leaf. To answer update, which takes a complete
  // gradient, fill in the settings of `update` and the state of operand k.
  virtual LeafGradient gradient_of(const MatrixInfo& leaf, const kernels::OpRow<T>& reader,
                                   std::size_t k, bool is_complete,
                                   kernels::ParameterUpdate<T>& update) = 0;
};

// A node to begin from, and its own gradient.
template <class T>
struct Seed {
  NodeId node;
  T grad;
};

template <class T>
class Backward {
 public:
  // Both must outlive it.
  Backward(Graph<T>& graph, const Executor<T>& executor);

  void run(std::span<const Seed<T>> seeds, LeafHook<T>* hook);
  void zero_grad();
  // Records from there on were dropped.
  void truncate(std::size_t records) { dirty_records_ = std::min(dirty_records_, records); }

 private:
  void clear_inner_gradients();
  void walk(std::size_t from);
  void walk_section(const Section& section);
  void walk_groups(std::size_t from);
  // The records below `from` down to `to`, one after another.
  void walk_records(std::size_t from, std::size_t to, bool zeros_too = false);
  bool is_reached(const MatrixInfo& matrix) const;
  Task<T> task_of(const MatrixInfo& matrix);

  Graph<T>& graph_;
  const Executor<T>& executor_;
  // The table's length-1 paths once more, side by side: plain scalar code looks one up for every
  // node.
  std::array<T (*)(T, T, T, T, T*, T*), kernels::kOpCount> backward1_;
  std::size_t dirty_records_ = 0;  // records whose gradients an earlier run has set
  LeafHook<T>* hook_ = nullptr;    // of this run
  std::vector<Task<T>> tasks_;     // memory for what is handed to executor_
};

extern template class Backward<float>;
extern template class Backward<double>;

}  // namespace glassbox
