// make_texts DIR: writes DIR/first_grade.txt and DIR/questions.txt, our own sample texts, the same
// bytes on every machine. make_texts --check DIR: counts what is in those files and compares it
// with what data/README.md promises; exit 1 and one line per broken promise.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "data/generator/first_grade.h"
#include "data/generator/grammar.h"

namespace glassbox {
namespace {

constexpr std::size_t kSentences = 30000;
constexpr std::size_t kQuestions = 150;
constexpr std::size_t kShortest = 2, kLongest = 8;           // words a sentence
constexpr std::size_t kFewestWords = 580, kMostWords = 600;  // distinct ones
constexpr std::size_t kRarest = 8;                           // a word occurs at least so often
constexpr std::array kOpeners = {"who", "what", "where", "can", "is", "are",
                                 "do",  "does", "when",  "why", "how"};

using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
  std::istringstream in(line);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool opens_question(const std::string& word) {
  return std::find(kOpeners.begin(), kOpeners.end(), word) != kOpeners.end();
}

// How often a sentence of so many words is kept: a first-grader's are short.
constexpr std::array<double, kLongest + 1> kKept = {0, 0, 1, 1, 1, 0.55, 0.3, 0.15, 0.1};

// Distinct lines of allowed length, in the order of adding.
class Text {
 public:
  // False if the line is too short, too long or known.
  bool add(const std::string& line) {
    const std::size_t length = words_of(line).size();
    if (length < kShortest || length > kLongest || !known_.insert(line).second) return false;
    lines_.push_back(line);
    return true;
  }
  std::size_t size() const { return lines_.size(); }
  std::string str() const {
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

 private:
  Words lines_;
  std::set<std::string> known_;
};

void make(const std::string& folder) {
  const Grammar grammar(kNouns, kPhrases);
  Random random(1);
  Text text;
  while (text.size() < kSentences) {
    const std::string line = grammar.sentence("sentence", random);
    const std::size_t length = words_of(line).size();
    if (length <= kLongest && random.uniform() < kKept[length]) text.add(line);
  }

  // The openers take turns; a question with a word the sentences lack is drawn again.
  const Words all = words_of(text.str());
  const std::set<std::string> vocabulary(all.begin(), all.end());
  Text questions;
  while (questions.size() < kQuestions) {
    const std::string opener = kOpeners[questions.size() % kOpeners.size()];
    for (bool added = false; !added;) {
      const std::string rest = grammar.sentence("question." + opener, random);
      if (rest.empty()) continue;
      const Words words = words_of(rest);
      added = std::all_of(words.begin(), words.end(),
                          [&](const std::string& w) { return vocabulary.count(w) == 1; }) &&
              questions.add(opener + " " + rest);
    }
  }
  write_file(folder + "/first_grade.txt", text.str());
  write_file(folder + "/questions.txt", questions.str());
}

// Counts both files, says so on stderr; returns the number of broken promises.
int check(const std::string& folder) {
  int broken = 0;
  const auto demand = [&](bool holds, const std::string& promise) {
    if (!holds) std::fprintf(stderr, "make_texts: broken: %s\n", promise.c_str());
    broken += holds ? 0 : 1;
  };
  std::map<std::string, std::size_t> frequency;
  std::array<std::size_t, kLongest + 1> lengths{};
  for (const bool asks : {false, true}) {
    const std::string name = asks ? "questions.txt" : "first_grade.txt";
    std::istringstream in(read_file(folder + "/" + name));
    std::set<std::string> seen;
    std::size_t lines = 0, total = 0;
    for (std::string line; std::getline(in, line); ++lines) {
      const Words words = words_of(line);
      demand(words.size() >= kShortest && words.size() <= kLongest, name + ": length: " + line);
      demand(seen.insert(line).second, name + ": said twice: " + line);
      demand(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz ") == line.npos,
             name + ": not a letter: " + line);
      demand(!words.empty() && opens_question(words[0]) == asks, name + ": opener: " + line);
      total += words.size();
      if (!asks) ++lengths[std::min(words.size(), kLongest)];
      for (const std::string& word : words) {
        if (asks) demand(frequency.count(word) == 1, name + ": unknown word: " + word);
        if (!asks) ++frequency[word];
      }
    }
    demand(lines == (asks ? kQuestions : kSentences), name + ": number of lines");
    std::fprintf(stderr, "%s: %zu lines, %zu words, mean length %.2f\n", name.c_str(), lines, total,
                 static_cast<double>(total) / static_cast<double>(std::max<std::size_t>(lines, 1)));
  }
  for (const auto& [word, times] : frequency) demand(times >= kRarest, "rare word: " + word);
  demand(frequency.size() >= kFewestWords && frequency.size() <= kMostWords, "number of words");
  std::fprintf(stderr, "%zu distinct words; sentences by length:", frequency.size());
  for (std::size_t n = kShortest; n <= kLongest; ++n) {
    std::fprintf(stderr, " %zu: %zu", n, lengths[n]);
  }
  std::fprintf(stderr, "\n");
  return broken;
}

}  // namespace
}  // namespace glassbox

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  try {
    if (argc == 3 && first == "--check") return glassbox::check(argv[2]) > 0 ? 1 : 0;
    if (argc == 2 && first != "--check") {
      glassbox::make(first);
      return glassbox::check(first) > 0 ? 1 : 0;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "make_texts: %s\n", e.what());
    return 1;
  }
  std::fprintf(stderr, "usage: make_texts DIR | make_texts --check DIR\n");
  return 2;
}
