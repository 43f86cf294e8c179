// The tutorial's cache on the graph: a list of keys and values a layer, empty at each sentence, one
// entry more a token. It holds Values, so a later position's loss reaches the keys and values of
// every earlier one.
#pragma once

#include <vector>

#include "autograd/errors.h"
#include "autograd/matrix.h"
#include "model/config.h"

namespace glassbox {

template <class T>
class GraphCache {
 public:
  explicit GraphCache(const GptConfig& config)
      : block_size_(config.block_size), n_embd_(config.n_embd), layers_(config.n_layer) {}

  std::size_t size() const { return layers_.empty() ? 0 : layers_.back().size(); }
  bool full() const { return size() == block_size_; }
  bool fits(const GptConfig& config) const {
    return block_size_ == config.block_size && n_embd_ == config.n_embd &&
           layers_.size() == config.n_layer;
  }
  // Whether its entries, if there are any, are on that tape.
  bool filled_on(const Tape<T>& tape) const {
    return size() == 0 || &layers_[0][0].tape() == &tape;
  }
  // Throw TapeError if it holds no such entry or channel.
  Value<T> key(std::size_t layer, std::size_t position, std::size_t channel) const {
    return entry(layer, position, channel)(0, n_embd_ + channel);
  }
  Value<T> value(std::size_t layer, std::size_t position, std::size_t channel) const {
    return entry(layer, position, channel)(0, 2 * n_embd_ + channel);
  }

  // Adds the newest token's query, key and value (1, 3C) and returns where each entry of the layer
  // begins. Throws TapeError if an entry's step was cleared or if it is no entry of that layer.
  std::vector<NodeId> append(std::size_t layer, const Matrix<T>& query_key_value) {
    if (layer >= layers_.size() || query_key_value.rows() != 1 ||
        query_key_value.cols() != 3 * n_embd_)
      throw TapeError("cache: expected the query, key and value of one position of a layer");
    layers_[layer].push_back(query_key_value);
    std::vector<NodeId> rows;
    for (const Matrix<T>& entry : layers_[layer]) {
      entry.check();
      rows.push_back(entry.node(0, 0));
    }
    return rows;
  }

 private:
  const Matrix<T>& entry(std::size_t layer, std::size_t position, std::size_t channel) const {
    if (layer >= layers_.size() || position >= layers_[layer].size() || channel >= n_embd_)
      throw TapeError("cache: expected a layer, a position and a channel that it holds");
    return layers_[layer][position];
  }

  std::size_t block_size_, n_embd_;
  std::vector<std::vector<Matrix<T>>> layers_;  // (layer, position): query, key and value (1, 3C)
};

}  // namespace glassbox
