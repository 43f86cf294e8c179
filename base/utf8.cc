#include "base/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace glassbox {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080u;

std::uint8_t byte_at(std::string_view text, std::size_t offset) {
  return static_cast<std::uint8_t>(text[offset]);
}

// The first byte at or after `offset` that is not ASCII, or text.size(). Eight bytes a step.
std::size_t skip_ascii(std::string_view text, std::size_t offset) {
  for (; offset + 8 <= text.size(); offset += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, text.data() + offset, 8);
    if (eight & kHighBits) break;
  }
  while (offset < text.size() && byte_at(text, offset) < 0x80) ++offset;
  return offset;
}

// The length of the valid sequence at `offset`, whose first byte is not ASCII; 0 if there is none.
// The Unicode Standard's table 3-7: only the second byte's range depends on the first; that is what
// keeps out overlong forms (E0, F0), surrogates (ED) and code points beyond U+10FFFF (F4).
std::size_t sequence_length(std::string_view text, std::size_t offset) {
  const std::uint8_t first = byte_at(text, offset);
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() - offset < length) return 0;
  const std::uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte_at(text, offset + 1) < low || byte_at(text, offset + 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, offset + i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool is_ascii_space(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t offset = skip_ascii(text, 0);
  while (offset < text.size()) {
    const std::size_t length = sequence_length(text, offset);
    if (length == 0) return offset;
    offset += length;
    // In most of the world's scripts another such character follows: look before the long strides.
    if (offset < text.size() && byte_at(text, offset) < 0x80) offset = skip_ascii(text, offset);
  }
  return kValidUtf8;
}

std::size_t white_space_at(std::string_view text, std::size_t offset) {
  const std::uint8_t first = byte_at(text, offset);
  if (first < 0x80) return is_ascii_space(first) ? 1 : 0;
  const std::size_t left = text.size() - offset;
  if (left < 2) return 0;
  const std::uint8_t second = byte_at(text, offset + 1);
  if (first == 0xC2) return second == 0x85 || second == 0xA0 ? 2 : 0;  // U+0085, U+00A0
  if (left < 3) return 0;
  const std::uint8_t third = byte_at(text, offset + 2);
  switch (first << 8 | second) {
    case 0xE19A:  // U+1680
      return third == 0x80 ? 3 : 0;
    case 0xE280:  // U+2000 to U+200A, U+2028, U+2029, U+202F
      return third <= 0x8A || third == 0xA8 || third == 0xA9 || third == 0xAF ? 3 : 0;
    case 0xE281:  // U+205F
      return third == 0x9F ? 3 : 0;
    case 0xE380:  // U+3000
      return third == 0x80 ? 3 : 0;
    case 0xEFBB:  // U+FEFF
      return third == 0xBF ? 3 : 0;
    default:
      return 0;
  }
}

std::string_view next_word(std::string_view text, std::size_t& offset) {
  while (offset < text.size()) {
    const std::size_t space = white_space_at(text, offset);
    if (space == 0) break;
    offset += space;
  }
  const std::size_t begin = offset;
  // A continuation byte never begins white space, so going byte by byte is right; and most bytes
  // need no closer look.
  while (offset < text.size()) {
    const std::uint8_t byte = byte_at(text, offset);
    if ((byte <= ' ' || byte >= 0xC2) && white_space_at(text, offset) != 0) break;
    ++offset;
  }
  return text.substr(begin, offset - begin);
}

std::string lower_case(std::string_view text) {
  const std::size_t ascii = skip_ascii(text, 0);
  std::string lowered(text.substr(0, ascii));
  for (char& c : lowered) c = ascii_lower(c);
  if (ascii == text.size()) return lowered;

  lowered.reserve(text.size());
  for (std::size_t offset = ascii; offset < text.size();) {
    if (byte_at(text, offset) < 0x80) {
      lowered += ascii_lower(text[offset++]);
      continue;
    }
    utf8proc_uint8_t bytes[4];
    const auto code_point = static_cast<utf8proc_int32_t>(next_code_point(text, offset));
    const auto length = utf8proc_encode_char(utf8proc_tolower(code_point), bytes);
    lowered.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  }
  return lowered;
}

std::size_t utf8_length(std::string_view text, std::size_t offset) {
  const std::uint8_t first = byte_at(text, offset);
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

std::size_t character_length(std::string_view text, std::size_t offset) {
  if (byte_at(text, offset) < 0x80) return 1;
  return std::max<std::size_t>(1, sequence_length(text, offset));
}

char32_t next_code_point(std::string_view text, std::size_t& offset) {
  utf8proc_int32_t code_point;
  offset += static_cast<std::size_t>(
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + offset,
                       static_cast<utf8proc_ssize_t>(text.size() - offset), &code_point));
  return static_cast<char32_t>(code_point);
}

CharacterClass character_class(char32_t code_point) {
  if ((code_point >= '\t' && code_point <= '\r') || code_point == 0x85)
    return CharacterClass::space;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterClass::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterClass::number;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return CharacterClass::space;
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PI:
      return CharacterClass::opening;
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PF:
      return CharacterClass::closing;
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PC:
      return CharacterClass::dash;
    case UTF8PROC_CATEGORY_PO:
      return CharacterClass::sign;
    case UTF8PROC_CATEGORY_SC:
      return CharacterClass::currency;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SO:
    case UTF8PROC_CATEGORY_SK:
      return CharacterClass::symbol;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return CharacterClass::combining;
    default:
      return CharacterClass::other;
  }
}

bool is_small_letter(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point)) == UTF8PROC_CATEGORY_LL;
}

std::string repaired_utf8(std::string_view text) {
  std::string repaired;
  while (!text.empty()) {
    const std::size_t bad = std::min(find_invalid_utf8(text), text.size());
    repaired += text.substr(0, bad);
    if (bad == text.size()) break;
    repaired += "\uFFFD";
    text.remove_prefix(bad + 1);
  }
  return repaired;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const char32_t code_point = next_code_point(text, offset);
    // Vowels and finals of Hangul join the syllable's first letter, which the table does not say.
    if (code_point >= 0x1160 && code_point <= 0x11FF) continue;
    width +=
        static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point)));
  }
  return width;
}

}  // namespace glassbox
