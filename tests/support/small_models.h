// Models, sentences and batches for tests, each from a seed that stands in the test.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/tokenizer.h"
#include "model/model_file.h"
#include "nn/batch.h"

namespace glassbox {

// The smallest shape with everything in it.
inline GptConfig small_shape(std::size_t vocab_size = 47) {
  return {.vocab_size = vocab_size, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 8};
}

// Shapes for what must hold at every one: the default, widths and blocks that are no multiple of a
// vector, heads from 1 to 5.
inline std::vector<GptConfig> odd_shapes() {
  return {{.vocab_size = 47},
          small_shape(),
          {.vocab_size = 5, .block_size = 8, .n_layer = 3, .n_head = 1, .n_embd = 8},
          {.vocab_size = 33, .block_size = 20, .n_layer = 2, .n_head = 3, .n_embd = 24},
          {.vocab_size = 16, .block_size = 40, .n_layer = 2, .n_head = 5, .n_embd = 40},
          {.vocab_size = 21,
           .block_size = 8,
           .n_head = 2,
           .n_embd = 8,
           .activation = Activation::gelu,
           .final_norm = true},
          {.vocab_size = 33,
           .n_layer = 1,
           .n_head = 2,
           .n_embd = 24,
           .activation = Activation::silu,
           .final_norm = true}};
}

inline std::string shape_name(const GptConfig& c) {
  return "vocab_size " + std::to_string(c.vocab_size) + ", block_size " +
         std::to_string(c.block_size) + ", n_layer " + std::to_string(c.n_layer) + ", n_head " +
         std::to_string(c.n_head) + ", n_embd " + std::to_string(c.n_embd) + ", " +
         name_of(c.activation) + (c.final_norm ? ", final norm" : "");
}

// Larger than a fresh model's, so that attention is not nearly even and every term counts.
template <class T>
Weights<T> drawn_weights(const GptConfig& config, std::uint32_t seed,
                         double standard_deviation = 0.4) {
  Weights<T> weights(config);
  Random random(seed);
  for (const ParameterSpec& p : weights.layout().parameters())
    for (std::size_t row = 0; row < p.rows; ++row)
      for (std::size_t col = 0; col < p.cols; ++col)
        weights.data()[p.index(row, col)] = static_cast<T>(random.gaussian(standard_deviation));
  return weights;
}

// Words "w0", "w1", ... and BOS.
inline Tokenizer numbered_words(std::size_t vocab_size) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i + 1 < vocab_size; ++i)
    words.emplace_back("w").append(std::to_string(i));
  return Tokenizer::from_words(words, true, "test");
}

// A model of its own with those weights.
template <class T>
Model<T> model_of(WeightsView<T> weights, const Tokenizer& tokenizer) {
  return {tokenizer, Weights<T>(weights), "{}"};
}

// BOS, then length - 2 words, then BOS, as a corpus gives them.
inline std::vector<TokenId> drawn_sentence(std::mt19937_64& bits, std::size_t vocab_size,
                                           std::size_t length) {
  const auto bos = static_cast<TokenId>(vocab_size - 1);
  std::vector<TokenId> sentence(length, bos);
  for (std::size_t i = 1; i + 1 < length; ++i)
    sentence[i] = static_cast<TokenId>(bits() % (vocab_size - 1));
  return sentence;
}

inline Batch batch_of(std::span<const std::vector<TokenId>> sentences, std::size_t block_size) {
  Batch batch;
  batch.clear();
  for (const auto& sentence : sentences) batch.add(sentence, block_size);
  batch.set_weights();
  return batch;
}

// tiny.txt as the tutorial trains on it: shuffled by seed 42, whose stream then draws the weights.
struct TinyText {
  explicit TinyText(const std::string& folder) : corpus(Corpus::read(folder + "/tiny.txt")) {
    corpus.shuffle(random);
  }
  Random random{42};
  Corpus corpus;
  Tokenizer tokenizer = Tokenizer::words(corpus);
};

// |got - want| over what is allowed: `relative` of the larger, or `absolute`. Above 1 it is wrong.
inline double excess(double got, double want, double relative, double absolute) {
  const double allowed = std::max(absolute, relative * std::max(std::abs(got), std::abs(want)));
  const double excess = std::abs(got - want) / allowed;
  return std::isnan(excess) ? INFINITY : excess;
}

}  // namespace glassbox
