#include "model/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/quote.h"
#include "model/format_error.h"

namespace glassbox {
namespace {

constexpr const char* kOther =
    "it cuts texts otherwise than glassbox: train one of your own with --tokenizer bpe";

bool is_null(const Json* json) { return json == nullptr || json->kind() == Json::Kind::null; }
bool is_false(const Json* json) {
  return is_null(json) || (json->kind() == Json::Kind::boolean && !json->boolean());
}
bool is_empty(const Json* json) {
  return is_null(json) || (json->kind() == Json::Kind::string && json->string().empty());
}
bool is_text(const Json* json, std::string_view text) {
  return json != nullptr && json->kind() == Json::Kind::string && json->string() == text;
}
bool is_object(const Json* json) { return json != nullptr && json->kind() == Json::Kind::object; }

const Json& member(const Json& object, const char* key, Json::Kind kind, const std::string& where,
                   const char* expected) {
  const Json* const found = object.find(key);
  if (found == nullptr || found->kind() != kind)
    throw format_error(where + ": " + key, expected, describe_json(found));
  return *found;
}

// What would make other tokens of a text than our encoding does.
void check_settings(const Json& file, const std::string& name) {
  const auto require = [&](bool is, const char* place, const char* expected, const Json* found) {
    if (!is) throw format_error(name + ": " + place, expected, describe_json(found), kOther);
  };
  const Json* const normalizer = file.find("normalizer");
  require(is_null(normalizer), "normalizer", "null", normalizer);
  const Json* const cut = file.find("pre_tokenizer");
  require(is_object(cut) && is_text(cut->find("type"), "ByteLevel"), "pre_tokenizer",
          "one of the type ByteLevel", is_object(cut) ? cut->find("type") : cut);
  const Json* const prefix = cut->find("add_prefix_space");
  require(is_false(prefix), "pre_tokenizer: add_prefix_space", "false", prefix);
  const Json* const regex = cut->find("use_regex");
  require(is_null(regex) || !is_false(regex), "pre_tokenizer: use_regex", "true", regex);
  const Json& model = *file.find("model");
  const Json* const type = model.find("type");
  require(is_null(type) || is_text(type, "BPE"), "model: type", "BPE", type);
  for (const char* key : {"fuse_unk", "byte_fallback", "ignore_merges"})
    require(is_false(model.find(key)), key, "false", model.find(key));
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    require(is_empty(model.find(key)), key, "null", model.find(key));
  require(is_null(model.find("dropout")), "model: dropout", "null", model.find("dropout"));
}

std::set<std::string_view> special_tokens(const Json& file, const std::string& name) {
  std::set<std::string_view> special;
  const Json* const added = file.find("added_tokens");
  if (is_null(added)) return special;
  if (added->kind() != Json::Kind::array)
    throw format_error(name + ": added_tokens", "a list", describe_json(added));
  for (const Json& token : added->array()) {
    const Json* const content = is_object(&token) ? token.find("content") : nullptr;
    if (content == nullptr || content->kind() != Json::Kind::string)
      throw format_error(name + ": added_tokens", "tokens with their content",
                         describe_json(&token));
    if (is_false(token.find("special")))
      throw format_error(name + ": added_tokens", "special tokens alone",
                         quotation(content->string()), kOther);
    special.insert(content->string());
  }
  return special;
}

}  // namespace

Tokenizer parse_tokenizer_json(std::string_view text, const std::string& name) {
  const Json file = Json::parse(text, name);
  if (!is_object(&file)) throw format_error(name, "an object", describe_json(&file));
  const Json& model = member(file, "model", Json::Kind::object, name, "an object");
  check_settings(file, name);
  const std::string where = name + ": model";
  const std::set<std::string_view> special = special_tokens(file, name);

  std::map<std::int64_t, std::string_view> by_id;
  const Json& vocabulary = member(model, "vocab", Json::Kind::object, where, "tokens with ids");
  for (const auto& [token, id] : vocabulary.object()) {
    if (id.kind() != Json::Kind::integer || id.integer() < 0)
      throw format_error(where + ": vocab: " + quotation(token), "an id", describe_json(&id));
    const auto [at, is_new] = by_id.emplace(id.integer(), token);
    if (!is_new)
      throw format_error(where + ": vocab: " + quotation(token), "an id of its own",
                         fmt::format("that of {}", quotation(at->second)));
  }
  std::vector<std::string> tokens;
  std::unordered_map<std::string_view, TokenId> ids;
  for (const auto& [id, token] : by_id) {
    if (special.contains(token)) continue;
    ids.emplace(token, static_cast<TokenId>(tokens.size()));
    tokens.emplace_back(token);
  }

  std::vector<Merge> merges;
  const Json& list = member(model, "merges", Json::Kind::array, where, "a list");
  for (const Json& merge : list.array()) {
    std::string_view left, right;  // "a b", or since 2024 ["a","b"]
    if (merge.kind() == Json::Kind::string) {
      const std::string_view both = merge.string();
      const std::size_t blank = std::min(both.find(' '), both.size());
      left = both.substr(0, blank);
      right = both.substr(std::min(blank + 1, both.size()));
    } else if (merge.kind() == Json::Kind::array && merge.array().size() == 2 &&
               std::ranges::all_of(merge.array(), [](const Json& token) {
                 return token.kind() == Json::Kind::string;
               })) {
      left = merge.array()[0].string();
      right = merge.array()[1].string();
    }
    const auto a = ids.find(left), b = ids.find(right);
    if (a == ids.end() || b == ids.end())
      throw format_error(where + ": merges", "two tokens of the vocabulary", describe_json(&merge));
    merges.emplace_back(a->second, b->second);
  }
  return Tokenizer::from_words(std::move(tokens), false, where, {}, "bpe", std::move(merges));
}

Tokenizer read_tokenizer_json(const std::string& path) {
  return parse_tokenizer_json(read_file(path), path);
}

std::string tokenizer_json(const Tokenizer& tokenizer) {
  if (!tokenizer.kind().exact || tokenizer.lowercase())
    throw ConfigError(
        fmt::format("tokenizer.json: expected byte-level BPE that keeps capital letters, found "
                    "the tokenizer {}; train a model with --tokenizer bpe",
                    tokenizer.kind().name));
  JsonWriter json;
  const auto byte_level = [&](const char* key) {
    json.key(key).begin_object().member("type", "ByteLevel").member("add_prefix_space", false);
    json.member("trim_offsets", true).member("use_regex", true).end_object();
  };
  json.begin_object().member("version", "1.0");
  json.key("truncation").null().key("padding").null();
  json.key("added_tokens").begin_array().begin_object().member("id", tokenizer.bos());
  json.member("content", tokenizer.word(tokenizer.bos())).member("single_word", false);
  json.member("lstrip", false).member("rstrip", false).member("normalized", false);
  json.member("special", true).end_object().end_array();
  json.key("normalizer").null();
  byte_level("pre_tokenizer");
  json.key("post_processor").null();
  byte_level("decoder");
  json.key("model").begin_object().member("type", "BPE").key("dropout").null();
  json.key("unk_token").null().key("continuing_subword_prefix").null();
  json.key("end_of_word_suffix").null().member("fuse_unk", false).member("byte_fallback", false);
  json.member("ignore_merges", false).key("vocab").begin_object();
  const auto& words = tokenizer.words();
  for (std::size_t id = 0; id < words.size(); ++id) json.member(words[id], id);
  json.end_object().key("merges").begin_array();
  for (const auto& [left, right] : tokenizer.merges()) json.value(words[left] + ' ' + words[right]);
  return json.end_array().end_object().end_object().take() + '\n';
}

}  // namespace glassbox
