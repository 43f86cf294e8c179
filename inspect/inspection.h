// A model and one sentence, computed forward and backward in double, with every scalar at hand:
// what the functions of this folder look at. A float model is widened, so its weights are the same
// numbers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer.h"
#include "model/model_file.h"
#include "nn/gpt.h"

namespace glassbox {

class Inspection {
 public:
  // Throws VocabularyError for an unknown word, ConfigError for a sentence that the block cannot
  // hold.
  Inspection(const Model<double>& model, std::string_view sentence);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  const GptConfig& config() const { return gpt_.config(); }
  const ParameterLayout& layout() const { return gpt_.layout(); }
  Gpt<double>& gpt() { return gpt_; }
  Tape<double>& tape() { return gpt_.tape(); }
  const Batch& batch() const { return *batch_; }

  // Positions of the sentence, BOS at 0; each predicts what follows it.
  std::size_t positions() const { return batch_->rows(); }
  // The token at a position, and the one that follows, as words: "<bos>" at either end.
  std::string token(std::size_t position) const;
  std::string target(std::size_t position) const;

  // What the forward pass left: (positions, width of the stage).
  Matrix<double> matrix(Stage stage, std::size_t layer = 0);
  // The mean over the positions, in nats a token. backward() has been called from it.
  Value<double> loss() const { return loss_->mean; }
  double loss_at(std::size_t position) const { return loss_->rows.data(position, 0); }

  // Computes the loss again, from what the parameters are now. The values above stay as they were.
  double recompute_loss();

 private:
  Tokenizer tokenizer_;
  std::unique_ptr<Batch> batch_;
  Gpt<double> gpt_;
  std::unique_ptr<Gpt<double>::Loss> loss_;
};

// Of one row.
std::vector<double> softmax(const std::vector<double>& logits);
// Ids of the `count` largest, largest first; at a tie the lower id first.
std::vector<TokenId> likeliest_tokens(const std::vector<double>& values, std::size_t count);

}  // namespace glassbox
