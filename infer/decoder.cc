#include "infer/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kernels/op.h"

namespace glassbox {

namespace {

using kernels::MatrixView;
using kernels::Op;

// A block of the workspace, rows padded as kernels want them.
template <class T>
MatrixView<T> block(kernels::AlignedVector<T>& data, std::size_t rows, std::size_t cols) {
  return {.data = data.data(),
          .rows = static_cast<std::uint32_t>(rows),
          .cols = static_cast<std::uint32_t>(cols),
          .pitch = static_cast<std::uint32_t>(kernels::padded(cols))};
}

// A parameter as an operand. Kernels' forward passes read their operands only.
template <class T>
MatrixView<T> operand(const Weights<T>& weights, const ParameterBlock& at) {
  return {.data = const_cast<T*>(weights.data()) + at.offset,
          .rows = static_cast<std::uint32_t>(at.rows),
          .cols = static_cast<std::uint32_t>(at.cols),
          .pitch = static_cast<std::uint32_t>(at.pitch)};
}

}  // namespace

template <class T>
Decoder<T>::Decoder(Model<T> model) : Decoder(std::make_shared<const Model<T>>(std::move(model))) {}

template <class T>
Decoder<T>::Decoder(std::shared_ptr<const Model<T>> model) : model_(std::move(model)) {
  const GptConfig& config = model_->config();
  value_rows_.resize(config.block_size);
  exponentials_.resize(config.n_head * kernels::padded(config.block_size));
  attention_.resize(exponentials_.size());
  inverse_sums_.resize(kernels::padded(config.n_head));
}

template <class T>
void Decoder<T>::grow(std::size_t rows) {
  if (rows <= capacity_) return;
  const GptConfig& config = model_->config();
  for (auto* array : {&stream_, &normed_, &sum_})
    array->resize(rows * kernels::padded(config.n_embd));
  for (auto* array : {&hidden_, &active_}) array->resize(rows * kernels::padded(config.hidden()));
  logits_.resize(rows * kernels::padded(config.vocab_size));
  ids_.resize(2 * rows);
  capacity_ = rows;
}

template <class T>
void Decoder<T>::add_row(TokenId token, std::size_t position, KvCache<T>& cache) {
  const GptConfig& config = model_->config();
  if (cache.capacity() != config.block_size || cache.n_layer_ != config.n_layer ||
      cache.width_ != config.n_embd)
    throw ConfigError(fmt::format(
        "cache: expected one made for {} layers, width {} and block {}, found {} layers, "
        "width {} and block {}; make it from the model's config",
        config.n_layer, config.n_embd, config.block_size, cache.n_layer_, cache.width_,
        cache.capacity()));
  if (position >= config.block_size)
    throw ConfigError(
        fmt::format("cache: expected at most {} tokens, found {}; start a new sentence "
                    "with a fresh cache",
                    config.block_size, position + 1));
  if (token >= config.vocab_size)
    throw VocabularyError(
        fmt::format("token: expected an id below {}, found {}", config.vocab_size, token));
  rows_.push_back({token, position, &cache});
}

// The forward pass of nn/gpt.cc once more, on plain arrays; a test holds the two to equal bits.
template <class T>
LogitRows<T> Decoder<T>::run() {
  const GptConfig& config = model_->config();
  const Weights<T>& w = model_->weights;
  const ParameterLayout& layout = w.layout();
  const kernels::Table<T>& table = kernels::table<T>();
  const std::size_t rows = rows_.size(), width = config.n_embd;
  grow(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    ids_[i] = rows_[i].token;
    ids_[rows + i] = static_cast<std::uint32_t>(rows_[i].position);
  }
  const auto apply = [&](Op op, const MatrixView<T>& out, const MatrixView<T>& a,
                         const MatrixView<T>& b = {}) {
    kernels::Args<T> x;
    x.out = out;
    x.in[0] = a;
    x.in[1] = b;
    x.ids = std::span<const std::uint32_t>(ids_.data(), 2 * rows);
    x.number = config.norm_epsilon;
    table[op].forward(x);
  };

  const auto x = block(stream_, rows, width), h = block(normed_, rows, width);
  const auto sum = block(sum_, rows, width);
  const auto qkv = block(hidden_, rows, 3 * width);  // narrower than the MLP's 4C
  const auto mlp = block(hidden_, rows, config.hidden()),
             active = block(active_, rows, config.hidden());
  apply(Op::embedding, x, operand(w, layout.token_embedding),
        operand(w, layout.position_embedding));
  apply(Op::rmsnorm, x, x);
  for (std::size_t l = 0; l < config.n_layer; ++l) {
    const LayerBlocks& layer = layout.layers[l];
    apply(Op::rmsnorm, h, x);
    apply(Op::matmul, qkv, h, operand(w, layer.query_key_value));
    for (std::size_t i = 0; i < rows; ++i)
      attend(l, rows_[i], qkv.data + i * qkv.pitch, h.data + i * h.pitch);
    apply(Op::matmul, sum, h, operand(w, layer.attention_output));
    apply(Op::add, x, x, sum);
    apply(Op::rmsnorm, h, x);
    apply(Op::matmul, mlp, h, operand(w, layer.mlp_hidden));
    apply(Op::relu, active, mlp);
    apply(Op::matmul, sum, active, operand(w, layer.mlp_output));
    apply(Op::add, x, x, sum);
  }
  const auto logits = block(logits_, rows, config.vocab_size);
  apply(Op::matmul, logits, x, operand(w, layout.output));
  for (const Row& row : rows_) row.cache->size_ = row.position + 1;
  rows_.clear();
  return {logits.data, rows, config.vocab_size, logits.pitch};
}

// Appends the keys and values of a row, then lets its query look at all that the cache holds.
template <class T>
void Decoder<T>::attend(std::size_t layer, const Row& row, const T* qkv, T* out) {
  const GptConfig& config = model_->config();
  KvCache<T>& cache = *row.cache;
  const std::size_t width = config.n_embd, pitch = kernels::padded(cache.capacity());
  T* keys = cache.storage_.data() + layer * cache.layer_size_;
  T* values = keys + width * pitch;
  for (std::size_t c = 0; c < width; ++c) keys[c * pitch + row.position] = qkv[width + c];
  std::copy_n(qkv + 2 * width, width, values + row.position * width);
  for (std::size_t t = 0; t <= row.position; ++t) value_rows_[t] = values + t * width;
  kernels::table<T>().attend({.query = qkv,
                              .keys = keys,
                              .keys_pitch = pitch,
                              .values = value_rows_.data(),
                              .positions = row.position + 1,
                              .heads = config.n_head,
                              .head_dim = config.head_dim(),
                              .out = out,
                              .exponentials = exponentials_.data(),
                              .weights = attention_.data(),
                              .inverse_sums = inverse_sums_.data()});
}

template <class T>
LogitRows<T> Decoder<T>::step(std::span<const TokenId> tokens,
                              std::span<KvCache<T>* const> caches) {
  rows_.clear();  // a refusal may have left some
  for (std::size_t i = 0; i < tokens.size(); ++i) add_row(tokens[i], caches[i]->size(), *caches[i]);
  return run();
}

template <class T>
std::span<const T> Decoder<T>::step(TokenId token, KvCache<T>& cache) {
  KvCache<T>* const one = &cache;
  return step({&token, 1}, {&one, 1})[0];
}

template <class T>
std::vector<T> Decoder<T>::logits(std::span<const TokenId> tokens) {
  std::vector<T> result;
  if (tokens.empty()) return result;
  KvCache<T> cache(config());
  rows_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) add_row(tokens[i], i, cache);
  const LogitRows<T> rows = run();
  for (std::size_t i = 0; i < rows.size(); ++i)
    result.insert(result.end(), rows[i].begin(), rows[i].end());
  return result;
}

template class Decoder<float>;
template class Decoder<double>;

}  // namespace glassbox
