#include "model/weights.h"

#include <algorithm>

namespace glassbox {

template <class T>
Weights<T>::Weights(const GptConfig& config)
    : layout_(std::make_unique<ParameterLayout>(config)), data_(layout_->slab_size()) {}

template <class T>
Weights<T>::Weights(WeightsView<T> weights) : Weights(weights.layout->config()) {
  std::copy_n(weights.data, data_.size(), data());
}

template <class T>
template <class U>
Weights<U> Weights<T>::as() const {
  Weights<U> other(config());
  std::transform(data_.begin(), data_.end(), other.data(),
                 [](T value) { return static_cast<U>(value); });
  return other;
}

template <class T>
void initialize_weights(const ParameterLayout& layout, T* slab, Random& random) {
  for (const ParameterSpec& p : layout.parameters()) {
    p.for_each_element([&](std::size_t, std::size_t, std::size_t i) {
      slab[i] = static_cast<T>(random.gaussian(p.initial_std));
    });
  }
}

template class Weights<float>;
template class Weights<double>;
template Weights<float> Weights<float>::as() const;
template Weights<double> Weights<float>::as() const;
template Weights<float> Weights<double>::as() const;
template Weights<double> Weights<double>::as() const;
template void initialize_weights(const ParameterLayout&, float*, Random&);
template void initialize_weights(const ParameterLayout&, double*, Random&);

}  // namespace glassbox
