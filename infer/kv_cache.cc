#include "infer/kv_cache.h"

namespace glassbox {

template <class T>
KvCache<T>::KvCache(const GptConfig& config)
    : capacity_(config.block_size), n_layer_(config.n_layer), width_(config.n_embd) {
  config.validate();
  layer_size_ = 2 * width_ * pitch();
  storage_.resize(n_layer_ * layer_size_);
}

template <class T>
KvCacheView<T> KvCache<T>::keys(std::size_t layer) const {
  return {keys_of(layer), size_, width_, 1, pitch()};
}

template <class T>
KvCacheView<T> KvCache<T>::values(std::size_t layer) const {
  return {values_of(layer), size_, width_, width_, 1};
}

template <class T>
void KvCache<T>::get(std::size_t position, T* entry) const {
  for (std::size_t l = 0; l < n_layer_; ++l) {
    for (std::size_t c = 0; c < width_; ++c) *entry++ = keys_of(l)[c * pitch() + position];
    entry = std::copy_n(values_of(l) + position * width_, width_, entry);
  }
}

template <class T>
void KvCache<T>::set(std::size_t position, const T* entry) {
  for (std::size_t l = 0; l < n_layer_; ++l, entry += 2 * width_)
    write(l, position, entry, entry + width_);
  size_ = std::max(size_, position + 1);
}

template class KvCache<float>;
template class KvCache<double>;

}  // namespace glassbox
