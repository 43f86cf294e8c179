#include "data/corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/text_file.h"
#include "base/utf8.h"

namespace glassbox {

Corpus Corpus::read(const std::string& path, const CorpusOptions& options) {
  return Corpus(options.exact ? read_file(path) : read_text(path), path, options);
}

Corpus Corpus::from_text(std::string_view text, const std::string& name,
                         const CorpusOptions& options) {
  if (!options.exact) check_text(text, name);
  return Corpus(std::string(text), name, options);
}

// Folds in place: a folded line is rarely longer than what it was made from.
Corpus::Corpus(std::string text, const std::string& name, const CorpusOptions& options)
    : name_(name), text_(std::move(text)), lowercase_(options.lowercase) {
  if (text_.starts_with("\uFEFF")) text_.erase(0, std::string_view("\uFEFF").size());
  const bool was_empty = text_.empty();
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
    if (lowercase_) line = lowered = lower_case(line);
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
    if (options.exact) {
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

    constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
    if (number > kMost || folded - first > kMost) {
      throw FormatError(fmt::format(
          "{}: line {}: expected at most {} lines and as many bytes in one, found more; {}", name_,
          number, kMost, "split the file"));
    }
    lines_.push_back(
        {first, static_cast<std::uint32_t>(folded - first), static_cast<std::uint32_t>(number)});
  }
  text_.resize(folded);
  if (lines_.empty()) {
    throw FormatError(fmt::format("{}: expected a sentence a line, found {}; write one", name_,
                                  was_empty ? "an empty file" : "nothing but white space"));
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
  Corpus last(name_, lowercase_);
  for (std::size_t i = size() - count; i < size(); ++i) {
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
