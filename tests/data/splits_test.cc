// Texts in sentences and windows, of several files and of folders.
#include <filesystem>

#include "base/error.h"
#include "base/random.h"
#include "data/corpus.h"
#include "data/sentences.h"
#include "data/tokenizer.h"
#include "tests/support/error_message.h"
#include "tests/support/temporary_folder.h"

using namespace glassbox;

namespace {
using Texts = std::vector<std::string>;

Texts texts_of(const Corpus& corpus) {
  Texts texts;
  for (std::size_t i = 0; i < corpus.size(); ++i) texts.emplace_back(corpus[i]);
  return texts;
}
Texts sentences(std::string_view text) {
  return texts_of(Corpus::from_text(text, "text", {.lowercase = false, .split = Split::sentence}));
}
// "a" + "b" + ... of the tokens that are trained, with / at each window's end.
std::string trained(const Tokenizer& tokenizer, const Corpus& windows) {
  std::string all;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto ids = tokenizer.encode_line(windows, i);
    CHECK(ids.front() == tokenizer.bos());
    for (std::size_t t = 1; t < ids.size(); ++t)
      all += ids[t] == tokenizer.bos() ? "." : std::string(tokenizer.word(ids[t]));
    all += '/';
  }
  return all;
}
}  // namespace

TEST_CASE("sentences: prose is cut where its sentences end", "[data]") {
  CHECK(sentences("Mr. Fox ran. He hid!") == Texts{"Mr. Fox ran.", "He hid!"});
  CHECK(sentences("\"Go!\" he said. \"Why?\" she asked. (It was late.) They went…") ==
        Texts{"\"Go!\" he said.", "\"Why?\" she asked.", "(It was late.)", "They went…"});
  CHECK(sentences("J. R. Smith, e.g. Dr. No. 7, came at 3.50 p.m. He sat.") ==
        Texts{"J. R. Smith, e.g. Dr. No. 7, came at 3.50 p.m.", "He sat."});
  CHECK(sentences("Wait... what?! No way. it was I. He knew") ==
        Texts{"Wait... what?!", "No way. it was I.", "He knew"});
  CHECK(sentences("猫が好き。犬も？はい。") == Texts{"猫が好き。", "犬も？", "はい。"});
  CHECK(sentences("Он ушёл. Она осталась.") == Texts{"Он ушёл.", "Она осталась."});
  CHECK(sentences("No end") == Texts{"No end"});
}

TEST_CASE("sentences: lines are joined and a blank line ends a sentence", "[data]") {
  const Corpus corpus = Corpus::from_text("  A fox\nran.  He\n\thid! And\n\n \nso on\n", "text",
                                          {.lowercase = true, .split = Split::sentence});
  CHECK(texts_of(corpus) == Texts{"a fox ran.", "he hid!", "and", "so on"});
  CHECK(corpus.line_number(0) == 1);
  CHECK(corpus.line_number(1) == 2);
  CHECK(corpus.line_number(2) == 3);
  CHECK(corpus.line_number(3) == 6);
  CHECK_FALSE(corpus.goes_on(0));
}

TEST_CASE("windows: running text is cut so that each token is trained once", "[data]") {
  const Corpus text = Corpus::from_text("a b\nc  d\n\ne f\ng", "text", {.split = Split::window});
  REQUIRE(text.size() == 1);
  const Tokenizer tokenizer = Tokenizer::words(text);
  CHECK(tokenizer.reading().split == Split::window);
  const Corpus windows = tokenizer.windows(text, 3);
  CHECK(texts_of(windows) == Texts{"a b\nc", "d\n\ne f", "g"});
  CHECK(trained(tokenizer, windows) == "abc/def/g./");
  CHECK(windows.goes_on(0));
  CHECK_FALSE(windows.goes_on(2));
  CHECK(windows.line_number(1) == 2);
  CHECK(windows.line_number(2) == 5);
}

TEST_CASE("windows: those of bpe keep every byte and fit the block", "[data]") {
  Random random(4);
  std::string text = "x";
  for (int i = 0; i < 3000; ++i)
    text += "aab  c\n.é猫"[static_cast<std::size_t>(random.uniform() * 13)];
  text += std::string(500, 'z') + " end\n";
  const Corpus corpus =
      Corpus::from_text(text, "text", {.lowercase = false, .exact = true, .split = Split::window});
  const Tokenizer tokenizer = Tokenizer::of(corpus, "bpe", {.size = 300});
  for (const std::size_t block : {1, 4, 37, 100000}) {
    const Corpus windows = tokenizer.windows(corpus, block);
    std::string all;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      all += windows[i];
      CHECK(tokenizer.encode(windows[i]).size() <= block);
    }
    CHECK(all == text);
  }
}

TEST_CASE("windows: every tokenizer's take about a block, none of a text is lost", "[data]") {
  const std::string text = "\"Him,\" she said: don't! (It's 3.5.)\nWell - no; yes + no.\n";
  for (const char* kind : {"word", "word-punct", "char"}) {
    const Corpus corpus =
        Corpus::from_text(text, "text", {.lowercase = false, .split = Split::window});
    const Tokenizer tokenizer = Tokenizer::of(corpus, kind, {.unk = true});
    const Corpus windows = tokenizer.windows(corpus, 5);
    CAPTURE(kind);
    std::string all, whole;
    for (const char c : text)
      if (c != ' ' && c != '\n') whole += c;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      for (const char c : windows[i])
        if (c != ' ' && c != '\n') all += c;
      CHECK(tokenizer.encode(windows[i]).size() <= 8);
      CHECK((i + 1 == windows.size() || tokenizer.encode(windows[i]).size() >= 3));
    }
    CHECK(all == whole);
  }
}

TEST_CASE("Corpus: several files and a folder are one corpus, and each line is found again",
          "[data]") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "d/e");
  put_file(folder / "b.txt", "one\ntwo\n");
  put_file(folder / "d/z.txt", "six\n");
  put_file(folder / "d/e/y.txt", "\nfive\n");
  put_file(folder / "d/other.md", "not this\n");
  Corpus corpus = Corpus::read({folder / "b.txt", folder / "d"});
  CHECK(texts_of(corpus) == Texts{"one", "two", "five", "six"});
  CHECK(corpus.name() == (folder / "b.txt") + " and 2 more");
  CHECK(corpus.where(2) == (folder / "d/e/y.txt") + ": line 2");
  Random random(1);
  corpus.shuffle(random);
  Corpus last = corpus.split_off(2);
  for (const Corpus* part : {&corpus, &last})
    for (std::size_t i = 0; i < part->size(); ++i) {
      const bool is_first = (*part)[i] == "one" || (*part)[i] == "two";
      CHECK(part->where(i).starts_with(folder / (is_first ? "b.txt" : "d/")));
    }
  std::filesystem::create_directory(folder / "empty");
  CHECK_THAT(error_message<FileError>([&] { Corpus::read(folder / "empty"); }),
             text_contains("found a folder without any"));
}
