#include "data/tokenizer.h"

#include "base/error.h"
#include "tests/support/error_message.h"

using namespace glassbox;

namespace {
Tokenizer of(std::string_view text, const CorpusOptions& options = {}) {
  return Tokenizer::words(Corpus::from_text(text, "text", options));
}
using Words = std::vector<std::string>;
using Ids = std::vector<TokenId>;
}  // namespace

TEST_CASE("Tokenizer: the golden text has 46 words and BOS", "[data][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::words(Corpus::read(GLASSBOX_GOLDEN_DIR "/tiny.txt"));
  CHECK(tokenizer.size() == 47);
  CHECK(tokenizer.bos() == 46);
}

TEST_CASE("Tokenizer: ids follow code points, beyond U+FFFF too, and BOS is last",
          "[data][tokenizer]") {
  // By UTF-16 units U+1F431 would come before U+FF5E.
  const Tokenizer tokenizer = of("ä ～ 🐱 z\nzz a, a");
  CHECK(tokenizer.words() == Words{"a", "a,", "z", "zz", "ä", "～", "🐱"});
  CHECK(tokenizer.bos() == 7);
  CHECK(tokenizer.word(7) == "<bos>");
  CHECK(tokenizer.word(6) == "🐱");
}

TEST_CASE("Tokenizer: the order of the lines does not change the ids", "[data][tokenizer]") {
  CHECK(of("the cat\na dog").words() == of("a dog\nthe cat\n\nthe dog").words());
}

TEST_CASE("Tokenizer folds what it encodes as the corpus was folded", "[data][tokenizer]") {
  const Tokenizer tokenizer = of("the cat sat");
  CHECK(tokenizer.encode(" \xEF\xBB\xBFThe\tCAT\xC2\xA0sat\r\n") == Ids{2, 0, 1});
  CHECK(tokenizer.encode_sentence("THE cat") == Ids{3, 2, 0, 3});
  CHECK(tokenizer.encode("").empty());
  CHECK(tokenizer.encode_sentence(" ") == Ids{3, 3});
}

TEST_CASE("Tokenizer tells capitals apart if the corpus kept them", "[data][tokenizer]") {
  const Tokenizer tokenizer = of("The the", {.lowercase = false});
  CHECK(tokenizer.words() == Words{"The", "the"});
  CHECK(tokenizer.encode("the The") == Ids{1, 0});
  CHECK(error_message<VocabularyError>([&] { tokenizer.encode("THE"); }) ==
        "expected words that the model knows, found \"THE\"; "
        "use others or train on text that has them");
}

TEST_CASE("Tokenizer names every unknown word once and drops none", "[data][tokenizer]") {
  const Tokenizer tokenizer = of("the cat");
  CHECK_THAT(
      error_message<VocabularyError>([&] { tokenizer.encode("the zebraxyz \x1b Zebraxyz gnu"); }),
      text_contains("found \"zebraxyz\", \"\\u001b\", \"gnu\";"));
  CHECK(tokenizer.find("zebraxyz") == tokenizer.size());
  CHECK(tokenizer.find("cat") == 0);
}

TEST_CASE("Tokenizer: no text becomes BOS, not even its spelling", "[data][tokenizer]") {
  CHECK_THROWS_AS(of("the cat").encode("<bos>"), VocabularyError);
  const Tokenizer tokenizer = of("a <bos>");
  CHECK(tokenizer.encode("<bos>") == Ids{0});
  CHECK(tokenizer.bos() == 2);
}

TEST_CASE("Tokenizer refuses to encode invalid UTF-8", "[data][tokenizer]") {
  CHECK_THAT(error_message<FormatError>([] { of("a").encode("a \xC3"); }),
             text_contains("found the byte 0xC3 at byte 2"));
}

TEST_CASE("Tokenizer: decode joins words by single blanks without BOS", "[data][tokenizer]") {
  const Tokenizer tokenizer = of("the cat sat");
  CHECK(tokenizer.decode(tokenizer.encode_sentence(" the  cat")) == "the cat");
  CHECK(tokenizer.decode({3, 3}).empty());
}

TEST_CASE("Tokenizer: characters are code points, and a blank within the text is one",
          "[data][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::of(Corpus::from_text("Ab  ä🐱\nb a", "text"), "char");
  CHECK(tokenizer.words() == Words{" ", "a", "b", "ä", "🐱"});
  CHECK(tokenizer.encode("\tba \xC2\xA0 B\n") == Ids{2, 1, 0, 2});
  CHECK(tokenizer.encode_sentence("ab") == Ids{5, 1, 2, 5});
  CHECK(tokenizer.decode({5, 1, 0, 2, 4, 5}) == "a b🐱");
  CHECK(tokenizer.encode(" \n ").empty());
  CHECK_THAT(error_message<VocabularyError>([&] { tokenizer.encode("a c"); }),
             text_contains("found \"c\";"));
}

TEST_CASE("Tokenizer: a vocabulary is held to what its kind can cut", "[data][tokenizer]") {
  for (const std::string bad : {"", "ab", "\t", "\xC2\xA0"})
    CHECK_THAT(error_message<FormatError>([&] {
                 Tokenizer::from_words({"a", bad}, true, "m", {}, "char");
               }),
               text_contains("m: token 1: expected a single character"));
  CHECK(Tokenizer::from_words({" ", "a", "<unk>"}, true, "m", 2, "char").encode("a x") ==
        Ids{1, 0, 2});
  CHECK_THAT(error_message<ConfigError>(
                 [&] { Tokenizer::of(Corpus::from_text("a", "text"), "syllable"); }),
             text_contains("expected one of word, word-punct, char, bpe, found \"syllable\""));
}

TEST_CASE("Tokenizer: from_words keeps the order given", "[data][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::from_words({"z", "a"}, true, "m");
  CHECK(tokenizer.encode("A Z") == Ids{1, 0});
  CHECK(tokenizer.words() == Words{"z", "a"});
}

TEST_CASE("Tokenizer: from_words refuses a damaged vocabulary and names the token",
          "[data][tokenizer]") {
  const auto [word, found] = GENERATE(table<std::string, std::string>({
      {"", "expected a word without white space, found \"\""},
      {"b c", "expected a word without white space, found \"b c\""},
      {"b\n", "expected a word without white space, found \"b\\n\""},
      {"\xC2\xA0", "expected a word without white space, found \"\xC2\xA0\""},
      {"a", "expected a new word, found \"a\" again, which is token 0"},
      {"\xFF", "expected UTF-8, found other bytes"},
  }));
  CHECK(error_message<FormatError>([&, w = word] {
          Tokenizer::from_words({"a", w, "z"}, true, "m");
        }) == "m: token 1: " + found + "; the vocabulary is damaged: use a backup");
}

TEST_CASE("Tokenizer: a word that is spelled like BOS stays a word and is told apart",
          "[data][tokenizer]") {
  const auto tokenizer = Tokenizer::words(Corpus::from_text("<bos> a\n<<BOS>> b", "text"));
  CHECK(tokenizer.word(tokenizer.bos()) == "<<<bos>>>");
  CHECK(tokenizer.encode("<bos>") == std::vector<TokenId>{tokenizer.find("<bos>")});
  const auto plain = Tokenizer::words(Corpus::from_text("a", "text"));
  CHECK(plain.word(plain.bos()) == "<bos>");
}

TEST_CASE(
    "Tokenizer: a refusal shortens long words, lists a handful and calls tokens by their kind",
    "[data][tokenizer]") {
  const Corpus text = Corpus::from_text("a b", "text");
  const std::string many = "1 2 3 4 5 6 7 8 " + std::string(100'000, 'x');
  CHECK_THAT(error_message<VocabularyError>([&] { Tokenizer::words(text).encode(many); }),
             text_contains("expected words that the model knows, found \"1\", \"2\", \"3\", \"4\", "
                           "\"5\" and 4 more; "));
  const std::string message = error_message<VocabularyError>(
      [&] { Tokenizer::words(text).encode(std::string(100'000, 'x')); });
  CHECK(message.size() < 200);
  CHECK_THAT(error_message<VocabularyError>([&] { Tokenizer::of(text, "char").encode("c"); }),
             text_contains("expected characters that the model knows, found \"c\""));
}
