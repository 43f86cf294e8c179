#include "inspect/anomaly.h"

#include <cmath>
#include <limits>

#include "tests/catch_compat.hpp"
#include "tests/inspect/fixture.h"

namespace glassbox {

namespace {
Batch two_sentences(const Tokenizer& tokenizer) {
  const std::vector<std::vector<TokenId>> sentences = {tokenizer.encode_sentence("w1 w2"),
                                                       tokenizer.encode_sentence("w3 w4 w5")};
  return batch_of(sentences, 8);
}
double& weight(Model<double>& model, const char* name, std::size_t row, std::size_t col) {
  return model.weights.data()[model.weights.layout().find(name)->index(row, col)];
}
}  // namespace

TEST_CASE("find_anomaly: nothing in a sound model", "[inspect][anomaly]") {
  const auto model = inspected_model();
  Gpt<double> gpt(model.weights.view());
  REQUIRE(!find_anomaly(gpt, two_sentences(model.tokenizer)));
}

TEST_CASE("find_anomaly: a weight that is NaN is named itself", "[inspect][anomaly]") {
  auto model = inspected_model();
  weight(model, "layers.1.mlp.hidden", 3, 2) = std::nan("");
  Gpt<double> gpt(model.weights.view());
  const auto anomaly = find_anomaly(gpt, two_sentences(model.tokenizer));
  REQUIRE(anomaly);
  REQUIRE(anomaly->name == "layers.1.mlp.hidden[3][2]");
  REQUIRE(anomaly->op == "leaf");
}

TEST_CASE("find_anomaly: the first overflow forward, with its sentence and the operand that did it",
          "[inspect][anomaly]") {
  auto steep = inspected_model();
  for (std::size_t c = 0; c < 8; ++c) weight(steep, "layers.1.mlp.hidden", 6, c) = 1e300;
  for (std::size_t r = 0; r < 8; ++r) weight(steep, "layers.1.mlp.output", r, 6) = 1e300;
  Gpt<double> other(steep.weights.view());
  const auto found = find_anomaly(other, two_sentences(steep.tokenizer));
  REQUIRE(found);
  REQUIRE(!found->backward);
  REQUIRE_THAT(found->name, text_contains("layers.1.mlp.output@"));
  REQUIRE(found->op == "matmul");
  REQUIRE(found->sentence);
  REQUIRE(found->operands[0].data >= 1e299);
}

TEST_CASE("find_anomaly: a gradient that overflows although the loss is finite",
          "[inspect][anomaly]") {
  auto model = inspected_model();
  // Channel 3 of the stream is 0, so its huge weights leave the logits alone, but not what goes
  // back.
  for (std::size_t w = 0; w < 21; ++w) weight(model, "token_embedding", w, 3) = 0;
  for (std::size_t p = 0; p < 8; ++p) weight(model, "position_embedding", p, 3) = 0;
  for (const char* layer : {"layers.0.", "layers.1."}) {
    for (std::size_t c = 0; c < 8; ++c)
      weight(model, (std::string(layer) + "attention.output").c_str(), 3, c) = 0;
    for (std::size_t c = 0; c < 32; ++c)
      weight(model, (std::string(layer) + "mlp.output").c_str(), 3, c) = 0;
  }
  for (std::size_t c = 0; c < 8; ++c) weight(model, "layers.1.mlp.hidden", 6, c) = 0;  // closed
  weight(model, "output", 2, 3) = 1e200;
  weight(model, "layers.1.mlp.output", 3, 6) = 1e200;
  Gpt<double> gpt(model.weights.view());
  const auto anomaly = find_anomaly(gpt, two_sentences(model.tokenizer));
  REQUIRE(anomaly);
  REQUIRE(anomaly->backward);
  REQUIRE_THAT(anomaly->name, text_contains("layers.1.mlp.activation@"));
  REQUIRE_THAT(anomaly->name, text_contains("[6]"));
  REQUIRE(anomaly->from == "matmul layers.1.mlp.output");
  REQUIRE_THAT(anomaly->text(), text_contains("it came back through matmul layers.1.mlp.output"));
}

}  // namespace glassbox
