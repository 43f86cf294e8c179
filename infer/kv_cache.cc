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
void KvCache<T>::copy_from(const KvCache& other) {
  const std::size_t keys = width_ * kernels::padded(capacity_);
  for (std::size_t l = 0; l < n_layer_; ++l)  // of the values what is filled; keys lie across the whole block
    std::copy_n(other.storage_.data() + l * layer_size_, keys + other.size_ * width_,
                storage_.data() + l * layer_size_);
  size_ = other.size_;
}

template class KvCache<float>;
template class KvCache<double>;

}  // namespace glassbox
