#include "train/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace glassbox {

template <class T>
Adam<T>::Adam(Tape<T>& tape, std::size_t size, const AdamConfig& config)
    : tape_(tape),
      config_(config),
      m_(size),
      v_(size),
      rest_since_(size / kernels::kLanes),
      rest_awake_(rest_since_.size()),
      rest_count_(rest_since_.size()) {
  for (const auto& [name, beta] : {std::pair{"beta1", config.beta1}, {"beta2", config.beta2}})
    if (!(beta >= 0 && beta < 1))
      throw ConfigError(
          fmt::format("{}: expected a number from 0 up to but not 1, found {}", name, beta));
  if (!(config.epsilon > 0))
    throw ConfigError(fmt::format("epsilon: expected a number above 0, found {}", config.epsilon));
}

template <class T>
typename Tape<T>::ParameterUpdate Adam<T>::next(double learning_rate) {
  ++steps_;
  power1_ *= config_.beta1;
  power2_ *= config_.beta2;
  const double root = std::sqrt(1 - power2_);
  const double before = std::exchange(step_size_, learning_rate * root / (1 - power1_));
  // Without gradient m / sqrt(v) shrinks by beta1 / sqrt(beta2) a step. While step sizes do not
  // outgrow that, a scalar whose step rounded to nothing once goes on so. An epsilon below the root
  // of the smallest normal number could make the step grow when v becomes 0.
  const bool may_rest =
      step_size_ * config_.beta1 <= before * std::sqrt(config_.beta2) &&
      static_cast<T>(config_.epsilon * root) > std::sqrt(std::numeric_limits<T>::min());
  return {.m = m_.data(),
          .v = v_.data(),
          .size = m_.size(),
          .rest_since = rest_since_.data(),
          .rest_awake = rest_awake_.data(),
          .rest_count = rest_count_.data(),
          .settings = {.step_size = static_cast<T>(step_size_),
                       .epsilon = static_cast<T>(config_.epsilon * root),
                       .beta1 = static_cast<T>(config_.beta1),
                       .beta2 = static_cast<T>(config_.beta2),
                       .one_minus_beta1 = static_cast<T>(1 - config_.beta1),
                       .one_minus_beta2 = static_cast<T>(1 - config_.beta2),
                       .step = steps_,
                       .may_rest = may_rest}};
}

template <class T>
void Adam<T>::wake() {
  kernels::AdamSettings<T> settings{};
  settings.beta1 = static_cast<T>(config_.beta1);
  settings.beta2 = static_cast<T>(config_.beta2);
  settings.step = steps_;
  tape_.table().wake(m_.data(), v_.data(), rest_since_.data(), rest_since_.size(), settings);
  std::fill(rest_count_.begin(), rest_count_.end(), 0);
}

template <class T>
void Adam<T>::step(double learning_rate) {
  wake();
  tape_.update(next(learning_rate));
}

template <class T>
void Adam<T>::backward_step(const Value<T>& loss, double learning_rate, bool keep_gradients) {
  loss.check();
  auto update = next(learning_rate);
  update.keep_gradients = keep_gradients;
  tape_.fused_step(loss.id(), update);
}

template class Adam<float>;
template class Adam<double>;

}  // namespace glassbox
