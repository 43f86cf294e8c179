#include "infer/score.h"

#include <cmath>
#include <fstream>

#include "model/tutorial_json.h"
#include "tests/catch_compat.hpp"

using namespace glassbox;

namespace {

const std::string kGolden = GLASSBOX_GOLDEN_DIR;

}  // namespace

TEST_CASE("score: the tutorial's model gives each line of its text the tutorial's loss",
          "[infer][score]") {
  const Corpus corpus = Corpus::read(kGolden + "/tiny.txt");
  Decoder<double> model(
      read_tutorial_model(kGolden + "/tutorial-small-model.json", tutorial_tokenizer(corpus)));
  std::ifstream golden(kGolden + "/tutorial-small-eval.csv");
  std::string header;
  std::getline(golden, header);
  REQUIRE(header == "line,loss,tokens");
  std::size_t line = 0, tokens = 0, lines = 0;
  double loss = 0;
  char comma = 0;
  while (golden >> line >> comma >> loss >> comma >> tokens) {
    CAPTURE(line);
    REQUIRE(corpus.line_number(lines) == line);
    const auto sentence = model.tokenizer().encode_sentence(corpus[lines]);
    TextLoss score;
    score.add(log_probabilities(model, std::span<const TokenId>(sentence)));
    CHECK(score.tokens == tokens);
    CHECK(std::abs(score.loss() - loss) < 1e-12);
    ++lines;
  }
  CHECK(lines == corpus.size());
}

TEST_CASE("score: a model that knows nothing loses ln V a token", "[infer][score]") {
  const Tokenizer words = Tokenizer::from_words({"a", "b", "c"}, true, "test");
  Decoder<float> model(Model<float>{
      words,
      Weights<float>({.vocab_size = 4, .block_size = 3, .n_layer = 1, .n_head = 2, .n_embd = 8}),
      "{}"});
  const std::vector<TokenId> sentence{3, 0, 1, 2, 0, 3};  // two predictions more than the block has
  const std::vector<double> scores = log_probabilities(model, std::span<const TokenId>(sentence));
  REQUIRE(scores.size() == 3);
  for (const double score : scores) CHECK(std::abs(score + std::log(4.0)) < 1e-15);
}

TEST_CASE("score: where a model is almost sure, what is left of its doubt has all its digits",
          "[infer][score]") {
  Weights<double> weights(
      {.vocab_size = 4, .block_size = 3, .n_layer = 1, .n_head = 1, .n_embd = 4});
  const ParameterLayout& layout = weights.layout();
  const ParameterSpec &table = *layout.find("token_embedding"), &output = *layout.find("output");
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t word = 0; word < 4; ++word) weights.data()[table.index(word, c)] = 1;
    weights.data()[output.index(0, c)] = 7;  // a logit of about 28; the three others are 0
  }
  Decoder<double> model(
      Model<double>{Tokenizer::from_words({"a", "b", "c"}, true, "test"), weights.copy(), "{}"});
  const std::vector<TokenId> sentence{3, 0, 0};
  const double logit = model.logits(std::span<const TokenId>(sentence).first(1))[0];
  const double expected = -3 * std::exp(-logit);  // log1p(x) is x within x^2 / 2
  REQUIRE(logit > 27);
  for (const double score : log_probabilities(model, std::span<const TokenId>(sentence)))
    CHECK(std::abs(score / expected - 1) < 4e-12);
}
