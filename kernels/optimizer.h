// What an optimiser's update is to a kernel: the state that belongs to the weights, and the numbers
// of one step. Whoever finishes a gradient hands it to the rule in optimizer-inl.h; so a new rule
// (SGD, say) touches the optimiser's files here and in train/, and no operation.
#pragma once

#include "kernels/op.h"

namespace glassbox::kernels {

// The numbers of one step of Adam, see kernels/adam-inl.h.
template <class T>
struct AdamSettings {
  T step_size;  // learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t)
  T epsilon;    // epsilon * sqrt(1 - beta2^t)
  T beta1, beta2;
  T one_minus_beta1, one_minus_beta2;  // rounded once, from double
  std::uint32_t step;                  // t, from 1
  bool may_skip_rows;                  // rows that the last step skipped may be skipped in this one

  // Moments below the normal numbers become 0 in this step: a compare a moment in each step costs
  // 5% of it.
  static constexpr bool flushes(std::uint32_t step) { return step % 16 == 0; }
};

// Lazy Adam, for tables of which a batch names few rows, see kernels/lazy_rows-inl.h. Kept for each
// group of kLanes scalars, 0 at first.
struct LazyRows {
  std::uint32_t* last_step = nullptr;     // the step that a skipped group's moments are those of;
                                          // 0: the group is up to date
  std::uint32_t* active = nullptr;        // the groups that are not skipped, in no order
  std::uint32_t* active_count = nullptr;  // how many; 0: the list has yet to be made
};

// What an optimiser keeps of one block of weights, in the block's layout.
template <class T>
struct OptimizerState {
  T* m = nullptr;  // mean of the gradient
  T* v = nullptr;  // mean of its square
  LazyRows lazy;
};

// The update of an operation's own parameters where their gradient is made: in[k]'s, if it has
// state.
template <class T>
struct ParameterUpdate {
  std::array<OptimizerState<T>, kMaxOperands> state;
  bool keep_gradients =
      true;  // else in[k].grad may be left with anything: a quarter less memory to move
  AdamSettings<T> settings;

  bool has(std::size_t k) const { return state[k].m != nullptr; }
  // As if in[k] began `count` columns later.
  void skip_columns(std::size_t k, std::size_t count) {
    if (!has(k)) return;
    state[k].m += count;
    state[k].v += count;
  }
};

enum class Rule : std::uint8_t { adam, sgd };

// The update of `size` weights whose gradients are complete.
template <class T>
struct UpdatePass {
  T* w;
  const T* g;
  OptimizerState<T> state;  // of sgd: m alone
  std::size_t size;
  AdamSettings<T> settings;  // of sgd: step_size is the learning rate, beta1 the momentum
  Rule rule = Rule::adam;
  // What comes before the rule: w = weight_scale w, and g = gradient_scale g + l2 w with the weight
  // of before.
  T gradient_scale = 1, l2 = 0, weight_scale = 1;
};

}  // namespace glassbox::kernels
