#include "inspect/logit_split.h"

#include <cmath>

#include "tests/catch_compat.hpp"
#include "tests/inspect/fixture.h"
#include "tests/support/small_models.h"

namespace glassbox {

TEST_CASE("logit_split: the parts add up to the logit within 1e-12 at every position and word",
          "[inspect][trace]") {
  Inspection inspection(inspected_model(), kSentence);
  for (std::size_t position = 0; position < inspection.positions(); ++position)
    for (TokenId word = 0; word < inspection.config().vocab_size; ++word) {
      const LogitSplit split = logit_split(inspection, position, word);
      CAPTURE(position, word, split.logit);
      REQUIRE(std::abs(split.sum - split.logit) <= 1e-12 * std::max(1.0, std::abs(split.logit)));
    }
}

TEST_CASE("logit_split: the parts add up and the last guess is the model's with a final norm, too",
          "[inspect][trace]") {
  const GptConfig config{.vocab_size = 21,
                         .block_size = 8,
                         .n_head = 2,
                         .n_embd = 8,
                         .activation = Activation::silu,
                         .final_norm = true};
  Inspection inspection(
      model_of(drawn_weights<double>(config, 12).view(), numbered_words(config.vocab_size)),
      "w1 w5 w2");
  const Matrix<double> logits = inspection.matrix(Stage::logits);
  for (std::size_t position = 0; position < inspection.positions(); ++position) {
    std::vector<double> all;
    for (TokenId word = 0; word < config.vocab_size; ++word) {
      const LogitSplit split = logit_split(inspection, position, word);
      REQUIRE(std::abs(split.sum - split.logit) <= 1e-12 * std::max(1.0, std::abs(split.logit)));
      all.push_back(logits.data(position, word));
    }
    const auto last = guesses_by_layer(inspection, position).back().probabilities;
    for (TokenId word = 0; word < config.vocab_size; ++word)
      REQUIRE(last[word] == Approx(softmax(all)[word]).epsilon(1e-12));
  }
}

TEST_CASE("logit_split: there is a part for both embeddings, every head and every MLP",
          "[inspect][trace]") {
  Inspection inspection(inspected_model(), kSentence);
  const LogitSplit split = logit_split(inspection, 2, 0);
  REQUIRE(split.parts.size() == 2 + 2 * (2 + 1));
  REQUIRE(split.parts[0].name == "token_embedding");
  REQUIRE(split.parts[3].name == "layers.0.attention head 1");
}

TEST_CASE("logit_split: a head whose output columns are zero contributes nothing",
          "[inspect][trace]") {
  auto model = inspected_model();
  const ParameterSpec& mix = *model.weights.layout().find("layers.0.attention.output");
  for (std::size_t r = 0; r < mix.rows; ++r)
    for (std::size_t c = 4; c < 8; ++c) model.weights.data()[mix.index(r, c)] = 0;  // head 1 of 2
  Inspection inspection(model, kSentence);
  const LogitSplit split = logit_split(inspection, 3, 5);
  REQUIRE(split.parts[2].amount != 0);
  REQUIRE(split.parts[3].amount == 0);
  REQUIRE(std::abs(split.sum - split.logit) <= 1e-12);
}

TEST_CASE("guesses_by_layer: the last is what the model says", "[inspect][trace]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto guesses = guesses_by_layer(inspection, 2);
  REQUIRE(guesses.size() == 3);
  std::vector<double> logits;
  for (TokenId w = 0; w < 21; ++w) logits.push_back(inspection.matrix(Stage::logits).data(2, w));
  const auto expected = softmax(logits);
  for (TokenId w = 0; w < 21; ++w) REQUIRE(guesses.back().probabilities[w] == Approx(expected[w]));
}

}  // namespace glassbox
