#include "train/optimizer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace glassbox {

template <class T>
Adam<T>::Adam(Tape<T>& tape, std::size_t size, const AdamConfig& config)
    : tape_(tape), config_(config), m_(size), v_(size) {
  for (const auto& [name, beta] : {std::pair{"beta1", config.beta1}, {"beta2", config.beta2}})
    if (!(beta >= 0 && beta < 1))
      throw ConfigError(fmt::format("{}: expected a number from 0 up to but not 1, found {}", name, beta));
  if (!(config.epsilon > 0))
    throw ConfigError(fmt::format("epsilon: expected a number above 0, found {}", config.epsilon));
}

template <class T>
typename Tape<T>::LeafUpdate Adam<T>::next(double learning_rate) {
  constexpr std::uint64_t kFlushEvery = 16;  // a compare a moment in each step costs 5% of a step
  ++steps_;
  power1_ *= config_.beta1;
  power2_ *= config_.beta2;
  const double root = std::sqrt(1 - power2_);
  return {.m = m_.data(),
          .v = v_.data(),
          .size = m_.size(),
          .settings = {.step_size = static_cast<T>(learning_rate * root / (1 - power1_)),
                       .epsilon = static_cast<T>(config_.epsilon * root),
                       .beta1 = static_cast<T>(config_.beta1),
                       .beta2 = static_cast<T>(config_.beta2),
                       .one_minus_beta1 = static_cast<T>(1 - config_.beta1),
                       .one_minus_beta2 = static_cast<T>(1 - config_.beta2),
                       .flush = steps_ % kFlushEvery == 0}};
}

template <class T>
void Adam<T>::step(double learning_rate) {
  tape_.update(next(learning_rate));
}

template <class T>
void Adam<T>::backward_step(const Value<T>& loss, double learning_rate, bool keep_gradients) {
  loss.check();
  auto update = next(learning_rate);
  update.keep_gradients = keep_gradients;
  tape_.backward_update(loss.id(), update);
}

template class Adam<float>;
template class Adam<double>;

}  // namespace glassbox
