#include "model/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/quote.h"
#include "model/format_error.h"

namespace glassbox {
namespace {

constexpr const char* kVersionKey = "glassbox.format_version";
constexpr const char* kConfigKey = "glassbox.config";
constexpr const char* kTokenizerKey = "glassbox.tokenizer";
constexpr const char* kTrainingKey = "glassbox.training";
constexpr const char* kVersion = "1";
constexpr const char* kNewer = "this glassbox knows no other: use the one that wrote the file";
// Tensors beside the model's that other commands know.
constexpr const char* kReserved[] = {"optimizer.", "best.", "lora."};

std::string config_text(const GptConfig& c) {
  JsonWriter json;
  json.begin_object().member("n_layer", c.n_layer).member("n_embd", c.n_embd);
  json.member("n_head", c.n_head).member("block_size", c.block_size);
  json.member("vocab_size", c.vocab_size).member("activation", name_of(c.activation));
  json.member("norm_epsilon", c.norm_epsilon).member("tie_weights", false);
  if (c.final_norm) json.member("final_norm", true);  // else the file is the one of older versions
  return json.end_object().take();
}

std::string tokenizer_text(const Tokenizer& tokenizer) {
  JsonWriter json;
  json.begin_object()
      .member("kind", tokenizer.kind().name)
      .member("lowercase", tokenizer.lowercase());
  json.member("bos", tokenizer.bos()).key("unk");
  if (tokenizer.unk()) {
    json.value(*tokenizer.unk());
  } else {
    json.null();
  }
  json.key("tokens").values(tokenizer.words());
  if (tokenizer.kind().exact) {
    json.key("merges").begin_array();
    for (const auto& [left, right] : tokenizer.merges())
      json.value(tokenizer.words()[left] + ' ' + tokenizer.words()[right]);
    json.end_array();
  }
  // By line is what a file says nothing of, as before there were others.
  const Split split = tokenizer.reading().split;
  if (split != Split::line) json.member("split", name_of(split));
  return json.end_object().take();
}

const std::string& metadata(const SafetensorsReader& file, const char* key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    throw format_error(file.path() + ": " + key, "the metadata of a glassbox model", "nothing",
                       "the file is damaged or was written by another program");
  }
  return found->second;
}

GptConfig read_config(const SafetensorsReader& file) {
  const std::string where = file.path() + ": " + kConfigKey;
  const Json json = Json::parse(metadata(file, kConfigKey), where);
  const FileObject object(json, where,
                          {"n_layer", "n_embd", "n_head", "block_size", "vocab_size", "activation",
                           "norm_epsilon", "tie_weights", "final_norm"});
  GptConfig config{.vocab_size = object.size("vocab_size"),
                   .block_size = object.size("block_size"),
                   .n_layer = object.size("n_layer"),
                   .n_head = object.size("n_head"),
                   .n_embd = object.size("n_embd")};
  const Json* epsilon = json.find("norm_epsilon");
  if (epsilon == nullptr || !epsilon->is_number()) throw object.error("norm_epsilon", "a number");
  config.norm_epsilon = epsilon->number();
  constexpr Activation kKnown[] = {Activation::relu, Activation::gelu, Activation::silu};
  const std::string& activation =
      object.get("activation", Json::Kind::string, "relu, gelu or silu").string();
  const auto* const known =
      std::ranges::find_if(kKnown, [&](Activation each) { return activation == name_of(each); });
  if (known == std::end(kKnown)) throw object.error("activation", "relu, gelu or silu", kNewer);
  config.activation = *known;
  if (json.find("final_norm") != nullptr)
    config.final_norm = object.get("final_norm", Json::Kind::boolean, "true or false").boolean();
  if (object.get("tie_weights", Json::Kind::boolean, "false").boolean()) {
    throw object.error("tie_weights", "false",
                       "this glassbox can't tie weights: use the one that wrote the file");
  }
  validate_in_file(config, where);
  return config;
}

// "Ġ t" names the two tokens of a merge.
std::vector<Merge> read_merges(const Json::Array& list, const std::vector<std::string>& words,
                               const std::string& where) {
  std::unordered_map<std::string_view, TokenId> ids;
  for (const std::string& word : words) ids.emplace(word, static_cast<TokenId>(ids.size()));
  std::vector<Merge> merges;
  for (const Json& merge : list) {
    const std::string_view text =
        merge.kind() == Json::Kind::string ? std::string_view(merge.string()) : "";
    const std::size_t blank = std::min(text.find(' '), text.size());
    const auto left = ids.find(text.substr(0, blank));
    const auto right = ids.find(text.substr(std::min(blank + 1, text.size())));
    if (left == ids.end() || right == ids.end())
      throw format_error(where + ": merges", "two tokens with a blank between them",
                         describe_json(&merge));
    merges.emplace_back(left->second, right->second);
  }
  return merges;
}

Tokenizer read_tokenizer(const SafetensorsReader& file, const GptConfig& config) {
  const std::string where = file.path() + ": " + kTokenizerKey;
  const Json json = Json::parse(metadata(file, kTokenizerKey), where);
  const FileObject object(json, where,
                          {"kind", "lowercase", "bos", "unk", "tokens", "merges", "split"});
  const Json& kind = object.get("kind", Json::Kind::string, "a tokenizer's name");
  if (find_tokenizer_kind(kind.string()) == nullptr) {
    std::vector<std::string_view> names;
    for (const TokenizerKind& known : tokenizer_kinds()) names.emplace_back(known.name);
    throw object.error("kind", fmt::format("{}", fmt::join(names, " or ")), kNewer);
  }
  const bool lowercase = object.get("lowercase", Json::Kind::boolean, "true or false").boolean();
  std::vector<std::string> words;
  for (const Json& word : object.get("tokens", Json::Kind::array, "a list of words").array()) {
    if (word.kind() != Json::Kind::string) {
      throw format_error(where + ": tokens", "words", describe_json(&word));
    }
    words.push_back(word.string());
  }
  if (words.size() + 1 != config.vocab_size) {
    throw format_error(where + ": tokens",
                       fmt::format("{} words (vocab_size less BOS)", config.vocab_size - 1),
                       std::to_string(words.size()));
  }
  const auto bos = static_cast<std::int64_t>(words.size());
  if (object.get("bos", Json::Kind::integer, "a whole number").integer() != bos) {
    throw object.error("bos", fmt::format("{}, behind the last word", bos));
  }
  std::optional<TokenId> unk;
  const Json* const unk_id = json.find("unk");
  if (unk_id == nullptr || unk_id->kind() != Json::Kind::integer) {
    object.get("unk", Json::Kind::null, "null or an id");
  } else if (unk_id->integer() < 0 || unk_id->integer() >= bos) {
    throw object.error("unk", fmt::format("null or an id below {}", bos));
  } else {
    unk = static_cast<TokenId>(unk_id->integer());
  }
  std::optional<Split> split = Split::line;
  if (json.find("split") != nullptr) {
    const std::string expected = "line, sentence or window";
    split = find_split(object.get("split", Json::Kind::string, expected).string());
    if (!split) throw object.error("split", expected, kNewer);
  }
  std::vector<Merge> merges;
  if (json.find("merges") != nullptr || find_tokenizer_kind(kind.string())->exact)
    merges = read_merges(object.get("merges", Json::Kind::array, "a list of merges").array(), words,
                         where);
  return Tokenizer::from_words(std::move(words), lowercase, where, unk, kind.string(),
                               std::move(merges), *split);
}

// The tensor of that parameter, which must be there with its shape and that dtype.
const SafetensorsReader::Tensor& parameter(const SafetensorsReader& file, const std::string& name,
                                           const ParameterSpec& spec, const std::string& dtype) {
  const std::string where = file.path() + ": " + name;
  const SafetensorsReader::Tensor* tensor = file.find(name);
  if (tensor == nullptr) throw format_error(where, "a tensor of that name", "none");
  if (tensor->dtype != dtype) throw format_error(where, "dtype " + dtype, tensor->dtype);
  if (tensor->shape != std::vector<std::uint64_t>{spec.rows, spec.cols}) {
    throw format_error(where, fmt::format("shape [{}, {}]", spec.rows, spec.cols),
                       shape_text(tensor->shape));
  }
  return *tensor;
}

// Every parameter must be there, all in one precision, and nothing else but what is reserved.
void check_tensors(const SafetensorsReader& file, const ParameterLayout& layout,
                   const std::string& dtype) {
  for (const ParameterSpec& p : layout.parameters()) parameter(file, p.name, p, dtype);
  std::set<std::string_view> known;
  for (const ParameterSpec& p : layout.parameters()) known.insert(p.name);
  for (const auto& tensor : file.tensors()) {
    const bool reserved = std::ranges::any_of(
        kReserved, [&](const char* prefix) { return tensor.name.starts_with(prefix); });
    if (!reserved && !known.contains(tensor.name)) {
      throw format_error(file.path() + ": " + shortened(tensor.name),
                         "only the parameters of glassbox.config", "a tensor beside them");
    }
  }
}

template <class T>
Model<T> read(const SafetensorsReader& file, const GptConfig& config, Tokenizer tokenizer) {
  const auto training = file.metadata().find(kTrainingKey);
  Model<T> model{std::move(tokenizer), Weights<T>(config),
                 training == file.metadata().end() ? "{}" : training->second};
  read_parameters(file, "", model.weights.layout(), model.weights.data());
  return model;
}

template <class T, class U>
Model<T> convert(Model<U> model, const std::string& path) {
  Weights<T> weights = model.weights.template as<T>();
  const ParameterLayout& layout = weights.layout();
  for (std::size_t i = 0; i < layout.slab_size(); ++i) {
    if (!std::isfinite(weights.data()[i])) {
      throw format_error(path + ": " + layout.label(i), "a number that fits 32 bits",
                         json_number(model.weights.data()[i]), "use --precision double");
    }
  }
  return {std::move(model.tokenizer), std::move(weights), std::move(model.training)};
}

}  // namespace

template <class T>
void read_parameters(const SafetensorsReader& file, const std::string& prefix,
                     const ParameterLayout& layout, T* slab, NonFinite non_finite) {
  for (const ParameterSpec& p : layout.parameters()) {
    const std::string name = prefix + p.name;
    const std::string bytes = file.read(parameter(file, name, p, kDtype<T>));
    const char* next = bytes.data();
    p.for_each_element([&](std::size_t row, std::size_t col, std::size_t at) {
      slab[at] = from_little_endian<T>(next);
      next += sizeof(T);
      if (non_finite == NonFinite::refused && !std::isfinite(slab[at])) {
        throw format_error(fmt::format("{}: {}[{}][{}]", file.path(), name, row, col),
                           "a finite number", fmt::format("{}", slab[at]));
      }
    });
  }
}

template <class T>
void append_parameters(WeightsView<T> weights, const std::string& prefix, const std::string& where,
                       std::vector<TensorToWrite>& tensors, NonFinite non_finite) {
  for (const ParameterSpec& p : weights.layout->parameters()) {
    TensorToWrite tensor{prefix + p.name, kDtype<T>, {p.rows, p.cols}, ""};
    tensor.bytes.reserve(p.size() * sizeof(T));
    p.for_each_element([&](std::size_t row, std::size_t col, std::size_t at) {
      const T value = weights.data[at];
      if (non_finite == NonFinite::refused && !std::isfinite(value))
        throw_non_finite(where, tensor.name, row, col, value);
      append_little_endian(value, tensor.bytes);
    });
    tensors.push_back(std::move(tensor));
  }
}

std::map<std::string, std::string> model_metadata(const GptConfig& config,
                                                  const Tokenizer& tokenizer,
                                                  const std::string& training) {
  return {{kVersionKey, kVersion},
          {kConfigKey, config_text(config)},
          {kTokenizerKey, tokenizer_text(tokenizer)},
          {kTrainingKey, training}};
}

AnyModel read_model(const SafetensorsReader& file) {
  const std::string& path = file.path();
  const std::string& version = metadata(file, kVersionKey);
  if (version != kVersion) {
    throw format_error(path + ": " + kVersionKey, kVersion, quotation(version),
                       "a newer glassbox wrote the file: use that one");
  }
  const GptConfig config = read_config(file);
  Tokenizer tokenizer = read_tokenizer(file, config);
  // A layer takes memory even before its weights: believe in no more of them than there are
  // tensors.
  if (config.n_layer > file.tensors().size()) {
    throw format_error(path + ": " + kConfigKey + ": n_layer",
                       fmt::format("at most {} (the tensors in the file)", file.tensors().size()),
                       fmt::format("{}", config.n_layer));
  }
  const ParameterLayout layout(config);
  const SafetensorsReader::Tensor* first = file.find(layout.parameters().front().name);
  const bool doubles = first != nullptr && first->dtype == kDtype<double>;
  check_tensors(file, layout, doubles ? kDtype<double> : kDtype<float>);
  if (doubles) return read<double>(file, config, std::move(tokenizer));
  return read<float>(file, config, std::move(tokenizer));
}

AnyModel read_model(const std::string& path) { return read_model(SafetensorsReader(path)); }

AnyModel parse_model(std::string bytes, const std::string& path) {
  return read_model(SafetensorsReader(std::move(bytes), path));
}

template <class T>
Model<T> model_as(AnyModel any, const std::string& path) {
  if (Model<T>* same = std::get_if<Model<T>>(&any)) return std::move(*same);
  return std::visit([&](auto& model) { return convert<T>(std::move(model), path); }, any);
}

template <class T>
void write_model(const std::string& path, WeightsView<T> weights, const Tokenizer& tokenizer,
                 const std::string& training) {
  std::vector<TensorToWrite> tensors;
  append_parameters(weights, "", path, tensors);
  write_file(path, safetensors_bytes(std::move(tensors), model_metadata(weights.layout->config(),
                                                                        tokenizer, training)));
}

template Model<float> model_as(AnyModel, const std::string&);
template Model<double> model_as(AnyModel, const std::string&);
template void write_model(const std::string&, WeightsView<float>, const Tokenizer&,
                          const std::string&);
template void write_model(const std::string&, WeightsView<double>, const Tokenizer&,
                          const std::string&);
template void append_parameters(WeightsView<float>, const std::string&, const std::string&,
                                std::vector<TensorToWrite>&, NonFinite);
template void append_parameters(WeightsView<double>, const std::string&, const std::string&,
                                std::vector<TensorToWrite>&, NonFinite);
template void read_parameters(const SafetensorsReader&, const std::string&, const ParameterLayout&,
                              float*, NonFinite);
template void read_parameters(const SafetensorsReader&, const std::string&, const ParameterLayout&,
                              double*, NonFinite);

}  // namespace glassbox
