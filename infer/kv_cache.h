// The keys and values of the tokens seen so far, one list a layer: what lets each new token be
// computed alone. Empty at first, one entry more a token. An empty cache is a fresh sentence, and
// it is the causal mask: a token attends to what is in the cache, and no future key is there.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/aligned.h"
#include "kernels/op.h"
#include "model/config.h"

namespace glassbox {

// A view of one layer's keys or values: (size, C). Valid until the cache is destroyed.
template <class T>
class KvCacheView {
 public:
  KvCacheView(const T* data, std::size_t rows, std::size_t cols, std::size_t row_step,
              std::size_t col_step)
      : data_(data), rows_(rows), cols_(cols), row_step_(row_step), col_step_(col_step) {}
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  // The key or value of position `row`; head h owns columns h * head_dim to (h + 1) * head_dim - 1.
  const T& operator()(std::size_t row, std::size_t col) const {
    return data_[row * row_step_ + col * col_step_];
  }

 private:
  const T* data_;
  std::size_t rows_, cols_, row_step_, col_step_;
};

template <class T = float>
class KvCache {
 public:
  // Empty. Throws ConfigError if the config is impossible. 2 * n_layer * block_size * n_embd
  // scalars, padded.
  explicit KvCache(const GptConfig& config);
  KvCache(KvCache&&) = default;  // a copy would double the memory unseen
  KvCache& operator=(KvCache&&) = default;

  std::size_t size() const { return size_; }          // tokens in it
  std::size_t capacity() const { return capacity_; }  // block_size
  bool full() const { return size_ == capacity_; }
  std::size_t bytes() const { return storage_.size() * sizeof(T); }
  // REQUIRES: layer < n_layer.
  KvCacheView<T> keys(std::size_t layer) const;
  KvCacheView<T> values(std::size_t layer) const;
  // What one token appended, 2 * n_layer * n_embd scalars: layer by layer its keys, then its
  // values.
  std::size_t entry_size() const { return 2 * n_layer_ * width_; }
  // Writes it to `entry`. REQUIRES: position < size().
  void get(std::size_t position, T* entry) const;
  // Takes it from `entry`, and then holds `position` + 1 tokens at least. REQUIRES: position <
  // capacity().
  void set(std::size_t position, const T* entry);
  // Empty again. What the memory held before has no influence on what is computed later.
  void clear() { size_ = 0; }

 private:
  template <class U>
  friend class Decoder;
  // keys[c * pitch() + position] and values[position * C + c].
  const T* keys_of(std::size_t layer) const { return storage_.data() + layer * layer_size_; }
  const T* values_of(std::size_t layer) const { return keys_of(layer) + width_ * pitch(); }
  std::size_t pitch() const { return kernels::padded(capacity_); }
  void write(std::size_t layer, std::size_t position, const T* key, const T* value) {
    T* keys = storage_.data() + layer * layer_size_;
    for (std::size_t c = 0; c < width_; ++c) keys[c * pitch() + position] = key[c];
    std::copy_n(value, width_, keys + width_ * pitch() + position * width_);
  }

  std::size_t capacity_, size_ = 0;
  std::size_t n_layer_, width_;
  std::size_t layer_size_;  // scalars a layer: keys, then values
  // [layer][keys][C][block] and [layer][values][block][C]: keys lie transposed, so that lanes run
  // over positions when scores are computed
  kernels::AlignedVector<T> storage_;
};

KvCache(const GptConfig&)->KvCache<float>;

}  // namespace glassbox
