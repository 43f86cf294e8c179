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
  require_keys(json, {"nLayer", "nEmbd", "nHead", "blockSize", "headDim", "vocabSize"}, where);
  const auto size = [&](const char* key) {
    const Json& value = require(json, key, Json::Kind::integer, "a whole number", where);
    if (value.integer() < 1) refuse(where + ": " + key, "at least 1", describe(&value));
    return static_cast<std::size_t>(value.integer());
  };
  GptConfig config;
  config.n_layer = size("nLayer");
  config.n_embd = size("nEmbd");
  config.n_head = size("nHead");
  config.block_size = size("blockSize");
  config.vocab_size = size("vocabSize");
  config.norm_epsilon = kNormEpsilon;
  const std::size_t head_dim = size("headDim");
  try {
    config.validate();
  } catch (const ConfigError& error) {
    throw FormatError(fmt::format("{}: {}", where, error.what()));
  }
  if (head_dim != config.head_dim()) {
    refuse(where + ": headDim", fmt::format("{} (nEmbd / nHead)", config.head_dim()),
           fmt::format("{}", head_dim));
  }
  return config;
}

}  // namespace

Tokenizer tutorial_tokenizer(const Corpus& corpus) {
  std::vector<std::string> words = Tokenizer::words(corpus).words();
  std::sort(words.begin(), words.end(), [](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return utf16_rank(x) < utf16_rank(y);
    });
  });
  return Tokenizer::from_words(std::move(words), corpus.lowercase(), corpus.name());
}

Model<double> read_tutorial_model(const std::string& path, Tokenizer tokenizer) {
  const Json json = Json::parse(read_file(path), path);
  require_keys(json, {"config", "weights"}, path);
  const GptConfig config = read_config(
      require(json, "config", Json::Kind::object, "an object", path), path + ": config");
  const auto& list = require(json, "weights", Json::Kind::array, "a list of numbers", path).array();
  if (list.size() != config.parameter_count()) {
    refuse(path + ": weights", fmt::format("{} numbers for this config", config.parameter_count()),
           fmt::format("{}", list.size()));
  }
  if (tokenizer.size() != config.vocab_size) {
    refuse(path + ": vocabSize",
           fmt::format("{}, the size of the vocabulary given (words and BOS)", tokenizer.size()),
           fmt::format("{}", config.vocab_size), "give the text that this model was trained on");
  }
  Model<double> model{std::move(tokenizer), Weights<double>(config), "{}"};
  std::size_t i = 0;
  for (const ParameterSpec& p : model.weights.layout().parameters()) {
    for (std::size_t row = 0; row < p.rows; ++row) {
      for (std::size_t col = 0; col < p.cols; ++col, ++i) {
        if (list[i].kind() != Json::Kind::number && list[i].kind() != Json::Kind::integer) {
          refuse(fmt::format("{}: weights[{}] ({}[{}][{}])", path, i, p.name, row, col), "a number",
                 describe(&list[i]));
        }
        model.weights.data()[p.index(row, col)] = list[i].number();
      }
    }
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
  JsonWriter json;
  json.begin_object().key("config").begin_object().member("nLayer", c.n_layer);
  json.member("nEmbd", c.n_embd).member("nHead", c.n_head).member("blockSize", c.block_size);
  json.member("headDim", c.head_dim()).member("vocabSize", c.vocab_size).end_object();
  json.key("weights").begin_array();
  for (const ParameterSpec& p : weights.layout->parameters()) {
    for (std::size_t row = 0; row < p.rows; ++row) {
      for (std::size_t col = 0; col < p.cols; ++col) {
        const double value = static_cast<double>(weights.data[p.index(row, col)]);
        if (!std::isfinite(value)) throw_non_finite(path, p.name, row, col, value);
        json.value(value);
      }
    }
  }
  write_file(path, json.end_array().end_object().take());
}

template void write_tutorial_model(const std::string&, WeightsView<float>);
template void write_tutorial_model(const std::string&, WeightsView<double>);

}  // namespace glassbox
