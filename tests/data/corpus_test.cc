#include "data/corpus.h"

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temporary_folder.h"

using namespace glassbox;

namespace {

std::vector<std::string> sentences(const Corpus& corpus) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < corpus.size(); ++i) all.emplace_back(corpus[i]);
  return all;
}
std::vector<std::string> folded(std::string_view text) {
  return sentences(Corpus::from_text(text, "text"));
}
using Sentences = std::vector<std::string>;

const std::string kTiny = GLASSBOX_GOLDEN_DIR "/tiny.txt";

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

TEST_CASE("Corpus reads a file's lines as sentences with their numbers", "[data][corpus]") {
  const Corpus corpus = Corpus::read(kTiny);
  CHECK(corpus.size() == 32);
  CHECK(corpus.name() == kTiny);
  CHECK(corpus.line_number(0) == 1);
  CHECK(corpus.line_number(31) == 32);
}

TEST_CASE("Corpus trims, folds white space and lower-cases", "[data][corpus]") {
  CHECK(folded("  The \t CAT\r\nsat\xC2\xA0\xC2\xA0on\xE2\x80\x83it \n") ==
        Sentences{"the cat", "sat on it"});
}

TEST_CASE("Corpus drops blank lines and still counts them", "[data][corpus]") {
  const Corpus corpus = Corpus::from_text("\n \t\n\xC2\xA0\r\na\n\n\nb", "text");
  CHECK(sentences(corpus) == Sentences{"a", "b"});
  CHECK(corpus.line_number(0) == 4);
  CHECK(corpus.line_number(1) == 7);
}

TEST_CASE("Corpus: the same sentences whatever white space an editor put into the file",
          "[data][corpus]") {
  const std::string text = read_file(kTiny);
  const std::string edited =
      GENERATE_COPY("\xEF\xBB\xBF" + text,                    // a byte order mark
                    replace_all(text, "\n", "\r\n"),          //
                    replace_all(text, "\n", "\r"),            // as old Macintoshes wrote
                    replace_all(text, "\n", "\xC2\xA0\n"),    // a no-break space at the line's end
                    replace_all(text, " ", "\t "),            //
                    replace_all(text, "\n", "\n\n \t \r\n"),  // blank lines strewn in
                    text.substr(0, text.size() - 1),          // no newline at the end
                    text + "\n\n   ");
  REQUIRE(edited != text);
  CHECK(folded(edited) == folded(text));
}

TEST_CASE("Corpus keeps one word and other scripts as they are", "[data][corpus]") {
  CHECK(folded("x") == Sentences{"x"});
  CHECK(folded("Мама мыла РАМУ\nΗ ΓΆΤΑ\n🐱 猫 Kedi") ==
        Sentences{"мама мыла раму", "η γάτα", "🐱 猫 kedi"});
}

TEST_CASE("Corpus leaves capitals alone when told so", "[data][corpus]") {
  const Corpus corpus = Corpus::from_text("  The  CAT ", "text", {.lowercase = false});
  CHECK(sentences(corpus) == Sentences{"The CAT"});
  CHECK_FALSE(corpus.lowercase());
}

TEST_CASE("Corpus: lines that grow in lower case do not run into the next ones", "[data][corpus]") {
  std::string text;
  Sentences want;
  for (int i = 0; i < 100; ++i) {
    text += "Ⱥ" + std::to_string(i) + "ȾȾȾȾ" + (i % 3 == 0 ? "\nB\n" : "\n");
    want.push_back("ⱥ" + std::to_string(i) + "ⱦⱦⱦⱦ");
    if (i % 3 == 0) want.push_back("b");
  }
  CHECK(folded(text) == want);
}

TEST_CASE("Corpus refuses bytes that are not UTF-8 text and names the line", "[data][corpus]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"\xFF\xFEt\xC3", "line 1: expected UTF-8 text, found the byte 0xFF; save the file as UTF-8"},
      {"a\n\nb \xE9t\xE9\n",
       "line 3: expected UTF-8 text, found the byte 0xE9; save the file as UTF-8"},
      {std::string("a\nb\0\xFF", 5),
       "line 2: expected UTF-8 text, found a NUL byte: is this a text file?"},
      {std::string("\xFF\n\0", 3),
       "line 1: expected UTF-8 text, found the byte 0xFF; save the file as UTF-8"},
  }));
  CHECK(error_message<FormatError>([&, t = text] { Corpus::from_text(t, "cats.txt"); }) ==
        "cats.txt: " + message);
}

TEST_CASE("Corpus refuses a text without a sentence", "[data][corpus]") {
  CHECK(error_message<FormatError>([] { Corpus::from_text("", "cats.txt"); }) ==
        "cats.txt: expected a sentence a line, found an empty file; write one");
  CHECK(error_message<FormatError>([] { Corpus::from_text(" \n\xEF\xBB\xBF\r\n", "cats.txt"); }) ==
        "cats.txt: expected a sentence a line, found nothing but white space; write one");
}

TEST_CASE("Corpus refuses a missing file and a folder by their path", "[data][corpus]") {
  const TemporaryFolder folder;
  for (const std::string& path : {folder / "missing", folder.path()}) {
    const std::string message = error_message<FileError>([&] { Corpus::read(path); });
    CHECK(message.compare(0, path.size(), path) == 0);
  }
}

TEST_CASE("Corpus: 0 to 9 shuffled with seed 42", "[data][corpus]") {
  Corpus corpus = Corpus::from_text("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", "text");
  Random random(42);
  corpus.shuffle(random);
  CHECK(sentences(corpus) == Sentences{"0", "7", "3", "5", "2", "1", "8", "9", "4", "6"});
  CHECK(corpus.line_number(1) == 8);
}

TEST_CASE("Corpus: a shuffle draws one number a line but the first", "[data][corpus]") {
  const auto [text, draws] =
      GENERATE(table<std::string, std::uint32_t>({{"a", 0}, {"a\nb\nc", 2}}));
  Corpus corpus = Corpus::from_text(text, "text");
  Random random(1);
  corpus.shuffle(random);
  CHECK(random.state() == 1 + draws * 0x6d2b79f5u);
}

TEST_CASE("Corpus: one line of 10 MB is read in time linear in its length", "[data][corpus]") {
  std::string line;
  while (line.size() < 10'000'000) line += "The cat sat ";
  const auto start = std::chrono::steady_clock::now();
  const Corpus corpus = Corpus::from_text(line, "text");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(corpus.size() == 1);
  CHECK(corpus[0].size() == line.size() - 1);
  CHECK(seconds.count() < 5);  // takes some 0.03; quadratic would be minutes
}

TEST_CASE("Corpus: the last lines of today's order become a corpus of their own", "[data]") {
  Corpus corpus = Corpus::from_text("a b\n\nc\nd e\nf\n", "text.txt");
  Random random(3);
  corpus.shuffle(random);
  const Corpus whole = corpus;
  const Corpus last = corpus.split_off(3);
  REQUIRE(corpus.size() == 1);
  REQUIRE(last.size() == 3);
  CHECK(last.name() == "text.txt");
  for (std::size_t i = 0; i < 4; ++i) {
    const Corpus& part = i < 1 ? corpus : last;
    CHECK(part[i < 1 ? i : i - 1] == whole[i]);
    CHECK(part.line_number(i < 1 ? i : i - 1) == whole.line_number(i));
  }
}

TEST_CASE("Corpus: equal sentences have equal fingerprints, others have not", "[data]") {
  const auto of = [](const char* text) {
    return Corpus::from_text(text, "text.txt").fingerprint();
  };
  CHECK(of("a b\nc\n") == of("\n  A  b\r\n\nc"));
  CHECK(of("a b\nc\n") != of("a\nb c\n"));
  CHECK(of("a b\nc\n") != of("c\na b\n"));
}
