// UTF-8: validity, white space, words, lower case, columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace glassbox {

inline constexpr std::size_t kValidUtf8 = static_cast<std::size_t>(-1);

// The offset of the first byte that is not part of a valid sequence (overlong forms, surrogates and
// code points beyond U+10FFFF are invalid), or kValidUtf8.
std::size_t find_invalid_utf8(std::string_view text);

// The number of bytes at `offset` that are one white-space character: the ASCII ones, U+0085,
// U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000, U+FEFF (a byte order
// mark). 0 if none.
std::size_t white_space_at(std::string_view text, std::size_t offset);

// The next word: the first run without white space at or after `offset`, which moves to the word's
// end. Empty when there is none. The view is into `text`.
std::string_view next_word(std::string_view text, std::size_t& offset);

// Code point by code point, by Unicode's simple lower-case mapping: no context (a capital sigma
// never becomes a final one) and no language (U+0130 becomes i, in Turkish text too). REQUIRES:
// valid UTF-8.
std::string lower_case(std::string_view text);

// Bytes of the sequence that begins at `offset`. REQUIRES: valid UTF-8.
std::size_t utf8_length(std::string_view text, std::size_t offset);
// The same for any bytes: one that begins no valid sequence counts alone.
std::size_t character_length(std::string_view text, std::size_t offset);

// The code point at `offset`, which moves behind it. REQUIRES: valid UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& offset);

// What a character is for, by its general category in Unicode.
enum class CharacterClass {
  space,      // as white_space_at() has it, but for U+FEFF, which is `other`
  letter,     // L
  number,     // N
  opening,    // Ps, Pi
  closing,    // Pe, Pf
  dash,       // Pd, Pc
  sign,       // Po: other punctuation
  currency,   // Sc
  symbol,     // Sm, So, Sk
  combining,  // M
  other       // C
};
CharacterClass character_class(char32_t code_point);
bool is_small_letter(char32_t code_point);  // Ll

// The text with each byte that is not part of a valid sequence replaced by U+FFFD.
std::string repaired_utf8(std::string_view text);

// Columns that a terminal takes for the text, code point by code point: two for a wide one
// (Chinese, most emoji), none for one that is drawn upon its neighbour or not at all. REQUIRES:
// valid UTF-8.
std::size_t display_width(std::string_view text);

}  // namespace glassbox
