#include "infer/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kernels/op.h"

namespace glassbox {

namespace {

using kernels::Block;
using kernels::Op;

// A block of the workspace, rows padded as kernels want them.
template <class T>
Block<T> block(T* data, std::size_t rows, std::size_t cols) {
  return {.data = data, .rows = static_cast<std::uint32_t>(rows),
          .cols = static_cast<std::uint32_t>(cols),
          .pitch = static_cast<std::uint32_t>(kernels::padded(cols))};
}

// A parameter as an operand. Kernels' forward passes read their operands only.
template <class T>
Block<T> operand(const Weights<T>& weights, const ParameterBlock& at) {
  Block<T> b = block(const_cast<T*>(weights.data()) + at.offset, at.rows, at.cols);
  b.pitch = static_cast<std::uint32_t>(at.pitch);
  return b;
}

template <class T>
void apply(Op op, Block<T> out, Block<T> a, Block<T> b = {}, double number = 0,
           std::span<const std::uint32_t> ids = {}) {
  kernels::Args<T> x;
  x.out = out;
  x.in = {a, b, {}};
  x.ids = ids;
  x.number = number;
  kernels::table<T>()[op].forward(x);
}

}  // namespace

template <class T>
Decoder<T>::Decoder(Model<T> model) : model_(std::move(model)) {}

// The forward pass of nn/gpt.cc once more, on plain arrays; a test holds the two to equal bits.
template <class T>
void Decoder<T>::run(std::span<const TokenId> tokens, KvCache<T>& cache) {
  const GptConfig& config = model_.config();
  const ParameterLayout& layout = model_.weights.layout();
  const std::size_t rows = tokens.size(), width = config.n_embd, past = cache.size();
  if (cache.capacity() != config.block_size || cache.n_layer_ != config.n_layer ||
      cache.width_ != width)
    throw ConfigError(
        fmt::format("cache: expected one made for {} layers, width {} and block {}, found {} layers, "
                    "width {} and block {}; make it from the model's config",
                    config.n_layer, width, config.block_size, cache.n_layer_, cache.width_,
                    cache.capacity()));
  if (past + rows > config.block_size)
    throw ConfigError(fmt::format("cache: expected at most {} tokens, found {}; start a new sentence "
                                  "with a fresh cache", config.block_size, past + rows));
  std::vector<std::uint32_t> ids(tokens.begin(), tokens.end());
  for (const TokenId token : tokens)
    if (token >= config.vocab_size)
      throw VocabularyError(fmt::format("token: expected an id below {}, found {}",
                                        config.vocab_size, token));
  for (std::size_t i = 0; i < rows; ++i) ids.push_back(static_cast<std::uint32_t>(past + i));

  const std::size_t positions = past + rows, score_size = config.n_head * kernels::padded(positions);
  const std::size_t stream = rows * kernels::padded(width);
  const std::size_t wide = rows * kernels::padded(config.hidden());
  workspace_.resize(3 * stream + 2 * wide + 2 * score_size + kernels::padded(config.n_head) +
                    rows * kernels::padded(config.vocab_size));
  T* at = workspace_.data();
  const auto take = [&](std::size_t size) { return std::exchange(at, at + size); };
  const auto x = block(take(stream), rows, width), h = block(take(stream), rows, width);
  const auto sum = block(take(stream), rows, width);
  T *hidden = take(wide), *active = take(wide);
  T *exponentials = take(score_size), *weights = take(score_size);
  T* inverse_sums = take(kernels::padded(config.n_head));
  logits_at_ = static_cast<std::size_t>(at - workspace_.data());

  const Weights<T>& w = model_.weights;
  const double epsilon = config.norm_epsilon;
  const std::size_t keys_pitch = kernels::padded(cache.capacity());
  apply<T>(Op::embedding, x, operand(w, layout.token_embedding),
           operand(w, layout.position_embedding), 0, ids);
  apply<T>(Op::rmsnorm, x, x, {}, epsilon);
  for (std::size_t l = 0; l < config.n_layer; ++l) {
    const LayerBlocks& layer = layout.layers[l];
    apply<T>(Op::rmsnorm, h, x, {}, epsilon);
    const auto qkv = block(hidden, rows, 3 * width);  // narrower than the MLP's 4C
    apply<T>(Op::matmul, qkv, h, operand(w, layer.query_key_value));
    T* keys = cache.storage_.data() + l * cache.layer_size_;
    T* values = keys + width * keys_pitch;
    std::vector<const T*> value_rows;
    for (std::size_t t = 0; t < positions; ++t) value_rows.push_back(values + t * width);
    for (std::size_t i = 0; i < rows; ++i) {
      const T* row = qkv.data + i * qkv.pitch;
      for (std::size_t c = 0; c < width; ++c) keys[c * keys_pitch + past + i] = row[width + c];
      std::copy_n(row + 2 * width, width, values + (past + i) * width);
      kernels::table<T>().attend({.query = row, .keys = keys, .keys_pitch = keys_pitch,
                                  .values = value_rows.data(), .positions = past + i + 1,
                                  .heads = config.n_head, .head_dim = config.head_dim(),
                                  .out = h.data + i * h.pitch, .exponentials = exponentials,
                                  .weights = weights, .inverse_sums = inverse_sums});
    }
    apply<T>(Op::matmul, sum, h, operand(w, layer.attention_output));
    apply<T>(Op::add, x, x, sum);
    apply<T>(Op::rmsnorm, h, x, {}, epsilon);
    const auto mlp = block(hidden, rows, config.hidden()), mlp2 = block(active, rows, config.hidden());
    apply<T>(Op::matmul, mlp, h, operand(w, layer.mlp_hidden));
    apply<T>(Op::relu, mlp2, mlp);
    apply<T>(Op::matmul, sum, mlp2, operand(w, layer.mlp_output));
    apply<T>(Op::add, x, x, sum);
  }
  apply<T>(Op::matmul, block(workspace_.data() + logits_at_, rows, config.vocab_size), x,
           operand(w, layout.output));
  cache.size_ = positions;
}

template <class T>
std::span<const T> Decoder<T>::step(TokenId token, KvCache<T>& cache) {
  run({&token, 1}, cache);
  return {workspace_.data() + logits_at_, model_.config().vocab_size};
}

template <class T>
std::vector<T> Decoder<T>::logits(std::span<const TokenId> tokens) {
  const std::size_t vocab = model_.config().vocab_size, pitch = kernels::padded(vocab);
  std::vector<T> rows;
  if (tokens.empty()) return rows;
  KvCache<T> cache(model_.config());
  run(tokens, cache);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const T* row = workspace_.data() + logits_at_ + i * pitch;
    rows.insert(rows.end(), row, row + vocab);
  }
  return rows;
}

template class Decoder<float>;
template class Decoder<double>;

}  // namespace glassbox
