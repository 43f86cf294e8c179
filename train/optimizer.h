// What moves the weights, once their gradients are there or as soon as they are made.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "autograd/value.h"
#include "kernels/aligned.h"
#include "model/parameters.h"

namespace glassbox {

// adam: see kernels/adam-inl.h. adamw: the same with a weight decay of its own (Loshchilov and
// Hutter 2019, arXiv:1711.05101): w = (1 - learning_rate weight_decay) w before Adam's step. sgd:
// see kernels/sgd-inl.h.
enum class OptimizerKind { adam, adamw, sgd };
// "adam", as an option and a model file say it.
const char* name_of(OptimizerKind kind);

struct OptimizerConfig {
  double beta1 = 0.85, beta2 = 0.99;  // of adam and adamw, in [0, 1)
  double epsilon = 1e-8;              // above 0: a scalar without gradient would be 0 / 0
  OptimizerKind kind = OptimizerKind::adam;
  double momentum = 0;  // of sgd, in [0, 1)
  // adam and sgd add weight_decay w to a weight's gradient, the derivative of half of weight_decay
  // w^2 (L2 regularisation).
  double weight_decay = 0;
  // A gradient whose norm over all that is trained is larger is scaled down to it before anything
  // else (Pascanu et al. 2013, arXiv:1211.5063). 0: none is.
  double grad_clip = 0;

  // Throws ConfigError naming the setting, its range and what was given.
  void validate() const;
};

// An optimiser over the first `size` scalars of a tape, which must be leaves; a model's parameters
// are. Without weight decay scalars that have never had a gradient stay as they are.
template <class T>
class Optimizer : private LeafHook<T> {
 public:
  // Blocks that are frozen get no update: each is a whole matrix or some of its columns. Throws
  // ConfigError, also if the first `size` scalars are not leaves or end inside a matrix. REQUIRES:
  // the tape outlives the optimiser.
  Optimizer(Tape<T>& tape, std::size_t size, const OptimizerConfig& config,
            std::span<const ParameterBlock> frozen = {});
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // What is carried from step to step beside the weights.
  struct State {
    kernels::AlignedVector<T> m, v;  // moments of the first `size` scalars, in their places; of sgd
                                     // m alone
    double power1 = 1, power2 = 1;   // beta1^t and beta2^t as running products: no pow, whose last
                                     // bit differs between C libraries
    std::uint32_t step = 0;          // t
  };
  // Of the steps so far. Moments that lag behind are brought up to date first, which changes no bit
  // of the steps to come.
  const State& state();
  // Goes on as the optimiser that gave the state would, to the bit. Throws ConfigError for a state
  // of another size.
  void restore(State state);

  // One update from the gradients that are on the tape, which it leaves there. Handles to what was
  // computed from the old weights become stale.
  void step(double learning_rate);
  // loss.backward() and step() in one: the same bits, sooner, and sooner still if nobody wants to
  // read the parameters' gradients afterwards. REQUIRES: gradients are 0 (Tape::zero_grad()).
  void backward_step(const Value<T>& loss, double learning_rate, bool keep_gradients = true);

 private:
  struct Columns {
    std::size_t begin, end;
  };
  // A leaf matrix, or single leaves side by side as one row.
  struct Parameter {
    std::size_t begin, rows, cols, pitch;
    std::vector<Columns> trained;  // none: the parameter is frozen
    std::uint32_t active_groups;   // see kernels::LazyRows
    bool is_lazy;                  // moments of some of its rows may be those of an earlier step
    bool is_updated;               // in this step, by the operation that made its gradient

    std::size_t size() const { return rows * pitch; }
    bool is_trained_whole() const {
      return trained.size() == 1 && trained[0].end - trained[0].begin == cols;
    }
  };
  void find_parameters(std::size_t size);
  void freeze(const ParameterBlock& block);
  Parameter& parameter_at(std::size_t place);
  kernels::OptimizerState<T> state_of(Parameter& parameter);
  void catch_up(Parameter& parameter, std::uint32_t step);
  void begin_step(double learning_rate);
  // Whether operations may update their own parameters: the default. All else needs the whole
  // gradient first, or has a rule that no operation knows.
  bool may_fuse() const;
  double gradient_norm() const;
  // f(place, size) for the scalars that are trained and have not been updated in this step.
  template <class F>
  void for_each_trained_run(F f) const {
    for (const Parameter& parameter : parameters_) {
      if (parameter.is_updated) continue;
      if (parameter.is_trained_whole()) {
        f(parameter.begin, parameter.size());
        continue;
      }
      for (std::size_t row = 0; row < parameter.rows; ++row)
        for (const Columns& range : parameter.trained)
          f(parameter.begin + row * parameter.pitch + range.begin, range.end - range.begin);
    }
  }
  void update_the_rest();
  LeafGradient gradient_of(const MatrixInfo& leaf, const kernels::OpRow<T>& reader, std::size_t k,
                           bool is_complete, kernels::ParameterUpdate<T>& update) override;

  Tape<T>& tape_;
  OptimizerConfig config_;
  State state_;
  std::vector<std::uint32_t> last_step_, active_;  // see kernels::LazyRows
  std::vector<Parameter> parameters_;              // in the tape's order
  kernels::AdamSettings<T> settings_{};            // of this step
  bool keep_gradients_ = true;                     // in this step
  double step_size_ = 0;                           // of this step
  double learning_rate_ = 0;                       // of this step
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace glassbox
