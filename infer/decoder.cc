#include "infer/decoder.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "kernels/op.h"
#include "model/forward.h"

namespace glassbox {

using kernels::MatrixView;
using kernels::Op;

// The forward pass on plain arrays, a row for each of the decoder's rows_.
template <class T>
struct Decoder<T>::Ops {
  using Array = MatrixView<T>;

  Array embedding(const ParameterBlock& tokens, const ParameterBlock& positions, Place place) {
    return run(Op::embedding, operand(tokens), operand(positions), tokens.cols, place);
  }
  Array rmsnorm(const Array& x, double epsilon, Place place) {
    return run(Op::rmsnorm, x, {}, x.cols, place, epsilon);
  }
  Array linear(const Array& x, const ParameterBlock& weight, Place place) {
    return run(Op::matmul, x, operand(weight), weight.cols, place);
  }
  Array attention(const Array& x, std::size_t heads, Place place) {
    const Array out = array(place.stage, x.cols / 3);
    for (std::size_t i = 0; i < decoder.rows_.size(); ++i)
      decoder.attend(place.layer, heads, decoder.rows_[i], x.data + i * x.pitch,
                     out.data + i * out.pitch);
    return out;
  }
  Array dropout(const Array& x) { return x; }
  Array apply(Op op, const Array& x, Place place) { return run(op, x, {}, x.cols, place); }
  Array apply(Op op, const Array& x, const Array& y, Place place) {
    return run(op, x, y, x.cols, place);
  }

 private:
  // The arrays that stages share: one is written again when nothing reads what it held.
  enum Buffer : std::uint8_t { stream, normed, hidden, active, sum, logits };
  static constexpr Buffer kBufferOf[] = {stream, stream, normed, hidden, normed, sum,    stream,
                                         normed, hidden, active, sum,    stream, normed, logits};
  static_assert(std::size(kBufferOf) == static_cast<std::size_t>(Stage::loss));

  Array run(Op op, const Array& a, const Array& b, std::size_t cols, Place place,
            double epsilon = 0) {
    const Array out = array(place.stage, cols);  // not read back from what the kernel may write to
    kernels::Args<T> x;
    x.out = out;
    x.in[0] = a;
    x.in[1] = b;
    x.ids = decoder.ids_;
    x.settings.epsilon = epsilon;
    table[op].forward(x);
    return out;
  }
  // Rows are padded as kernels want them.
  Array array(Stage stage, std::size_t cols) {
    auto& memory = decoder.buffers_[kBufferOf[static_cast<std::size_t>(stage)]];
    const std::size_t rows = decoder.rows_.size(), pitch = kernels::padded(cols);
    if (memory.size() < rows * pitch) memory.resize(rows * pitch);
    return view(memory.data(), rows, cols, pitch);
  }
  // A parameter. Kernels' forward passes read their operands only.
  Array operand(const ParameterBlock& block) {
    return view(const_cast<T*>(weights) + block.offset, block.rows, block.cols, block.pitch);
  }
  static Array view(T* data, std::size_t rows, std::size_t cols, std::size_t pitch) {
    return {.data = data,
            .rows = static_cast<std::uint32_t>(rows),
            .cols = static_cast<std::uint32_t>(cols),
            .pitch = static_cast<std::uint32_t>(pitch)};
  }

 public:
  Decoder& decoder;
  const T* weights;
  const kernels::Table<T>& table = kernels::table<T>();
};

template <class T>
Decoder<T>::Decoder(Model<T> model) : Decoder(std::make_shared<const Model<T>>(std::move(model))) {}

template <class T>
Decoder<T>::Decoder(std::shared_ptr<const Model<T>> model) : model_(std::move(model)) {
  const GptConfig& config = model_->config();
  if (model_->tokenizer.size() != config.vocab_size)
    throw ConfigError(
        fmt::format("decoder: expected a tokenizer of {} tokens, found {}; a model "
                    "goes with the tokenizer that it was trained with",
                    config.vocab_size, model_->tokenizer.size()));
  value_rows_.resize(config.block_size);
  exponentials_.resize(config.n_head * kernels::padded(config.block_size));
  attention_.resize(exponentials_.size());
  inverse_sums_.resize(kernels::padded(config.n_head));
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

// Flattened: of views built in one function and read in another the processor would wait for each.
template <class T>
[[gnu::flatten]] LogitRows<T> Decoder<T>::run() {
  ids_.clear();
  for (const Row& row : rows_) ids_.push_back(row.token);
  for (const Row& row : rows_) ids_.push_back(static_cast<std::uint32_t>(row.position));
  Ops ops{*this, model_->weights.data()};
  const MatrixView<T> logits = forward_pass(ops, model_->weights.layout());
  for (const Row& row : rows_) row.cache->size_ = row.position + 1;
  rows_.clear();
  return {logits.data, logits.rows, logits.cols, logits.pitch};
}

// Appends the keys and values of a row, then lets its query look at all that the cache holds.
template <class T>
void Decoder<T>::attend(std::size_t layer, std::size_t heads, const Row& row, const T* qkv,
                        T* out) {
  KvCache<T>& cache = *row.cache;
  const std::size_t width = cache.width_;
  cache.write(layer, row.position, qkv + width, qkv + 2 * width);
  const T* values = cache.values_of(layer);
  for (std::size_t t = 0; t <= row.position; ++t) value_rows_[t] = values + t * width;
  kernels::table<T>().attend({.query = qkv,
                              .keys = cache.keys_of(layer),
                              .keys_pitch = cache.pitch(),
                              .values = value_rows_.data(),
                              .positions = row.position + 1,
                              .heads = heads,
                              .head_dim = width / heads,
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
std::span<const T> Decoder<T>::step(std::span<const TokenId> tokens, KvCache<T>& cache) {
  rows_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) add_row(tokens[i], cache.size() + i, cache);
  return run()[tokens.size() - 1];
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
