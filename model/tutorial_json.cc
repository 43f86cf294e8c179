#include "model/tutorial_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "model/format_error.h"

namespace glassbox {
namespace {

constexpr double kNormEpsilon = 1e-5;  // the tutorial's; its file does not say it

// A UTF-8 byte's place in UTF-16's order: U+E000 to U+FFFF begin with 0xEE or 0xEF and go behind
// the surrogate pairs, which begin with 0xF0 to 0xF4. No other byte of UTF-8 has these values.
unsigned utf16_rank(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0xEE || byte == 0xEF ? byte + 0x10u : byte;
}

GptConfig read_config(const Json& json, const std::string& where) {
  const FileObject object(json, where,
                          {"nLayer", "nEmbd", "nHead", "blockSize", "headDim", "vocabSize"});
  const GptConfig config{.vocab_size = object.size("vocabSize"),
                         .block_size = object.size("blockSize"),
                         .n_layer = object.size("nLayer"),
                         .n_head = object.size("nHead"),
                         .n_embd = object.size("nEmbd"),
                         .norm_epsilon = kNormEpsilon};
  validate_in_file(config, where);
  if (object.size("headDim") != config.head_dim()) {
    throw object.error("headDim", fmt::format("{} (nEmbd / nHead)", config.head_dim()));
  }
  return config;
}

}  // namespace

Tokenizer tutorial_tokenizer(const Corpus& corpus) {
  std::vector<std::string> words = Tokenizer::words(corpus).words();
  std::ranges::sort(words, [](const std::string& a, const std::string& b) {
    return std::ranges::lexicographical_compare(a, b, {}, utf16_rank, utf16_rank);
  });
  return Tokenizer::from_words(std::move(words), corpus.lowercase(), corpus.name());
}

Model<double> read_tutorial_model(const std::string& path, Tokenizer tokenizer) {
  const Json json = Json::parse(read_file(path), path);
  const FileObject file(json, path, {"config", "weights"});
  const GptConfig config =
      read_config(file.get("config", Json::Kind::object, "an object"), path + ": config");
  const auto& list = file.get("weights", Json::Kind::array, "a list of numbers").array();
  if (list.size() != config.parameter_count()) {
    throw format_error(path + ": weights",
                       fmt::format("{} numbers for this config", config.parameter_count()),
                       std::to_string(list.size()));
  }
  if (tokenizer.size() != config.vocab_size) {
    throw format_error(
        path + ": vocabSize",
        fmt::format("{}, the size of the vocabulary given (words and BOS)", tokenizer.size()),
        std::to_string(config.vocab_size), "give the text that this model was trained on");
  }
  Model<double> model{std::move(tokenizer), Weights<double>(config), "{}"};
  std::size_t i = 0;
  for (const ParameterSpec& p : model.weights.layout().parameters()) {
    p.for_each_element([&](std::size_t row, std::size_t col, std::size_t at) {
      const Json& weight = list[i];
      if (!weight.is_number()) {
        throw format_error(fmt::format("{}: weights[{}] ({}[{}][{}])", path, i, p.name, row, col),
                           "a number", describe_json(&weight));
      }
      model.weights.data()[at] = weight.number();
      ++i;
    });
  }
  return model;
}

template <class T>
void write_tutorial_model(const std::string& path, WeightsView<T> weights) {
  const GptConfig& c = weights.layout->config();
  if (c.norm_epsilon != kNormEpsilon) {
    throw ConfigError(
        fmt::format("{}: norm_epsilon: expected 1e-05, the only one that the tutorial "
                    "knows, found {}; write a .safetensors file instead",
                    path, json_number(c.norm_epsilon)));
  }
  if (!c.is_tutorials()) {
    throw ConfigError(
        fmt::format("{}: expected relu and no final norm, the only model that the tutorial knows, "
                    "found {}{}; write a .safetensors file instead",
                    path, name_of(c.activation), c.final_norm ? " and a final norm" : ""));
  }
  JsonWriter json;
  json.begin_object().key("config").begin_object().member("nLayer", c.n_layer);
  json.member("nEmbd", c.n_embd).member("nHead", c.n_head).member("blockSize", c.block_size);
  json.member("headDim", c.head_dim()).member("vocabSize", c.vocab_size).end_object();
  json.key("weights").begin_array();
  for (const ParameterSpec& p : weights.layout->parameters()) {
    p.for_each_element([&](std::size_t row, std::size_t col, std::size_t at) {
      const double value = static_cast<double>(weights.data[at]);
      if (!std::isfinite(value)) throw_non_finite(path, p.name, row, col, value);
      json.value(value);
    });
  }
  write_file(path, json.end_array().end_object().take());
}

template void write_tutorial_model(const std::string&, WeightsView<float>);
template void write_tutorial_model(const std::string&, WeightsView<double>);

}  // namespace glassbox
