#include "model/extend_vocabulary.h"

#include "tests/catch_compat.hpp"

using namespace glassbox;

namespace {
using Words = std::vector<std::string>;

Model<double> model_of(Words words, std::optional<TokenId> unk = {}) {
  const GptConfig config{
      .vocab_size = words.size() + 1, .block_size = 4, .n_layer = 1, .n_head = 1, .n_embd = 2};
  Model<double> model{Tokenizer::from_words(std::move(words), true, "test", unk),
                      Weights<double>(config), "{}"};
  Random random(7);
  initialize_weights(model.weights.layout(), model.weights.data(), random);
  return model;
}
Words row(const Model<double>& model, TokenId id) {
  const ParameterSpec& table = *model.weights.layout().find("token_embedding");
  Words result;
  for (std::size_t col = 0; col < table.cols; ++col)
    result.push_back(std::to_string(model.weights.data()[table.index(id, col)]));
  return result;
}
}  // namespace

TEST_CASE("extend_vocabulary: an ordinary word <unk> becomes the token, with its id and its row",
          "[model][vocabulary]") {
  const auto before = model_of({"<unk>", "a", "b"});
  Random random(1);
  const auto after = extend_vocabulary(before, {"c"}, true, random);
  CHECK(after.tokenizer.words() == Words{"<unk>", "a", "b", "c"});
  CHECK(after.tokenizer.unk() == TokenId{0});
  CHECK(after.tokenizer.encode("b zebra c") == std::vector<TokenId>{2, 0, 3});
  for (TokenId id = 0; id < 3; ++id) CHECK(row(after, id) == row(before, id));
  CHECK(row(after, 4) == row(before, 3));  // BOS
}

TEST_CASE("extend_vocabulary: a <unk> that was the last word stays behind the new ones",
          "[model][vocabulary]") {
  const auto before = model_of({"a", "<unk>"}, 1);
  Random random(1);
  const auto after = extend_vocabulary(before, {"b"}, false, random);
  CHECK(after.tokenizer.words() == Words{"a", "b", "<unk>"});
  CHECK(after.tokenizer.unk() == TokenId{2});
  CHECK(row(after, 2) == row(before, 1));
  CHECK(row(after, 3) == row(before, 2));
}
