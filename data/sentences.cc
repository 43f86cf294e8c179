#include "data/sentences.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/utf8.h"

namespace glassbox {
namespace {

// What is written with a full stop and seldom ends a sentence, in small letters.
constexpr std::string_view kAbbreviations[] = {
    "mr",  "mrs", "ms",  "dr",   "prof", "st",   "gen", "col", "capt", "lt",  "sgt",
    "rev", "hon", "sen", "rep",  "gov",  "pres", "mt",  "ft",  "vs",   "cf",  "e.g",
    "i.e", "viz", "fig", "figs", "mme",  "mlle", "hr",  "fr",  "no",   "vol", "pp"};

bool is_stop(char32_t c) { return c == U'.' || c == U'!' || c == U'?' || c == U'…'; }
bool is_wide_stop(char32_t c) { return c == U'。' || c == U'！' || c == U'？'; }
bool is_closing(char32_t c) {
  return c == U'"' || c == U'\'' || character_class(c) == CharacterClass::closing;
}
bool is_opening(char32_t c) {
  return c == U'"' || c == U'\'' || character_class(c) == CharacterClass::opening ||
         character_class(c) == CharacterClass::dash;
}

// Whether the full stop at `stop` belongs to the word before it.
bool is_abbreviation(std::string_view text, std::size_t begin, std::size_t stop) {
  constexpr std::size_t kLongest = 8;  // bytes of a word that is looked at
  std::size_t first = stop;
  while (first > begin && stop - first <= kLongest && text[first - 1] != ' ' &&
         text[first - 1] != '(' && text[first - 1] != '"')
    --first;
  const std::string_view word = text.substr(first, stop - first);
  if (word.empty() || word.size() > kLongest) return false;
  const bool is_initial = word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z' && word != "I";
  std::string small(word);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  // "No." and "Fig." are abbreviations before a number alone.
  if (small == "no" || small == "fig" || small == "figs" || small == "vol" || small == "pp")
    return stop + 2 < text.size() && text[stop + 2] >= '0' && text[stop + 2] <= '9';
  return is_initial || std::ranges::find(kAbbreviations, small) != std::end(kAbbreviations);
}

}  // namespace

std::size_t sentence_end(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at < text.size();) {
    const std::size_t first_stop = at;
    char32_t c = next_code_point(text, at);
    if (!is_stop(c) && !is_wide_stop(c)) continue;
    bool is_wide = is_wide_stop(c);
    const bool is_full_stop = c == U'.';
    std::size_t stops = 1;
    std::size_t behind = at;
    while (at < text.size()) {
      c = next_code_point(text, behind);
      const bool stops_too = is_stop(c) || is_wide_stop(c);
      if (!stops_too && !is_closing(c)) break;
      stops += stops_too;
      is_wide |= is_wide_stop(c);
      at = behind;
    }
    if (is_wide || at == text.size()) return at;
    if (text[at] != ' ') continue;
    if (is_full_stop && stops == 1 && is_abbreviation(text, begin, first_stop)) continue;
    std::size_t next = at + 1;
    do {
      if (next >= text.size()) return at;
      c = next_code_point(text, next);
    } while (is_opening(c));
    if (!is_small_letter(c)) return at;
  }
  return text.size();
}

}  // namespace glassbox
