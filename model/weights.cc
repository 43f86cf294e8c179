#include "model/weights.h"

#include <algorithm>
#include <new>

namespace glassbox {
namespace {

constexpr std::align_val_t kAlignment{64};  // a cache line

}  // namespace

template <class T>
void Weights<T>::Free::operator()(T* p) const {
  ::operator delete(p, kAlignment);
}

template <class T>
Weights<T>::Weights(const GptConfig& config) : layout_(std::make_unique<ParameterLayout>(config)) {
  const std::size_t size = layout_->slab_size();
  data_.reset(static_cast<T*>(::operator new(size * sizeof(T), kAlignment)));
  std::uninitialized_fill_n(data_.get(), size, T(0));
}

template <class T>
Weights<T>::Weights(WeightsView<T> weights) : Weights(weights.layout->config()) {
  std::copy_n(weights.data, layout_->slab_size(), data_.get());
}

template <class T>
template <class U>
Weights<U> Weights<T>::as() const {
  Weights<U> other(config());
  std::transform(data(), data() + layout_->slab_size(), other.data(),
                 [](T value) { return static_cast<U>(value); });
  return other;
}

template <class T>
void initialize(const ParameterLayout& layout, T* slab, Random& random) {
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
template void initialize(const ParameterLayout&, float*, Random&);
template void initialize(const ParameterLayout&, double*, Random&);

}  // namespace glassbox
