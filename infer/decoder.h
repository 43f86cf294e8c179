// A trained model on plain numbers: tokens in, logits out. No graph: this library has no symbol of the
// tape. It runs the kernels that training records, so its logits equal training's bit for bit.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "infer/kv_cache.h"
#include "kernels/aligned.h"
#include "nn/model/model_file.h"

namespace glassbox {

template <class T = float>
class Decoder {
 public:
  explicit Decoder(Model<T> model);

  const GptConfig& config() const { return model_.config(); }
  const Tokenizer& tokenizer() const { return model_.tokenizer; }
  const Model<T>& model() const { return model_; }

  // Feeds one token at position cache.size() and appends its keys and values to the cache. Returns the
  // logits of the next token, (V): nats up to a constant. Valid until the next call. Throws ConfigError if the
  // cache is full or was made for another shape, VocabularyError if the token is not below V.
  std::span<const T> step(TokenId token, KvCache<T>& cache);

  // Every position's logits at once, without a cache: (tokens, V), row after row. The same bits as step()
  // gives one token at a time. Throws as step() does; at most block_size tokens.
  std::vector<T> logits(std::span<const TokenId> tokens);

 private:
  // Runs all layers over `rows` new rows of one sentence that begin at cache.size(), appends them, and
  // leaves their logits in logits_.
  void run(std::span<const TokenId> tokens, KvCache<T>& cache);

  Model<T> model_;
  kernels::AlignedVector<T> workspace_;
  std::size_t logits_at_ = 0;  // where the logits lie in the workspace
};

// Reads a model file. T is float unless asked; a file of the other precision is rounded or widened.
template <class T = float>
Decoder<T> load_model(const std::string& path) {
  return Decoder<T>(read_model_as<T>(path));
}

}  // namespace glassbox
