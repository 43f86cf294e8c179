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
    Score score;
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
