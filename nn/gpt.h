// The model on a tape: every scalar of its forward pass is a Value. The same weights as a Model, in
// leaves.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/matrix.h"
#include "base/random.h"
#include "model/model_file.h"
#include "nn/batch.h"
#include "nn/dropout.h"
#include "nn/graph_cache.h"
#include "nn/labels.h"

namespace glassbox {

template <class T>
class Gpt {
 public:
  // Weights drawn from a normal distribution, in the parameter table's order. Throws ConfigError.
  Gpt(const GptConfig& config, Random& random);
  // A copy of trained weights.
  explicit Gpt(WeightsView<T> weights);
  Gpt(const Gpt&) = delete;
  Gpt& operator=(const Gpt&) = delete;

  const GptConfig& config() const { return layout_->config(); }
  const ParameterLayout& layout() const { return *layout_; }
  // Parameters are the tape's first nodes, in the layout's places.
  Tape<T>& tape() { return tape_; }
  const Tape<T>& tape() const { return tape_; }
  WeightsView<T> weights() const { return {layout_.get(), tape_.data_from(0)}; }
  // A parameter's scalar by the name that files and labels use: "layers.0.attention.query", row
  // [out], column [in]. Throws TapeError for an unknown name or an index outside.
  Value<T> parameter(const std::string& name, std::size_t row, std::size_t col);

  // The logits of every position: (N, V). Labels of the values refer to this batch, which must live
  // as long as they are asked for. Throws TapeError for a batch that is empty or whose parts do not
  // fit each other, and for a token or a position that the model has no row for.
  Matrix<T> forward(const Batch& batch);
  // The tutorial's own form: one token, its keys and values added to the cache; logits (1, V).
  // Equal bits. Throws TapeError if the position is not the cache's size, the block is full, the
  // model has no such token, or the cache was made for another shape, was filled by another model
  // or holds a step that was cleared.
  Matrix<T> forward(std::uint32_t token, std::size_t position, GraphCache<T>& cache);

  struct Loss {
    Matrix<T> rows;  // (N, 1), nats
    Value<T> mean;   // weighted by the batch's weights
  };
  // Throws as forward() does, for a target that is no token and for rows without a weight.
  Loss loss(const Batch& batch);

  // From now on forward(batch) and loss(batch) drop out; a rate of 0 ends it. Not the pass of one
  // token. The stream's beginning is dropped out, and what attention and perceptron add to it.
  void set_dropout(const Dropout& dropout) { dropout_ = dropout; }

  // How many scalars loss() records for a batch of so many rows, whose longest sentence has
  // `longest` of them, with dropout or without: what Tape::reserve() wants to know. Pads and what
  // backward needs are counted.
  std::size_t scalars_of_step(std::size_t rows, std::size_t longest, bool drops_out) const;

  // Lets labels say logits@2[cat] instead of logits@2[17]. It must outlive the labels; null:
  // numbers.
  void name_tokens(const Tokenizer* tokenizer) { labels_.tokenizer = tokenizer; }

 private:
  explicit Gpt(const GptConfig& config);

  std::unique_ptr<ParameterLayout> layout_;
  LabelContext labels_{nullptr};
  Tape<T> tape_;
  Dropout dropout_;
  std::vector<std::uint32_t> ids_;  // of a batch: its tokens, then its positions
};

// Writes the model file. Throws FileError, NumericError.
template <class T>
void save_model(const std::string& path, const Gpt<T>& model, const Tokenizer& tokenizer,
                const std::string& training = "{}") {
  write_model(path, model.weights(), tokenizer, training);
}

}  // namespace glassbox
