#include "infer/kv_cache.h"

#include <algorithm>

#include "kernels/op.h"

namespace glassbox {

template <class T>
KvCache<T>::KvCache(const GptConfig& config)
    : capacity_(config.block_size), n_layer_(config.n_layer), width_(config.n_embd) {
  config.validate();
  layer_size_ = 2 * width_ * kernels::padded(capacity_);
  storage_.resize(n_layer_ * layer_size_);
}

template <class T>
CacheView<T> KvCache<T>::keys(std::size_t layer) const {
  return {storage_.data() + layer * layer_size_, size_, width_, 1, kernels::padded(capacity_)};
}

template <class T>
CacheView<T> KvCache<T>::values(std::size_t layer) const {
  const T* keys = storage_.data() + layer * layer_size_;
  return {keys + width_ * kernels::padded(capacity_), size_, width_, width_, 1};
}

template <class T>
void KvCache<T>::get(std::size_t position, T* entry) const {
  const std::size_t pitch = kernels::padded(capacity_);
  for (std::size_t l = 0; l < n_layer_; ++l) {
    const T* keys = storage_.data() + l * layer_size_;
    for (std::size_t c = 0; c < width_; ++c) *entry++ = keys[c * pitch + position];
    entry = std::copy_n(keys + width_ * pitch + position * width_, width_, entry);
  }
}

template <class T>
void KvCache<T>::set(std::size_t position, const T* entry) {
  const std::size_t pitch = kernels::padded(capacity_);
  for (std::size_t l = 0; l < n_layer_; ++l) {
    T* keys = storage_.data() + l * layer_size_;
    for (std::size_t c = 0; c < width_; ++c) keys[c * pitch + position] = *entry++;
    std::copy_n(entry, width_, keys + width_ * pitch + position * width_);
    entry += width_;
  }
  size_ = std::max(size_, position + 1);
}

template class KvCache<float>;
template class KvCache<double>;

}  // namespace glassbox
