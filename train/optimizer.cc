#include "train/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace glassbox {

template <class T>
Adam<T>::Adam(Tape<T>& tape, std::size_t size, const AdamConfig& config,
              std::span<const ParameterBlock> frozen)
    : tape_(tape), config_(config) {
  for (const auto& [name, beta] : {std::pair{"beta1", config.beta1}, {"beta2", config.beta2}})
    if (!(beta >= 0 && beta < 1))
      throw ConfigError(
          fmt::format("{}: expected a number from 0 up to but not 1, found {}", name, beta));
  if (!(config.epsilon > 0))
    throw ConfigError(fmt::format("epsilon: expected a number above 0, found {}", config.epsilon));
  find_parameters(size);
  for (const ParameterBlock& block : frozen) freeze(block);
  state_.m.resize(size);
  state_.v.resize(size);
  last_step_.resize(kernels::padded(size) / kernels::kLanes);
  active_.resize(last_step_.size());
}

template <class T>
void Adam<T>::find_parameters(std::size_t size) {
  const auto add = [&](std::size_t begin, std::size_t rows, std::size_t cols, std::size_t pitch) {
    if (rows * cols != 0)
      parameters_.push_back({begin, rows, cols, pitch, {{0, cols}}, 0, false, false});
  };
  const auto add_single_leaves = [&](std::size_t begin, std::size_t end) {
    if (begin < end) add(begin, 1, end - begin, end - begin);
  };
  std::size_t end = 0;
  for (const MatrixInfo& matrix : tape_.matrices()) {
    if (matrix.out >= size) break;
    add_single_leaves(end, matrix.out);
    add(matrix.out, matrix.rows, matrix.cols, matrix.pitch);
    end = matrix.out + matrix.size();
  }
  if (end > size || size > tape_.size() ||
      (!tape_.records().empty() && tape_.records().front().out < size))
    throw ConfigError(
        fmt::format("optimizer: expected the first {} scalars of the tape to be leaves, and no "
                    "matrix to be cut",
                    size));
  add_single_leaves(end, size);
}

template <class T>
typename Adam<T>::Parameter& Adam<T>::parameter_at(std::size_t place) {
  const auto after =
      std::upper_bound(parameters_.begin(), parameters_.end(), place,
                       [](std::size_t x, const Parameter& p) { return x < p.begin; });
  return *(after - 1);
}

template <class T>
void Adam<T>::freeze(const ParameterBlock& block) {
  const auto refuse = [] {
    throw ConfigError("frozen: expected whole columns of one of the optimiser's matrices");
  };
  if (parameters_.empty()) refuse();
  Parameter& parameter = parameter_at(block.offset);
  const Columns frozen{block.offset - parameter.begin, block.offset - parameter.begin + block.cols};
  if (block.rows != parameter.rows || frozen.end > parameter.cols ||
      (block.rows > 1 && block.pitch != parameter.pitch))
    refuse();
  std::vector<Columns> trained;
  for (const Columns& range : parameter.trained)
    for (const Columns& left : {Columns{range.begin, std::min(range.end, frozen.begin)},
                                Columns{std::max(range.begin, frozen.end), range.end}})
      if (left.begin < left.end) trained.push_back(left);
  parameter.trained = std::move(trained);
}

template <class T>
kernels::OptimizerState<T> Adam<T>::state_of(Parameter& parameter) {
  const std::size_t group = parameter.begin / kernels::kLanes;
  return {.m = state_.m.data() + parameter.begin,
          .v = state_.v.data() + parameter.begin,
          .lazy = {.last_step = last_step_.data() + group,
                   .active = active_.data() + group,
                   .active_count = &parameter.active_groups}};
}

template <class T>
void Adam<T>::begin_step(double learning_rate) {
  state_.power1 *= config_.beta1;
  state_.power2 *= config_.beta2;
  ++state_.step;
  const double root = std::sqrt(1 - state_.power2);
  const double before = std::exchange(step_size_, learning_rate * root / (1 - state_.power1));
  // Without gradient m / sqrt(v) shrinks by beta1 / sqrt(beta2) a step. While step sizes do not
  // outgrow that, a scalar whose step rounded to nothing once goes on so. An epsilon below the root
  // of the smallest normal number could make the step grow when v becomes 0.
  const bool may_skip_rows =
      std::abs(step_size_) * config_.beta1 <= std::abs(before) * std::sqrt(config_.beta2) &&
      static_cast<T>(config_.epsilon * root) > std::sqrt(std::numeric_limits<T>::min());
  settings_ = {.step_size = static_cast<T>(step_size_),
               .epsilon = static_cast<T>(config_.epsilon * root),
               .beta1 = static_cast<T>(config_.beta1),
               .beta2 = static_cast<T>(config_.beta2),
               .one_minus_beta1 = static_cast<T>(1 - config_.beta1),
               .one_minus_beta2 = static_cast<T>(1 - config_.beta2),
               .step = state_.step,
               .may_skip_rows = may_skip_rows};
}

// The moments of all its rows become those of that step.
template <class T>
void Adam<T>::catch_up(Parameter& parameter, std::uint32_t step) {
  if (!std::exchange(parameter.is_lazy, false)) return;
  kernels::AdamSettings<T> settings = settings_;
  settings.step = step;
  tape_.table().catch_up(state_of(parameter), parameter.size(), settings);
  parameter.active_groups = 0;
}

template <class T>
const typename Adam<T>::State& Adam<T>::state() {
  for (Parameter& parameter : parameters_) catch_up(parameter, state_.step);
  return state_;
}

template <class T>
void Adam<T>::restore(State state) {
  if (state.m.size() != state_.m.size() || state.v.size() != state_.v.size())
    throw ConfigError(fmt::format("optimizer: expected {} moments of each kind, found {} and {}",
                                  state_.m.size(), state.m.size(), state.v.size()));
  static_cast<void>(this->state());  // no row lags behind what is about to be replaced
  state_ = std::move(state);
  step_size_ = 0;
}

template <class T>
LeafGradient Adam<T>::gradient_of(const MatrixInfo& leaf, const kernels::OpRow<T>& reader,
                                  std::size_t k, bool is_complete,
                                  kernels::ParameterUpdate<T>& update) {
  if (leaf.out >= state_.m.size()) return LeafGradient::store;
  Parameter& parameter = parameter_at(leaf.out);
  if (parameter.trained.empty()) return keep_gradients_ ? LeafGradient::store : LeafGradient::skip;
  if (!is_complete || !parameter.is_trained_whole()) return LeafGradient::store;
  const bool is_lazy = reader.updates[k] == kernels::FusedUpdate::lazy_rows;
  if (!is_lazy) catch_up(parameter, state_.step - 1);
  parameter.is_lazy = is_lazy;
  parameter.is_updated = true;
  update.state[k] = state_of(parameter);
  update.keep_gradients = keep_gradients_;
  update.settings = settings_;
  return LeafGradient::update;
}

// Parameters that the walk back has not updated.
template <class T>
void Adam<T>::update_the_rest() {
  T* const w = tape_.data_from(0);
  const T* const g = tape_.grad_from(0);
  for (Parameter& parameter : parameters_) {
    if (std::exchange(parameter.is_updated, false)) continue;
    catch_up(parameter, state_.step - 1);
    const bool is_whole = parameter.is_trained_whole();
    for (std::size_t row = 0; row < (is_whole ? 1 : parameter.rows); ++row)
      for (const Columns& range : parameter.trained) {
        const std::size_t at = parameter.begin + row * parameter.pitch + range.begin;
        tape_.table().update(
            {.w = w + at,
             .g = g + at,
             .state = {.m = state_.m.data() + at, .v = state_.v.data() + at, .lazy = {}},
             .size = is_whole ? parameter.size() : range.end - range.begin,
             .settings = settings_});
      }
  }
  tape_.weights_moved(0, state_.m.size());
}

template <class T>
void Adam<T>::step(double learning_rate) {
  begin_step(learning_rate);
  update_the_rest();
}

template <class T>
void Adam<T>::backward_step(const Value<T>& loss, double learning_rate, bool keep_gradients) {
  loss.check();
  begin_step(learning_rate);
  keep_gradients_ = keep_gradients;
  tape_.backward(std::array{Seed<T>{loss.id(), T(1)}}, this);
  update_the_rest();
}

template class Adam<float>;
template class Adam<double>;

}  // namespace glassbox
