#include "data/token_kinds.h"

#include "base/error.h"
#include "base/random.h"
#include "data/tokenizer.h"
#include "tests/support/error_message.h"

using namespace glassbox;

namespace {
using Words = std::vector<std::string>;

Tokenizer of(std::string_view text, std::string_view kind, const VocabularyConfig& config = {}) {
  return Tokenizer::of(Corpus::from_text(text, "text", {.lowercase = false}), kind, config);
}
Words marks_of(std::string_view text) {
  const Tokenizer tokenizer = of(text, "word-punct");
  Words words;
  for (const TokenId id : tokenizer.encode(text)) words.emplace_back(tokenizer.word(id));
  return words;
}
}  // namespace

TEST_CASE("word-punct: marks are tokens of their own, words keep their inner ones", "[data]") {
  CHECK(marks_of("\"Him,\" she said: don't! (It's 3.5 or 1,000.)") ==
        Words{"\"", "Him", ",", "\"", "she", "said", ":", "don't", "!", "(", "It's", "3.5", "or",
              "1,000", ".", ")"});
  CHECK(marks_of("wait... what?!") == Words{"wait", ".", ".", ".", "what", "?", "!"});
  CHECK(marks_of("the dogs' well-known $5 / 10%") == Words{"the", "dogs", "'", "well", "-", "known",
                                                           "$", "5", "<blank>", "/", "<blank>",
                                                           "10", "%"});
  CHECK(marks_of("a+b") == Words{"a", "<join>", "+", "<join>", "b"});
  CHECK(marks_of("猫。犬") == Words{"猫", "。", "犬"});
}

TEST_CASE("word-punct: the way back gives the text, whatever its marks", "[data]") {
  const std::string letters[] = {"a", "b",  "7",  " ",    " ",      ".", ",", "\"",
                                 "'", "(",  ")",  "-",    "—",      "«", "»", "„",
                                 "“", "”",  "…",  "’",    "!",      "@", "&", "+",
                                 "€", "。", "猫", "🙂", "\u0301", "<", ">", "<unk>"};
  Random random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text = "a";
    for (int i = 0; i < 12; ++i)
      text += letters[static_cast<std::size_t>(random.uniform() * std::size(letters))];
    const Corpus corpus = Corpus::from_text(text, "text", {.lowercase = false});
    const Tokenizer tokenizer = Tokenizer::of(corpus, "word-punct");
    REQUIRE(tokenizer.decode(tokenizer.encode(text)) == corpus[0]);
  }
}

TEST_CASE("word-punct: what is drawn is written as people write", "[data]") {
  const Tokenizer tokenizer = of("\" him , ( cat ) - ! you", "word-punct");
  Words words{"\"", "him", ",", "cat", "!", "\"", "(", "you", "-", "him", ")"};
  std::vector<TokenId> ids;
  for (const auto& word : words) ids.push_back(tokenizer.find(word));
  CHECK(tokenizer.decode(ids) == "\"him, cat!\" (you-him)");
}

TEST_CASE("word-punct: spacing that the vocabulary lacks is left as usual, a word is not",
          "[data]") {
  const Tokenizer tokenizer = of("you and him, too", "word-punct");
  CHECK(tokenizer.decode(tokenizer.encode("him ,you")) == "him, you");
  CHECK_THAT(error_message<VocabularyError>([&] { tokenizer.encode("him; you"); }),
             text_contains("found \";\""));
}

TEST_CASE("vocabulary: the rarest words become <unk>", "[data]") {
  const std::string_view text = "c c c b b a a x y";
  CHECK(of(text, "word", {.size = 2}).words() == Words{"a", "c", "<unk>"});
  CHECK(of(text, "word", {.min_count = 2}).words() == Words{"a", "b", "c", "<unk>"});
  CHECK(of(text, "word", {.size = 5}).words() == Words{"a", "b", "c", "x", "y"});
  CHECK_FALSE(of(text, "word", {.size = 5}).unk());
  CHECK(of(text, "word", {.unk = true}).words() == Words{"a", "b", "c", "x", "y", "<unk>"});
  CHECK(of(text, "char", {.size = 1}).words() == Words{" ", "<unk>"});
  const Tokenizer tokenizer = of(text, "word", {.size = 2});
  CHECK(tokenizer.unk() == TokenId{2});
  CHECK(tokenizer.decode(tokenizer.encode("a zebra c")) == "a <unk> c");
}

TEST_CASE("vocabulary: a word of the text that is spelled <unk> is that token where there is one",
          "[data]") {
  CHECK(of("<unk> a", "word").words() == Words{"<unk>", "a"});
  CHECK_FALSE(of("<unk> a", "word").unk());
  CHECK(of("<unk> a", "word", {.unk = true}).words() == Words{"a", "<unk>"});
  CHECK(of("<unk> a a b", "word", {.min_count = 2}).unk() == TokenId{1});
  CHECK(of("<unk> a", "word", {.size = 1}).unk() == TokenId{1});
}
