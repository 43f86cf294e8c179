#include "model/tutorial_json.h"

#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/catch_compat.hpp"
#include "tests/model/model_files.h"
#include "tests/support/error_message.h"

namespace glassbox {
namespace {

const std::string kGolden = GLASSBOX_GOLDEN_DIR;

Tokenizer tiny_words() { return tutorial_tokenizer(Corpus::read(kGolden + "/tiny.txt")); }

// What reading a file of that text throws, less its path. The shape has 2 * 3 + 1 + 12 = 19
// weights.
const std::string kShape =
    R"("config":{"nLayer":1,"nEmbd":1,"nHead":1,"blockSize":1,"headDim":1,"vocabSize":3})";
std::string weights_text(std::size_t count, const std::string& last) {
  std::string text = R"("weights":[)";
  for (std::size_t i = 1; i < count; ++i) text += "0.5,";
  return text + last + "]";
}
std::string told(const std::string& text) {
  return file_refusal(text, [](const std::string& path) {
    read_tutorial_model(path, Tokenizer::from_words({"a", "b"}, true, "test"));
  });
}
// The same of an object with these entries.
std::string told_of(const std::string& entries) { return told(std::string("{") + entries + "}"); }
std::string told_of_shape(std::string_view from, std::string_view to) {
  std::string shape = kShape;
  shape.replace(shape.find(from), from.size(), to);
  return told_of(shape + "," + weights_text(19, "1"));
}

TEST_CASE("tutorial JSON: the tutorial's own file is read weight by weight and written back",
          "[model][tutorial_json][golden]") {
  const auto model = read_tutorial_model(kGolden + "/tutorial-small-model.json", tiny_words());
  CHECK(model.config() ==
        GptConfig{.vocab_size = 47, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 8});
  const Json golden = Json::parse(read_file(kGolden + "/tutorial-small.json"), "golden");
  const auto& want = golden.find("finalWeights")->array();
  std::size_t i = 0;
  for (const ParameterSpec& p : model.weights.layout().parameters()) {
    for (std::size_t row = 0; row < p.rows; ++row) {
      for (std::size_t col = 0; col < p.cols; ++col, ++i) {
        REQUIRE(model.weights.data()[p.index(row, col)] == want[i].number());
      }
    }
  }
  const TemporaryFolder folder;
  write_tutorial_model(folder / "m.json", model.weights.view());
  const auto again = read_tutorial_model(folder / "m.json", tiny_words());
  CHECK(again.config() == model.config());
  const double* weights = model.weights.data();
  CHECK(std::equal(weights, weights + model.weights.layout().slab_size(), again.weights.data()));
}

TEST_CASE("tutorial JSON: a float is written as the double that it is", "[model][tutorial_json]") {
  Weights<float> weights(
      {.vocab_size = 3, .block_size = 1, .n_layer = 1, .n_head = 1, .n_embd = 1});
  for (std::size_t i = 0; i < weights.layout().slab_size(); ++i) weights.data()[i] = 0.1f;
  const TemporaryFolder folder;
  write_tutorial_model(folder / "m.json", weights.view());
  const std::string text = file_bytes(folder / "m.json");
  CHECK(text.starts_with("{" + kShape + R"(,"weights":[0.10000000149011612,0.10000000149011612,)"));
  CHECK(text.ends_with("2]}"));
}

TEST_CASE("tutorial JSON: words are sorted by UTF-16 units", "[model][tutorial_json]") {
  const Corpus corpus =
      Corpus::from_text("\xEF\xBD\x81 \xF0\x9F\x98\x80 b \xEE\x80\x80 \xC3\xA9 a ab", "test");
  CHECK(Tokenizer::words(corpus).words() == std::vector<std::string>{"a", "ab", "b", "\xC3\xA9",
                                                                     "\xEE\x80\x80", "\xEF\xBD\x81",
                                                                     "\xF0\x9F\x98\x80"});
  CHECK(tutorial_tokenizer(corpus).words() ==
        std::vector<std::string>{"a", "ab", "b", "\xC3\xA9", "\xF0\x9F\x98\x80", "\xEE\x80\x80",
                                 "\xEF\xBD\x81"});
}

TEST_CASE("tutorial JSON: a file that is not what it says is refused", "[model][tutorial_json]") {
  REQUIRE(told_of(kShape + "," + weights_text(19, "1")) == "accepted");
  REQUIRE(told_of(kShape + "," + weights_text(19, "-1.5e-300")) == "accepted");
  CHECK_THAT(told_of(kShape + "," + weights_text(18, "1")),
             text_contains("weights: expected 19 numbers for this config, found 18"));
  CHECK_THAT(
      told_of(kShape + "," + weights_text(19, "null")),
      text_contains("weights[18] (layers.0.mlp.output[0][3]): expected a number, found null"));
  CHECK_THAT(told_of(kShape + "," + weights_text(19, "\"1\"")), text_contains("found \"1\""));
  CHECK(told_of(kShape + "," + weights_text(19, "1e999")) != "accepted");
  CHECK(told_of(kShape + "," + weights_text(19, "NaN")) != "accepted");
  CHECK_THAT(told_of(kShape), text_contains("weights: expected a list of numbers, found nothing"));
  CHECK_THAT(told_of(weights_text(19, "1")),
             text_contains("config: expected an object, found nothing"));
  CHECK_THAT(told("[]"), text_contains("expected an object, found a list"));
  CHECK(told("") != "accepted");

  CHECK_THAT(told_of_shape("\"nLayer\":1,", ""),
             text_contains("config: nLayer: expected a whole number, found nothing"));
  CHECK_THAT(told_of_shape("\"nLayer\":1", "\"nLayer\":1.5"),
             text_contains("nLayer: expected a whole number"));
  CHECK_THAT(told_of_shape("\"nLayer\":1", "\"nLayer\":-1"),
             text_contains("nLayer: expected at least 1, found -1"));
  CHECK_THAT(told_of_shape("\"headDim\":1", "\"headDim\":2"),
             text_contains("headDim: expected 1 (nEmbd / nHead), found 2"));
  CHECK_THAT(told_of_shape("\"nHead\":1", "\"nHead\":2"),
             text_contains("config: n_head: expected a divisor"));
  CHECK_THAT(told_of_shape("\"nEmbd\":1", "\"nEmbd\":9223372036854775807"),
             text_contains("n_embd: expected at most"));
  CHECK_THAT(told_of_shape("\"vocabSize\":3", "\"vocabSize\":4"),
             text_contains("expected 21 numbers"));
}

TEST_CASE("tutorial JSON: a vocabulary of another size is refused with both numbers",
          "[model][tutorial_json]") {
  CHECK_THAT(
      error_message<FormatError>([] {
        read_tutorial_model(kGolden + "/tutorial-small-model.json",
                            Tokenizer::from_words({"a", "b"}, true, "test"));
      }),
      text_contains(
          "vocabSize: expected 3, the size of the vocabulary given (words and BOS), found 47"));
}

TEST_CASE("tutorial JSON: what the tutorial can't express is not written",
          "[model][tutorial_json]") {
  const TemporaryFolder folder;
  GptConfig config{.vocab_size = 3, .block_size = 1, .n_layer = 1, .n_head = 1, .n_embd = 1};
  Weights<double> weights(config);
  weights.data()[0] = std::numeric_limits<double>::infinity();
  CHECK_THAT(
      error_message<NumericError>([&] { write_tutorial_model(folder / "m", weights.view()); }),
      text_contains("m: token_embedding[0][0]: expected a finite number, found inf"));
  config.norm_epsilon = 1e-6;
  const Weights<double> other(config);
  CHECK_THAT(error_message<ConfigError>([&] { write_tutorial_model(folder / "m", other.view()); }),
             text_contains("m: norm_epsilon: expected 1e-05"));
  CHECK(folder.count() == 0);
}

}  // namespace
}  // namespace glassbox
