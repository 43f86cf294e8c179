#include "train/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace glassbox {

const char* name_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adam:
      return "adam";
    case OptimizerKind::adamw:
      return "adamw";
    case OptimizerKind::sgd:
      return "sgd";
  }
  return "";
}

void OptimizerConfig::validate() const {
  for (const auto& [name, value] :
       {std::pair{"beta1", beta1}, {"beta2", beta2}, {"momentum", momentum}})
    if (!(value >= 0 && value < 1))
      throw ConfigError(
          fmt::format("{}: expected a number from 0 up to but not 1, found {}", name, value));
  if (!(epsilon > 0))
    throw ConfigError(fmt::format("epsilon: expected a number above 0, found {}", epsilon));
  for (const auto& [name, value] :
       {std::pair{"weight_decay", weight_decay}, {"grad_clip", grad_clip}})
    if (!(value >= 0 && std::isfinite(value)))
      throw ConfigError(
          fmt::format("{}: expected a finite number of at least 0, found {}", name, value));
  if (momentum > 0 && kind != OptimizerKind::sgd)
    throw ConfigError(fmt::format(
        "momentum: expected 0 for {}, which has beta1, found {}; choose sgd or leave it out",
        name_of(kind), momentum));
}

template <class T>
Optimizer<T>::Optimizer(Tape<T>& tape, std::size_t size, const OptimizerConfig& config,
                        std::span<const ParameterBlock> frozen)
    : tape_(tape), config_(config) {
  config.validate();
  find_parameters(size);
  for (const ParameterBlock& block : frozen) freeze(block);
  state_.m.resize(size);
  if (config.kind != OptimizerKind::sgd) state_.v.resize(size);
  last_step_.resize(kernels::padded(size) / kernels::kLanes);
  active_.resize(last_step_.size());
}

template <class T>
void Optimizer<T>::find_parameters(std::size_t size) {
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
typename Optimizer<T>::Parameter& Optimizer<T>::parameter_at(std::size_t place) {
  const auto after =
      std::upper_bound(parameters_.begin(), parameters_.end(), place,
                       [](std::size_t x, const Parameter& p) { return x < p.begin; });
  return *(after - 1);
}

template <class T>
void Optimizer<T>::freeze(const ParameterBlock& block) {
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
kernels::OptimizerState<T> Optimizer<T>::state_of(Parameter& parameter) {
  const std::size_t group = parameter.begin / kernels::kLanes;
  return {.m = state_.m.data() + parameter.begin,
          .v = state_.v.data() + parameter.begin,
          .lazy = {.last_step = last_step_.data() + group,
                   .active = active_.data() + group,
                   .active_count = &parameter.active_groups}};
}

template <class T>
bool Optimizer<T>::may_fuse() const {
  return config_.kind == OptimizerKind::adam && config_.weight_decay == 0 && config_.grad_clip == 0;
}

template <class T>
void Optimizer<T>::begin_step(double learning_rate) {
  learning_rate_ = learning_rate;
  if (config_.kind == OptimizerKind::sgd) {
    settings_ = {.step_size = static_cast<T>(learning_rate),
                 .epsilon = 0,
                 .beta1 = static_cast<T>(config_.momentum),
                 .beta2 = 0,
                 .one_minus_beta1 = 0,
                 .one_minus_beta2 = 0,
                 .step = ++state_.step,
                 .may_skip_rows = false};
    return;
  }
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
void Optimizer<T>::catch_up(Parameter& parameter, std::uint32_t step) {
  if (!std::exchange(parameter.is_lazy, false)) return;
  kernels::AdamSettings<T> settings = settings_;
  settings.step = step;
  tape_.table().catch_up(state_of(parameter), parameter.size(), settings);
  parameter.active_groups = 0;
}

template <class T>
const typename Optimizer<T>::State& Optimizer<T>::state() {
  for (Parameter& parameter : parameters_) catch_up(parameter, state_.step);
  return state_;
}

template <class T>
void Optimizer<T>::restore(State state) {
  if (state.m.size() != state_.m.size() || state.v.size() != state_.v.size())
    throw ConfigError(fmt::format("optimizer: expected {} and {} moments, found {} and {}",
                                  state_.m.size(), state_.v.size(), state.m.size(),
                                  state.v.size()));
  static_cast<void>(this->state());  // no row lags behind what is about to be replaced
  state_ = std::move(state);
  step_size_ = 0;
}

template <class T>
LeafGradient Optimizer<T>::gradient_of(const MatrixInfo& leaf, const kernels::OpRow<T>& reader,
                                       std::size_t k, bool is_complete,
                                       kernels::ParameterUpdate<T>& update) {
  if (leaf.out >= state_.m.size()) return LeafGradient::store;
  Parameter& parameter = parameter_at(leaf.out);
  if (parameter.trained.empty()) return keep_gradients_ ? LeafGradient::store : LeafGradient::skip;
  if (!is_complete || !parameter.is_trained_whole() || !may_fuse()) return LeafGradient::store;
  const bool is_lazy = reader.updates[k] == kernels::FusedUpdate::lazy_rows;
  if (!is_lazy) catch_up(parameter, state_.step - 1);
  parameter.is_lazy = is_lazy;
  parameter.is_updated = true;
  update.state[k] = state_of(parameter);
  update.keep_gradients = keep_gradients_;
  update.settings = settings_;
  return LeafGradient::update;
}

// In double, over the trained columns; in 16 sums and one order, whatever the processor.
template <class T>
double Optimizer<T>::gradient_norm() const {
  const T* const grad = tape_.grad_from(0);
  double sums[kernels::kLanes] = {};
  for_each_trained_run([&](std::size_t at, std::size_t size) {
    const T* const g = grad + at;
    std::size_t i = 0;
    for (; i + kernels::kLanes <= size; i += kernels::kLanes)
      for (std::size_t lane = 0; lane < kernels::kLanes; ++lane) {
        const double x = static_cast<double>(g[i + lane]);
        sums[lane] += x * x;
      }
    for (; i < size; ++i) sums[0] += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  });
  return std::sqrt(std::accumulate(std::begin(sums), std::end(sums), 0.0));
}

// Parameters that the walk back has not updated.
template <class T>
void Optimizer<T>::update_the_rest() {
  const double norm = config_.grad_clip > 0 ? gradient_norm() : 0;
  // One that is not finite is left as it is: the next loss will show it.
  const double scale =
      norm > config_.grad_clip && std::isfinite(norm) ? config_.grad_clip / norm : 1;
  const bool is_adamw = config_.kind == OptimizerKind::adamw;
  kernels::UpdatePass<T> pass{
      .w = nullptr,
      .g = nullptr,
      .state = {},
      .size = 0,
      .settings = settings_,
      .rule = config_.kind == OptimizerKind::sgd ? kernels::Rule::sgd : kernels::Rule::adam,
      .gradient_scale = static_cast<T>(scale),
      .l2 = static_cast<T>(is_adamw ? 0 : config_.weight_decay),
      .weight_scale = static_cast<T>(is_adamw ? 1 - learning_rate_ * config_.weight_decay : 1)};
  for (Parameter& parameter : parameters_)
    if (!parameter.is_updated) catch_up(parameter, state_.step - 1);
  for_each_trained_run([&](std::size_t at, std::size_t size) {
    pass.w = tape_.data_from(0) + at;
    pass.g = tape_.grad_from(0) + at;
    pass.state = {.m = state_.m.data() + at,
                  .v = state_.v.empty() ? nullptr : state_.v.data() + at,
                  .lazy = {}};
    pass.size = size;
    tape_.table().update(pass);
  });
  for (Parameter& parameter : parameters_) parameter.is_updated = false;
  tape_.weights_moved(0, state_.m.size());
}

template <class T>
void Optimizer<T>::step(double learning_rate) {
  begin_step(learning_rate);
  update_the_rest();
}

template <class T>
void Optimizer<T>::backward_step(const Value<T>& loss, double learning_rate, bool keep_gradients) {
  loss.check();
  begin_step(learning_rate);
  keep_gradients_ = keep_gradients;
  tape_.backward(std::array{Seed<T>{loss.id(), T(1)}}, this);
  update_the_rest();
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace glassbox
