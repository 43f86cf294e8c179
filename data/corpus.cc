#include "data/corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/text_file.h"
#include "base/utf8.h"
#include "data/sentences.h"

namespace glassbox {
namespace {

constexpr const char* kSplits[] = {"line", "sentence", "window"};

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::vector<std::string> texts_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  if (fs::equivalent(folder, ".", error))
    throw FileError(
        fmt::format("{}: expected a file or a folder of texts, found the folder that "
                    "you are in; name the files",
                    folder));
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".txt" && at->is_regular_file(error))
      files.push_back(at->path().string());
  if (error) throw FileError(fmt::format("{}: can't be read: {}", folder, error.message()));
  if (files.empty())
    throw FileError(
        fmt::format("{}: expected a file, or a folder with files *.txt, found a folder "
                    "without any; name the files",
                    folder));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

const char* name_of(Split split) { return kSplits[static_cast<std::size_t>(split)]; }

std::optional<Split> find_split(std::string_view name) {
  const auto found = std::ranges::find(kSplits, name);
  if (found == std::end(kSplits)) return {};
  return static_cast<Split>(found - std::begin(kSplits));
}

std::vector<std::string> text_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (path != "-" && is_folder(path)) {
      const std::vector<std::string> within = texts_in(path);
      files.insert(files.end(), within.begin(), within.end());
    } else {
      files.push_back(path);
    }
  }
  return files;
}

Corpus Corpus::read(const std::string& path, const CorpusOptions& options) {
  if (path == "-")
    return Corpus(options.exact ? read_standard_input() : read_standard_input_text(),
                  "standard input", options);
  if (is_folder(path)) return read(std::vector{path}, options);
  return Corpus(options.exact ? read_file(path) : read_text(path), path, options);
}

Corpus Corpus::read(const std::vector<std::string>& paths, const CorpusOptions& options) {
  const std::vector<std::string> files = text_files(paths);
  if (files.empty()) throw ConfigError("corpus: expected a file to read, found none");
  Corpus all = read(files.front(), options);
  for (std::size_t i = 1; i < files.size(); ++i) all.append(read(files[i], options));
  if (files.size() > 1) all.name_ += fmt::format(" and {} more", files.size() - 1);
  return all;
}

Corpus Corpus::from_text(std::string_view text, const std::string& name,
                         const CorpusOptions& options) {
  if (!options.exact) check_text(text, name);
  return Corpus(std::string(text), name, options);
}

Corpus::Corpus(std::string text, const std::string& name, const CorpusOptions& options)
    : name_(name), text_(std::move(text)), sources_{{name, 0}}, options_(options) {
  if (text_.starts_with("\uFEFF")) text_.erase(0, std::string_view("\uFEFF").size());
  const bool was_empty = text_.empty();
  if (options.split == Split::line) {
    fold_lines();
  } else {
    fold_running();
  }
  if (lines_.empty()) {
    throw FormatError(fmt::format("{}: expected a sentence a line, found {}; write one", name_,
                                  was_empty ? "an empty file" : "nothing but white space"));
  }
}

void Corpus::add(std::uint64_t begin, std::uint64_t end, std::size_t number) {
  constexpr std::uint32_t kMostLines = (std::uint32_t{1} << 31) - 1;
  constexpr std::size_t kMostBytes = std::numeric_limits<std::uint32_t>::max();
  if (number > kMostLines || end - begin > kMostBytes)
    throw FormatError(
        fmt::format("{}: line {}: expected at most {} lines and {} bytes in one, found more; {}",
                    name_, number, kMostLines, kMostBytes, "split the file"));
  lines_.push_back({begin, static_cast<std::uint32_t>(end - begin),
                    static_cast<std::uint32_t>(number) & kMostLines, 0});
}

// Folds in place: a folded line is rarely longer than what it was made from.
void Corpus::fold_lines() {
  const auto line_count =
      static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + 1;
  // One exact allocation for sentences of common length; a file of blank lines must not claim 16
  // bytes for each.
  lines_.reserve(std::min(line_count, text_.size() / 8 + 1));

  std::size_t folded = 0;  // text_[0, folded) is done
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text_.size();) {
    std::string_view line = next_line(text_, begin);
    ++number;
    std::string lowered;
    if (options_.lowercase) line = lowered = lower_case(line);
    if (folded + line.size() > begin) {
      // Two bytes of capitals such as U+023A become three. That is half as much again at most, so
      // this one gap is enough for the whole rest of the text.
      begin = std::min(begin, text_.size());
      const std::size_t gap = line.size() + (text_.size() - begin) / 2;
      text_.insert(begin, gap, ' ');
      begin += gap;
    }

    const std::size_t first = folded;
    std::size_t offset = 0;
    if (options_.exact) {
      if (next_word(line, offset).empty()) continue;
      std::memmove(text_.data() + folded, line.data(), line.size());
      folded += line.size();
      offset = line.size();
    }
    for (std::string_view word = next_word(line, offset); !word.empty();
         word = next_word(line, offset)) {
      if (folded > first) text_[folded++] = ' ';
      std::memmove(text_.data() + folded, word.data(), word.size());
      folded += word.size();
    }
    if (folded == first) continue;

    add(first, folded, number);
  }
  text_.resize(folded);
}

// Sentences and windows go on over the ends of lines.
void Corpus::fold_running() {
  std::string out;
  out.reserve(text_.size());
  struct Start {
    std::size_t offset, number;  // where in `out` a line begins
  };
  std::vector<Start> starts;  // of this paragraph's lines
  std::size_t begin = 0;      // of the paragraph, in `out`
  const auto end_paragraph = [&] {
    const std::string paragraph = out.substr(begin);
    out.resize(begin);
    std::size_t line = 0;
    for (std::size_t at = 0; at < paragraph.size();) {
      const std::size_t end = sentence_end(paragraph, at);
      while (line + 1 < starts.size() && starts[line + 1].offset <= begin + at) ++line;
      const std::string_view sentence = std::string_view(paragraph).substr(at, end - at);
      const std::size_t first = out.size();
      out += options_.lowercase ? lower_case(sentence) : std::string(sentence);
      add(first, out.size(), starts[line].number);
      at = end + (end < paragraph.size() && paragraph[end] == ' ' ? 1 : 0);
    }
    starts.clear();
  };
  const bool is_window = options_.split == Split::window;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t from = at;
    const std::string_view line = next_line(text_, at);
    ++number;
    std::size_t offset = 0;
    std::string_view word = next_word(line, offset);
    if (word.empty() && (!is_window || starts.empty())) {
      if (!is_window) {
        end_paragraph();
        begin = out.size();
      }
      continue;
    }
    if (is_window && !starts.empty()) {
      out += options_.exact ? "" : "\n";  // white space that keeps the count of lines
    } else {
      starts.push_back({out.size() + (out.size() > begin ? 1 : 0), number});
    }
    if (is_window && options_.exact) {
      out += std::string_view(text_).substr(from, at - from);
      continue;
    }
    std::string lowered;
    if (is_window && options_.lowercase) {
      lowered = lower_case(line);
      offset = 0;
      word = next_word(lowered, offset);
    }
    for (; !word.empty(); word = next_word(lowered.empty() ? line : lowered, offset)) {
      if (out.size() > begin && out.back() != '\n') out += ' ';
      out += word;
    }
  }
  if (!is_window) {
    end_paragraph();
  } else if (!starts.empty()) {
    add(0, out.size(), starts.front().number);
  }
  text_ = std::move(out);
}

std::string Corpus::where(std::size_t i) const {
  return fmt::format("{}: line {}", source_of(i).name, line_number(i));
}

std::string Corpus::place(std::size_t i) const {
  return source_of(i).name == name_ ? fmt::format("line {}", line_number(i)) : where(i);
}

const Corpus::Source& Corpus::source_of(std::size_t i) const {
  return *std::prev(std::ranges::upper_bound(sources_, lines_[i].begin, {}, &Source::begin));
}

void Corpus::append(Corpus other) {
  const std::uint64_t shift = text_.size();
  text_ += other.text_;
  for (Line line : other.lines_) {
    line.begin += shift;
    lines_.push_back(line);
  }
  for (Source& source : other.sources_)
    sources_.push_back({std::move(source.name), source.begin + shift});
}

void Corpus::cut(const std::vector<std::vector<std::size_t>>& ends) {
  std::vector<Line> whole = std::exchange(lines_, {});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::string_view text(text_.data() + whole[i].begin, whole[i].length);
    std::size_t number = whole[i].number, counted = 0, begin = 0;
    for (const std::size_t end : ends[i]) {
      if (!options_.exact)
        while (begin < end && (text[begin] == ' ' || text[begin] == '\n')) ++begin;
      number += static_cast<std::size_t>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                     text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
      counted = begin;
      if (end > begin) {
        add(whole[i].begin + begin, whole[i].begin + end, number);
        lines_.back().goes_on = 1;
      }
      begin = end;
    }
    if (!lines_.empty()) lines_.back().goes_on = 0;
  }
}

std::string Corpus::fingerprint() const {
  Fingerprint all;
  for (std::size_t i = 0; i < size(); ++i) {
    all.add((*this)[i]);
    all.add("\n");
  }
  return all.text();
}

Corpus Corpus::split_off(std::size_t count) {
  Corpus last(name_, options_);
  for (std::size_t i = size() - count; i < size(); ++i) {
    const std::string& source = source_of(i).name;
    if (last.sources_.empty() || last.sources_.back().name != source)
      last.sources_.push_back({source, last.text_.size()});
    last.lines_.push_back(lines_[i]);
    last.lines_.back().begin = last.text_.size();
    last.text_ += (*this)[i];
  }
  lines_.resize(size() - count);
  return last;
}

void Corpus::shuffle(Random& random) {
  for (std::size_t left = lines_.size(); left > 1; --left) {
    const auto j = static_cast<std::size_t>(random.uniform() * static_cast<double>(left));
    std::swap(lines_[left - 1], lines_[j]);
  }
}

}  // namespace glassbox
