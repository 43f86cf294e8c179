// What is wrong with the model inside a sound container: rules 16 to 20 of docs/formats.md, which
// numbers them; and what a sound one promises. Rules 1 to 15, 21 and 22 are in safetensors_test.cc.
#include "model/model_file.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "tests/catch_compat.hpp"
#include "tests/model/model_files.h"
#include "tests/support/error_message.h"

namespace glassbox {
namespace {

// A file of the tiny model with a piece of its header replaced.
std::string told(std::string_view from, std::string_view to) {
  return model_error(edited(tiny_model_file<float>(), from, to));
}
// Places of the tiny model's header, as JSON text within a JSON text.
std::string quoted(const char* key) { return std::string("\\\"") + key + "\\\":"; }

// The offset of a tensor's first number in the file.
std::size_t place(const std::string& file, const std::string& tensor) {
  const TemporaryFolder folder;
  put_file(folder / "x", file);
  const SafetensorsReader reader(folder / "x");
  return 8 + from_little_endian<std::uint64_t>(file.data()) + reader.find(tensor)->begin;
}

TEST_CASE("model file: what was written is read, bit for bit, in float and in double",
          "[model][model_file]") {
  const auto check = [](auto zero, const GptConfig& config) {
    using T = decltype(zero);
    Weights<T> weights(config);
    Random random(3);
    initialize_weights(weights.layout(), weights.data(), random);
    weights.data()[0] = T(-0.0);
    weights.data()[1] = std::numeric_limits<T>::denorm_min();
    weights.data()[2] = std::numeric_limits<T>::max();
    std::vector<std::string> words;
    for (std::size_t i = 0; i + 1 < config.vocab_size; ++i) words.push_back(std::to_string(i));
    words[0] = "\"\\\xC3\xA9\x7F";
    const TemporaryFolder folder;
    const std::string training = R"({ "steps": 3,"note":"a \"b\"" })";  // kept as it is
    write_model(folder / "m", weights.view(), Tokenizer::from_words(words, false, "test"),
                training);
    const auto model = std::get<Model<T>>(read_model(folder / "m"));
    CHECK(model.config() == config);
    CHECK(model.tokenizer.words() == words);
    CHECK_FALSE(model.tokenizer.lowercase());
    CHECK(model.training == training);
    for (std::size_t i = 0; i < weights.layout().slab_size(); ++i) {
      REQUIRE(model.weights.data()[i] == weights.data()[i]);
    }
    CHECK(std::signbit(model.weights.data()[0]));
    // Loading and saving changes no byte.
    write_model(folder / "again", model.weights.view(), model.tokenizer, model.training);
    CHECK(file_bytes(folder / "again") == file_bytes(folder / "m"));
  };
  const GptConfig odd{.vocab_size = 19,
                      .block_size = 3,
                      .n_layer = 2,
                      .n_head = 3,
                      .n_embd = 9,
                      .norm_epsilon = 1e-6};
  check(1.0f, {.vocab_size = 47});
  check(1.0f, odd);
  check(1.0, odd);
}

TEST_CASE("model file: its header says what docs/formats.md says", "[model][model_file]") {
  const std::string file = tiny_model_file<float>();
  CHECK_THAT(
      file,
      text_contains(
          R"({"__metadata__":{"glassbox.config":"{\"n_layer\":1,\"n_embd\":2,\"n_head\":1,)"
          R"(\"block_size\":2,\"vocab_size\":3,\"activation\":\"relu\",\"norm_epsilon\":1e-05,)"
          R"(\"tie_weights\":false}","glassbox.format_version":"1","glassbox.tokenizer":)"
          R"("{\"kind\":\"word\",\"lowercase\":true,\"bos\":2,\"unk\":null,)"
          R"(\"tokens\":[\"a\",\"b\"]}","glassbox.training":"{\"seed\":7}"},)"
          R"("layers.0.attention.key":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"));
  CHECK_THAT(file, text_contains(R"("layers.0.mlp.hidden":{"dtype":"F32","shape":[8,2],)"));
  CHECK_THAT(file, text_contains(R"("layers.0.mlp.output":{"dtype":"F32","shape":[2,8],)"));
  CHECK_THAT(tiny_model_file<double>(), text_contains(R"("output":{"dtype":"F64","shape":[3,2],)"));
  CHECK(file == tiny_model_file<float>());
}

TEST_CASE("model file: 1 is 00 00 80 3F and 00 00 00 00 00 00 F0 3F, row by row as outputs",
          "[model][model_file]") {
  std::string file = tiny_model_file<float>();
  file.replace(place(file, "layers.0.mlp.hidden") + 4 * (7 * 2 + 1), 4, {"\0\0\x80\x3F", 4});
  std::string wide = tiny_model_file<double>();
  wide.replace(place(wide, "layers.0.mlp.hidden") + 8 * (7 * 2 + 1), 8,
               {"\0\0\0\0\0\0\xF0\x3F", 8});
  const TemporaryFolder folder;
  put_file(folder / "float", file);
  put_file(folder / "double", wide);
  const auto floats = std::get<Model<float>>(read_model(folder / "float"));
  const auto doubles = std::get<Model<double>>(read_model(folder / "double"));
  const std::size_t i = floats.weights.layout().find("layers.0.mlp.hidden")->index(7, 1);
  CHECK(floats.weights.data()[i] == 1.0f);
  CHECK(doubles.weights.data()[i] == 1.0);
}

TEST_CASE("model file: the other precision is rounded or widened, and refused if it does not fit",
          "[model][model_file]") {
  const TemporaryFolder folder;
  std::string wide = tiny_model_file<double>();
  put_file(folder / "m", wide);
  const auto doubles = read_model_as<double>(folder / "m");
  const auto floats = read_model_as<float>(folder / "m");
  CHECK(floats.training == doubles.training);
  CHECK(floats.weights.data()[0] == static_cast<float>(doubles.weights.data()[0]));
  put_file(folder / "m", tiny_model_file<float>());
  CHECK(read_model_as<double>(folder / "m").weights.data()[0] == floats.weights.data()[0]);
  std::string big;
  append_little_endian(1e300, big);
  put_file(folder / "m", wide.replace(place(wide, "output") + 8 * 3, 8, big));
  CHECK_THAT(error_message<FormatError>([&] { read_model_as<float>(folder / "m"); }),
             text_contains("m: output[1][1]: expected a number that fits 32 bits, found 1e+300"));
  CHECK_NOTHROW(read_model_as<double>(folder / "m"));
}

TEST_CASE("model file rule 16: missing and surplus tensors are refused", "[model][model_file]") {
  CHECK_THAT(told("\"layers.0.mlp.hidden\"", "\"layers.0.mlp.hiding\""),
             text_contains("layers.0.mlp.hidden: expected a tensor of that name, found none"));
  const std::string empty = R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"output":)";
  CHECK_THAT(told("\"output\":", "\"outputs" + empty),
             text_contains("outputs: expected only the parameters of glassbox.config"));
  for (const char* name : {"optimizer.m.output", "best.output", "lora.output.a"}) {
    CHECK(told("\"output\":", "\"" + std::string(name) + empty) == "accepted");
  }
}

TEST_CASE("model file rule 17: a wrong shape or dtype is refused", "[model][model_file]") {
  CHECK_THAT(told(R"("shape":[8,2])", R"("shape":[2,8])"),
             text_contains("layers.0.mlp.hidden: expected shape [8, 2], found [2, 8]"));
  CHECK_THAT(told(R"("shape":[8,2])", R"("shape":[16])"), text_contains("found [16]"));
  CHECK_THAT(told(R"(F32","shape":[8,2])", R"(I32","shape":[8,2])"),
             text_contains("layers.0.mlp.hidden: expected dtype F32, found I32"));
  CHECK_THAT(told(R"(F32","shape":[8,2])", R"(F64","shape":[4,2])"),
             text_contains("layers.0.mlp.hidden: expected dtype F32, found F64"));
}

TEST_CASE("model file rule 18: numbers that are not finite are neither read nor written",
          "[model][model_file]") {
  const auto check = [](auto value, const char* name) {
    using T = decltype(value);
    std::string bytes, file = tiny_model_file<T>();
    append_little_endian(value, bytes);
    file.replace(place(file, "layers.0.mlp.output") + 13 * sizeof(T), sizeof(T), bytes);
    CHECK_THAT(model_error(file), text_contains("layers.0.mlp.output[1][5]: expected a finite "
                                                "number, found " +
                                                std::string(name)));

    Weights<T> weights({.vocab_size = 3, .block_size = 2, .n_layer = 1, .n_head = 1, .n_embd = 2});
    weights.data()[weights.layout().find("layers.0.mlp.output")->index(1, 5)] = value;
    const TemporaryFolder folder;
    put_file(folder / "m", "old");
    CHECK_THAT(error_message<NumericError>([&] {
                 write_model(folder / "m", weights.view(),
                             Tokenizer::from_words({"a", "b"}, true, "test"), "{}");
               }),
               text_contains("m: layers.0.mlp.output[1][5]: expected a finite number, found " +
                             std::string(name)));
    CHECK(file_bytes(folder / "m") == "old");
  };
  check(std::numeric_limits<float>::quiet_NaN(), "nan");
  check(-std::numeric_limits<float>::infinity(), "-inf");
  check(std::numeric_limits<double>::quiet_NaN(), "nan");
  check(std::numeric_limits<double>::infinity(), "inf");
}

TEST_CASE("model file rule 19: a config that is missing, newer or impossible is refused",
          "[model][model_file]") {
  CHECK_THAT(model_error(container("{}")),
             text_contains("glassbox.format_version: expected the "
                           "metadata of a glassbox model, found nothing"));
  CHECK_THAT(told("glassbox.config", "glassbox.konfig"),
             text_contains("glassbox.config: expected"));
  CHECK_THAT(told("\"1\"", "\"2\""),
             text_contains("glassbox.format_version: expected 1, found \"2\"; a newer"));
  const struct {
    const char *key, *from, *to, *told;
  } cases[] = {
      {"n_head", "1", "0", "n_head: expected at least 1, found 0"},
      {"n_head", "1", "3", "n_head: expected a divisor of n_embd (2), found 3"},
      {"n_head", "1", "2147483648", "n_head: expected at most"},
      {"n_head", "1", "-1", "n_head: expected at least 1, found -1"},
      {"n_head", "1", "1e308", "n_head: expected a whole number, found the number 1e+308"},
      {"n_head", "1", "1e999", "glassbox.config: expected JSON"},
      {"n_head", "1", "true", "n_head: expected a whole number, found true"},
      {"n_layer", "1", "8000000", "n_layer: expected at most 9"},
      {"n_layer", "1", "2", "layers.1.attention.query: expected a tensor of that name"},
      {"n_embd", "2", "9223372036854775807", "n_embd: expected at most"},
      {"block_size", "2", "4", "position_embedding: expected shape [4, 2], found [2, 2]"},
      {"activation", "\\\"relu\\\"", "\\\"tanh\\\"",
       "activation: expected relu, gelu or silu, found \"tanh\""},
      {"tie_weights", "false", "true", "tie_weights: expected false, found true"},
      {"norm_epsilon", "1e-05", "0", "norm_epsilon: expected a number above 0, found 0"},
      {"norm_epsilon", "1e-05", "null", "norm_epsilon: expected a number, found null"},
  };
  for (const auto& c : cases) {
    CHECK_THAT(told(quoted(c.key) + c.from, quoted(c.key) + c.to), text_contains(c.told));
  }
  CHECK_THAT(told("n_head", "n_hed"), text_contains("glassbox.config: expected only n_layer, "));
  CHECK_THAT(told(quoted("n_head") + "1,", ""),
             text_contains("n_head: expected a whole number, found nothing"));
  CHECK_THAT(told(R"("{\"n_layer)", R"("[{\"n_layer)"),
             text_contains("glassbox.config: expected JSON"));
}

TEST_CASE("model file rule 20: a vocabulary that is odd or does not fit is refused",
          "[model][model_file]") {
  const std::string tokens = quoted("tokens") + R"([\"a\",\"b\"])";
  const auto list = [&](const char* words) { return told(tokens, quoted("tokens") + words); };
  CHECK_THAT(
      list(R"([\"a\"])"),
      text_contains("glassbox.tokenizer: tokens: expected 2 words (vocab_size less BOS), found 1"));
  CHECK_THAT(list(R"([\"a\",\"b\",\"c\"])"), text_contains("found 3"));
  CHECK_THAT(list(R"([\"a\",7])"), text_contains("tokens: expected words, found 7"));
  for (const char* words : {R"([\"a\",\"a\"])", R"([\"a\",\"\"])", R"([\"a\",\"b c\"])"}) {
    CHECK_THAT(list(words), text_contains("glassbox.tokenizer: "));
  }
  CHECK_THAT(told(quoted("bos") + "2", quoted("bos") + "1"),
             text_contains("bos: expected 2, behind the last word, found 1"));
  CHECK_THAT(told(quoted("unk") + "null", quoted("unk") + "1"),
             text_contains("glassbox.tokenizer: expected <unk> as token 1, found \"b\""));
  CHECK_THAT(told(quoted("unk") + "null", quoted("unk") + "2"),
             text_contains("unk: expected null or an id below 2, found 2"));
  CHECK_THAT(told(quoted("unk") + "null", quoted("unk") + "true"),
             text_contains("unk: expected null or an id, found true"));
  CHECK_THAT(told(R"(\"word\")", R"(\"syllable\")"),
             text_contains("kind: expected word or word-punct or char or bpe, found \"syllable\""));
  CHECK_THAT(told(R"(\"word\")", R"(\"bpe\")"),
             text_contains("merges: expected a list of merges, found nothing"));
  CHECK_THAT(told(tokens, R"(\"merges\":[\"a b\"],)" + tokens),
             text_contains("expected no merges of the tokenizer word, found 1"));
  CHECK_THAT(told(tokens, R"(\"merges\":[\"a c\"],)" + tokens),
             text_contains("merges: expected two tokens with a blank between them, found \"a c\""));
  CHECK_THAT(told("glassbox.tokenizer", "glassbox.tokeniser"),
             text_contains("glassbox.tokenizer: expected the metadata"));
}

TEST_CASE("model file: other programs' metadata is passed over", "[model][model_file]") {
  CHECK(told("\"glassbox.format_version\"", "\"format\":\"pt\",\"glassbox.format_version\"") ==
        "accepted");
  CHECK(told("glassbox.training", "else.training") == "accepted");
}

TEST_CASE("model file: a checkpoint's further weights are written and read under a prefix",
          "[model][model_file]") {
  Weights<double> weights(
      {.vocab_size = 3, .block_size = 2, .n_layer = 1, .n_head = 1, .n_embd = 2});
  Random random(5);
  initialize_weights(weights.layout(), weights.data(), random);
  std::vector<TensorToWrite> tensors;
  append_parameters(weights.view(), "best.", "x", tensors);
  const TemporaryFolder folder;
  put_file(folder / "x", safetensors_bytes(std::move(tensors), {}));
  Weights<double> again(weights.config());
  const SafetensorsReader reader(folder / "x");
  read_parameters(reader, "best.", again.layout(), again.data());
  CHECK(std::equal(again.data(), again.data() + again.layout().slab_size(), weights.data()));
  CHECK_THAT(error_message<FormatError>(
                 [&] { read_parameters(reader, "optimizer.m.", again.layout(), again.data()); }),
             text_contains("optimizer.m.token_embedding: expected a tensor of that name"));
}

}  // namespace
TEST_CASE("model file: activation and final norm are in the file and come back from it",
          "[model][model_file]") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::silu})
    for (const bool final_norm : {false, true}) {
      const GptConfig config{.vocab_size = 4,
                             .block_size = 2,
                             .n_layer = 1,
                             .n_head = 1,
                             .n_embd = 2,
                             .activation = activation,
                             .final_norm = final_norm};
      const Weights<float> weights(config);
      write_model(path, weights.view(), Tokenizer::from_words({"a", "b", "c"}, true, "test"), "{}");
      CHECK(read_model_as<float>(path).config() == config);
      CHECK((read_file(path).find("final_norm") != std::string::npos) == final_norm);
    }
}

}  // namespace glassbox
