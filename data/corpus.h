// A corpus: texts as training sequences. How a text is cut into them says its split: into lines,
// into sentences, or into windows of running text.
//
// Reading trims each sequence, lower-cases it (unless told not to), folds every run of white space
// into one blank, and drops lines that are then empty. LF, CR LF and CR end a line. A byte order
// mark, tabs, doubled and no-break spaces therefore make no words of their own. Invalid UTF-8 and
// NUL bytes are refused with their line. An exact corpus keeps what is between line ends as it is,
// in any bytes; only lines that are empty or blank are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace glassbox {

enum class Split {
  line,      // a sequence is a line
  sentence,  // a sentence of prose, however its lines are broken; sentences.h has the rule
  window     // so much of the running text as fits the model's block: Tokenizer::windows() cuts it
};
const char* name_of(Split split);  // "line"
std::optional<Split> find_split(std::string_view name);

struct CorpusOptions {
  bool lowercase = true;
  // Nothing is folded and any bytes are taken, but white space within a sentence is folded.
  // REQUIRES: not lowercase.
  bool exact = false;
  // Of `window`, each text is one sequence at first, which Tokenizer::windows() then cuts.
  Split split = Split::line;

  bool operator==(const CorpusOptions&) const = default;
};

// The files that these paths stand for, "-" among them: a folder for the files in it and in its
// folders whose names end in ".txt", in the order of their paths. Throws FileError for a folder
// without any and for the current one, which is seldom meant.
std::vector<std::string> text_files(const std::vector<std::string>& paths);

class Corpus {
 public:
  // Throws FileError if the file can't be read, FormatError (path, line) for text that is not UTF-8
  // and for a file without a single sentence. Folds the text where it was read: takes about the
  // file's size and 16 bytes a line, while reading too; twice the size for another split than by
  // line. "-" is standard input.
  static Corpus read(const std::string& path, const CorpusOptions& options = {});
  // Several texts, one behind the other: text_files() of these paths.
  static Corpus read(const std::vector<std::string>& paths, const CorpusOptions& options = {});
  // The same from memory; `name` stands for the path in messages.
  static Corpus from_text(std::string_view text, const std::string& name,
                          const CorpusOptions& options = {});

  std::size_t size() const { return lines_.size(); }
  // Sequence i in today's order, trimmed and folded.
  std::string_view operator[](std::size_t i) const {
    return {text_.data() + lines_[i].begin, lines_[i].length};
  }
  // The line of its file on which it begins, from 1, blank lines counted.
  std::size_t line_number(std::size_t i) const { return lines_[i].number; }
  // Whether the text goes on behind it, so that no BOS ends it: a window.
  bool goes_on(std::size_t i) const { return lines_[i].goes_on; }
  // Of all texts: "a.txt", or "a.txt and 2 more".
  const std::string& name() const { return name_; }
  // For messages: "a.txt: line 3".
  std::string where(std::size_t i) const;
  // The same shorter: "line 3", with the file if there are several.
  std::string place(std::size_t i) const;
  bool comes_before(std::size_t i, std::size_t j) const {
    return lines_[i].begin < lines_[j].begin;
  }
  const CorpusOptions& options() const { return options_; }
  bool lowercase() const { return options_.lowercase; }

  // Of the sentences in today's order, line ends between them.
  std::string fingerprint() const;

  // Takes the last `count` lines of today's order out, as a corpus of their own in that order.
  // REQUIRES: count < size().
  Corpus split_off(std::size_t count);

  // Fisher and Yates, from the last line down; one uniform number a line but the first.
  void shuffle(Random& random);

  // Cuts each sequence into parts, for Tokenizer::windows(): ends[i] are the offsets behind those
  // of sequence i, in order, and all but the last of them go on. White space at their beginnings is
  // left out unless the corpus is exact.
  void cut(const std::vector<std::vector<std::size_t>>& ends);

 private:
  struct Line {
    std::uint64_t begin;
    std::uint32_t length;
    std::uint32_t number : 31;
    std::uint32_t goes_on : 1;
  };
  struct Source {
    std::string name;
    std::uint64_t begin;  // in text_
  };
  Corpus(std::string text, const std::string& name, const CorpusOptions& options);
  Corpus(const std::string& name, const CorpusOptions& options) : name_(name), options_(options) {}
  void fold_lines();
  void fold_running();
  void add(std::uint64_t begin, std::uint64_t end, std::size_t number);
  void append(Corpus other);
  const Source& source_of(std::size_t i) const;

  std::string name_;
  std::string text_;  // the sentences in the file's order, one right behind the other
  std::vector<Line> lines_;
  std::vector<Source> sources_;
  CorpusOptions options_;
};

}  // namespace glassbox
