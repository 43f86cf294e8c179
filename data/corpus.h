// A corpus: a text file as sentences, one a line.
//
// Reading trims each line, lower-cases it (unless told not to), folds every run of white space into
// one blank, and drops lines that are then empty. LF, CR LF and CR end a line. A byte order mark,
// tabs, doubled and no-break spaces therefore make no words of their own. Invalid UTF-8 and NUL
// bytes are refused with their line. An exact corpus keeps what is between line ends as it is, in
// any bytes; only lines that are empty or blank are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace glassbox {

struct CorpusOptions {
  bool lowercase = true;
  // Nothing is folded and any bytes are taken. REQUIRES: not lowercase.
  bool exact = false;
};

class Corpus {
 public:
  // Throws FileError if the file can't be read, FormatError (path, line) for text that is not UTF-8
  // and for a file without a single sentence. Folds the text where it was read: takes about the
  // file's size and 16 bytes a line, while reading too.
  static Corpus read(const std::string& path, const CorpusOptions& options = {});
  // The same from memory; `name` stands for the path in messages.
  static Corpus from_text(std::string_view text, const std::string& name,
                          const CorpusOptions& options = {});

  std::size_t size() const { return lines_.size(); }
  // Sentence i in today's order, trimmed and folded.
  std::string_view operator[](std::size_t i) const {
    return {text_.data() + lines_[i].begin, lines_[i].length};
  }
  // Its line in the file, from 1, blank lines counted.
  std::size_t line_number(std::size_t i) const { return lines_[i].number; }
  const std::string& name() const { return name_; }
  bool lowercase() const { return lowercase_; }

  // Of the sentences in today's order, line ends between them.
  std::string fingerprint() const;

  // Takes the last `count` lines of today's order out, as a corpus of their own in that order.
  // REQUIRES: count < size().
  Corpus split_off(std::size_t count);

  // Fisher and Yates, from the last line down; one uniform number a line but the first.
  void shuffle(Random& random);

 private:
  struct Line {
    std::uint64_t begin;
    std::uint32_t length;
    std::uint32_t number;
  };
  Corpus(std::string text, const std::string& name, const CorpusOptions& options);
  Corpus(const std::string& name, bool lowercase) : name_(name), lowercase_(lowercase) {}

  std::string name_;
  std::string text_;  // the sentences in the file's order, one right behind the other
  std::vector<Line> lines_;
  bool lowercase_;
};

}  // namespace glassbox
