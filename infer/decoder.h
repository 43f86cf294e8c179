// A trained model on plain numbers: tokens in, logits out. No graph: this library has no symbol of
// the tape. It runs the kernels that training records, so its logits equal training's bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infer/kv_cache.h"
#include "kernels/aligned.h"
#include "model/model_file.h"

namespace glassbox {

// A view of the logits of several rows: [i] is row i's, (V).
template <class T>
class LogitRows {
 public:
  LogitRows(const T* data, std::size_t rows, std::size_t vocab_size, std::size_t pitch)
      : data_(data), rows_(rows), vocab_size_(vocab_size), pitch_(pitch) {}
  std::size_t size() const { return rows_; }
  std::span<const T> operator[](std::size_t i) const { return {data_ + i * pitch_, vocab_size_}; }

 private:
  const T* data_;
  std::size_t rows_, vocab_size_, pitch_;
};

// One decoder belongs to one thread; another() makes one for the next.
template <class T = float>
class Decoder {
 public:
  // Throws ConfigError unless the tokenizer has a token for each row of the model's table.
  explicit Decoder(Model<T> model);
  // Of a copy of the weights, which may change afterwards.
  Decoder(WeightsView<T> weights, const Tokenizer& tokenizer)
      : Decoder(Model<T>{tokenizer, Weights<T>(weights), "{}"}) {}

  // Another decoder of the same model, which the two share, with a workspace of its own.
  Decoder another() const { return Decoder(model_); }

  const GptConfig& config() const { return model_->config(); }
  const Tokenizer& tokenizer() const { return model_->tokenizer; }
  const Model<T>& model() const { return *model_; }

  // Feeds one token at position cache.size() and appends its keys and values to the cache. Returns
  // the logits of the next token, (V): nats up to a constant. Valid until the next call. Throws
  // ConfigError if the cache is full or was made for another shape, VocabularyError if the token is
  // not below V.
  std::span<const T> step(TokenId token, KvCache<T>& cache);

  // The same for several tokens of one sentence, in their order, at once: the logits after the
  // last. REQUIRES: at least one.
  std::span<const T> step(std::span<const TokenId> tokens, KvCache<T>& cache);

  // The same for several sentences at once, tokens[i] to caches[i], each at its own position: row
  // i's logits and what is appended have the bits that step(tokens[i], caches[i]) gives, whatever
  // the other rows are. Throws as that does, and then no cache has changed. REQUIRES: as many
  // caches as tokens, no cache twice.
  LogitRows<T> step(std::span<const TokenId> tokens, std::span<KvCache<T>* const> caches);

  // Every position's logits at once, without a cache: (tokens, V), row after row. The same bits as
  // step() gives one token at a time. Throws as step() does; at most block_size tokens.
  std::vector<T> logits(std::span<const TokenId> tokens);

 private:
  explicit Decoder(std::shared_ptr<const Model<T>> model);

  // A token to feed: its place in a sentence, and the sentence's cache.
  struct Row {
    TokenId token;
    std::size_t position;
    KvCache<T>* cache;
  };
  struct Ops;  // of the forward pass, on the arrays below

  void add_row(TokenId token, std::size_t position, KvCache<T>& cache);
  // Runs all layers over rows_, appends them to their caches, and returns their logits. A
  // sentence's rows stand in the order of their positions.
  LogitRows<T> run();
  void attend(std::size_t layer, std::size_t heads, const Row& row, const T* qkv, T* out);

  std::shared_ptr<const Model<T>> model_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> ids_;  // the rows' tokens, then their positions
  std::vector<const T*> value_rows_;
  // What the forward pass computes. The arrays grow with the number of rows and are used again:
  // nothing is allocated for a token.
  static constexpr std::size_t kBuffers = 6;
  std::array<kernels::AlignedVector<T>, kBuffers> buffers_;
  kernels::AlignedVector<T> exponentials_, attention_, inverse_sums_;  // of one row at a time
};

// Reads a model file. T is float unless asked; a file of the other precision is rounded or widened.
template <class T = float>
Decoder<T> load_model(const std::string& path) {
  return Decoder<T>(read_model_as<T>(path));
}

}  // namespace glassbox
