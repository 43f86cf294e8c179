#include "model/tokenizer_json.h"

#include "base/error.h"
#include "tests/support/error_message.h"

using namespace glassbox;

namespace {
Tokenizer small() {
  return Tokenizer::of(Corpus::from_text("the cat sat on the mat, the cat\n", "text",
                                         {.lowercase = false, .exact = true}),
                       "bpe", {.size = 266});
}
std::string changed(std::string_view from, std::string_view to) {
  std::string json = tokenizer_json(small());
  const std::size_t at = json.find(from);
  REQUIRE(at != std::string::npos);
  return json.replace(at, from.size(), to);
}
std::string refusal(std::string_view from, std::string_view to) {
  const std::string json = changed(from, to);
  return error_message<FormatError>([&] { parse_tokenizer_json(json, "t.json"); });
}
}  // namespace

TEST_CASE("tokenizer.json: what is written is read as the same tokenizer", "[model]") {
  const Tokenizer before = small();
  const Tokenizer after = parse_tokenizer_json(tokenizer_json(before), "t.json");
  CHECK(after.words() == before.words());
  CHECK(after.merges() == before.merges());
  CHECK(after.size() == before.size());
  CHECK(after.encode("the cats \xFF") == before.encode("the cats \xFF"));
}

TEST_CASE("tokenizer.json: merges as pairs, special tokens in front and a missing type are read",
          "[model]") {
  const Tokenizer before = small();
  std::string json = changed("\"type\":\"BPE\",", "");
  const auto replace = [&](std::string_view from, std::string_view to) {
    const std::size_t at = json.find(from);
    REQUIRE(at != std::string::npos);
    json.replace(at, from.size(), to);
  };
  const auto& [left, right] = before.merges()[0];
  const std::string a = before.words()[left], b = before.words()[right];
  replace('"' + a + ' ' + b + '"', "[\"" + a + "\",\"" + b + "\"]");
  const std::string last = before.words().back();
  replace("\"" + last + "\":" + std::to_string(before.size() - 2),
          "\"" + last + "\":400,\"<s>\":399");
  replace("\"added_tokens\":[",
          "\"added_tokens\":[{\"id\":399,\"content\":\"<s>\",\"special\":true},");
  const Tokenizer after = parse_tokenizer_json(json, "t.json");
  CHECK(after.words() == before.words());
  CHECK(after.merges() == before.merges());
}

TEST_CASE("tokenizer.json: what would cut texts otherwise is refused", "[model]") {
  CHECK_THAT(refusal("\"normalizer\":null", "\"normalizer\":{\"type\":\"NFC\"}"),
             text_contains("t.json: normalizer: expected null, found"));
  CHECK_THAT(refusal("\"add_prefix_space\":false", "\"add_prefix_space\":true"),
             text_contains("add_prefix_space: expected false, found true"));
  CHECK_THAT(refusal("\"use_regex\":true", "\"use_regex\":false"), text_contains("use_regex"));
  CHECK_THAT(refusal("{\"type\":\"ByteLevel\"", "{\"type\":\"Whitespace\""),
             text_contains("of the type ByteLevel, found \"Whitespace\""));
  CHECK_THAT(refusal("\"type\":\"BPE\"", "\"type\":\"WordPiece\""),
             text_contains("expected BPE, found \"WordPiece\""));
  CHECK_THAT(refusal("\"ignore_merges\":false", "\"ignore_merges\":true"),
             text_contains("ignore_merges"));
  CHECK_THAT(refusal("\"dropout\":null", "\"dropout\":0.1"), text_contains("dropout"));
  CHECK_THAT(refusal("\"special\":true", "\"special\":false"),
             text_contains("special tokens alone, found \"<bos>\""));
  CHECK_THAT(refusal("\"vocab\"", "\"words\""), text_contains("model: vocab: expected tokens"));
  CHECK_THAT(refusal("\"Ā\":0,", ""), text_contains("none for 0"));
  CHECK_THAT(refusal("\"ā\":1,", "\"ā\":0,"), text_contains("an id of its own"));
  CHECK_THAT(refusal("\"merges\":[", "\"merges\":[\"zz a\","), text_contains("two tokens"));
  CHECK_THAT(error_message<FormatError>([] { parse_tokenizer_json("[]", "t.json"); }),
             text_contains("t.json: expected an object"));
}

TEST_CASE("tokenizer.json: only byte-level BPE is written", "[model]") {
  const Tokenizer words = Tokenizer::words(Corpus::from_text("a b", "text"));
  CHECK_THAT(error_message<ConfigError>([&] { tokenizer_json(words); }),
             text_contains("found the tokenizer word"));
}
