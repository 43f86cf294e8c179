#include "data/token_kinds.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "data/bpe.h"

namespace glassbox {
namespace {

void cut_words(std::string_view text, const TokenVisitor& visit) {
  std::size_t offset = 0;
  for (auto word = next_word(text, offset); !word.empty(); word = next_word(text, offset))
    visit(word);
}

// Each code point is a token, and so is a blank within the text.
void cut_characters(std::string_view text, const TokenVisitor& visit) {
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    while (offset < text.size()) {
      const std::size_t blank = white_space_at(text, offset);
      if (blank == 0) break;
      offset += blank;
    }
    if (offset == text.size()) return;
    if (offset > begin && begin > 0) visit(" ");
    const std::size_t length = utf8_length(text, offset);
    visit(text.substr(offset, length));
    offset += length;
  }
}

bool is_word(std::string_view text) {
  std::size_t offset = 0;
  return next_word(text, offset) == text;
}

bool is_character(std::string_view text) {
  return text == " " || (utf8_length(text, 0) == text.size() && white_space_at(text, 0) == 0);
}

template <char separator>
std::string join_with(std::span<const std::string_view> tokens) {
  std::string text;
  for (const std::string_view token : tokens) {
    if (separator != 0 && !text.empty()) text += separator;
    text += token;
  }
  return text;
}

// word-punct. A mark is a token of its own, but for an apostrophe between letters and a point or a
// comma between digits.

bool is_mark(CharacterClass c) {
  return c >= CharacterClass::opening && c <= CharacterClass::symbol;
}

CharacterClass class_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return CharacterClass::space;
  if (white_space_at(text, offset) > 0) return CharacterClass::space;
  return character_class(next_code_point(text, offset));
}

// The mark or word at `offset`, where there is no white space.
std::string_view mark_or_word(std::string_view text, std::size_t offset) {
  const std::size_t begin = offset;
  CharacterClass before = class_at(text, offset);
  next_code_point(text, offset);
  if (is_mark(before)) {
    while (class_at(text, offset) == CharacterClass::combining) next_code_point(text, offset);
    return text.substr(begin, offset - begin);
  }
  while (true) {
    CharacterClass here = class_at(text, offset);
    std::size_t behind = offset;
    if (here == CharacterClass::space) break;
    const char32_t c = next_code_point(text, behind);
    if (is_mark(here)) {
      const CharacterClass after = class_at(text, behind);
      const bool within_letters = (c == U'\'' || c == U'\u2019') &&
                                  before != CharacterClass::number &&
                                  after == CharacterClass::letter;
      const bool within_digits = (c == U'.' || c == U',') && before == CharacterClass::number &&
                                 after == CharacterClass::number;
      if (!within_letters && !within_digits) break;
      here = after;
      next_code_point(text, behind);
    }
    before = here;
    offset = behind;
  }
  return text.substr(begin, offset - begin);
}

// Where people write a blank: what each mark is joined to.
class Spacing {
 public:
  // Whether a blank is usual between the last token that was added and this one.
  bool is_usual_before(std::string_view token) const { return !joined_ && !sides(token).left; }
  void add(std::string_view token) {
    joined_ = sides(token).right;
    if (token == "\"") quoted_ = !quoted_;
  }

 private:
  struct Sides {
    bool left, right;
  };
  Sides sides(std::string_view token) const {
    if (token == "\"") return {quoted_, !quoted_};
    std::size_t offset = 0;
    const char32_t c = next_code_point(token, offset);
    const CharacterClass what = character_class(c);
    const bool is_one = std::all_of(token.begin() + static_cast<std::ptrdiff_t>(offset),
                                    token.end(), [](char byte) { return (byte & 0x80) != 0; });
    if (!is_mark(what) || !is_one) return {false, false};  // a word, or "<unk>"
    constexpr char32_t kFirstWide = 0x3000;  // Chinese and Japanese marks: no blanks around
    if (what != CharacterClass::symbol && c >= kFirstWide) return {true, true};
    switch (what) {
      case CharacterClass::opening:
      case CharacterClass::currency:
        return {false, true};
      case CharacterClass::dash:
        return {true, true};
      case CharacterClass::closing:
        return {true, false};
      case CharacterClass::sign:
        if (c == U'/' || c == U'\\') return {true, true};
        if (c == U'&' || c == U'*') return {false, false};
        if (c == U'\u00A1' || c == U'\u00BF' || c == U'@' || c == U'#') return {false, true};
        return {true, false};
      default:
        return {false, false};
    }
  }
  bool joined_ = true;  // nothing is written before the next token: at the beginning, nothing
  bool quoted_ = false;
};

void cut_marks(std::string_view text, const TokenVisitor& visit) {
  Spacing spacing;
  bool is_first = true;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    while (offset < text.size() && white_space_at(text, offset) > 0)
      offset += white_space_at(text, offset);
    if (offset == text.size()) return;
    const std::string_view token = mark_or_word(text, offset);
    const bool has_blank = offset > begin;
    if (!is_first && has_blank != spacing.is_usual_before(token))
      visit(has_blank ? kBlankToken : kJoinToken);
    visit(token);
    spacing.add(token);
    offset += token.size();
    is_first = false;
  }
}

bool is_mark_or_word(std::string_view text) {
  if (text == kBlankToken || text == kJoinToken) return true;
  return white_space_at(text, 0) == 0 && mark_or_word(text, 0) == text;
}

std::string join_marks(std::span<const std::string_view> tokens) {
  std::string text;
  Spacing spacing;
  std::string_view asked;  // kBlankToken or kJoinToken, before the next token
  for (const std::string_view token : tokens) {
    if (token == kBlankToken || token == kJoinToken) {
      asked = token;
      continue;
    }
    const bool has_blank = asked.empty() ? spacing.is_usual_before(token) : asked == kBlankToken;
    if (!text.empty() && has_blank) text += ' ';
    text += token;
    spacing.add(token);
    asked = {};
  }
  return text;
}

constexpr TokenizerKind kKinds[] = {
    {"word", "a word without white space", "word", cut_words, is_word, join_with<' '>, " ", true},
    {"word-punct", "a word or a punctuation mark", "token", cut_marks, is_mark_or_word, join_marks,
     " ", false},
    {"char", "a single character", "character", cut_characters, is_character, join_with<0>, "",
     true},
    {"bpe", "bytes in the spelling of byte-level BPE", "token", cut_pieces, is_bytes_spelling,
     join_bytes, "", true, true},
};

}  // namespace

std::span<const TokenizerKind> tokenizer_kinds() { return kKinds; }

const TokenizerKind* find_tokenizer_kind(std::string_view name) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const TokenizerKind& kind) { return name == kind.name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace glassbox
