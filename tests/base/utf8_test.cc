#include "base/utf8.h"

#include <vector>

#include "tests/catch_compat.hpp"

using namespace glassbox;

namespace {

// The plainest encoder, of code points that are not allowed too.
std::string encode(char32_t c) {
  const auto byte = [](char32_t b) { return static_cast<char>(b); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  const char last = byte(0x80 | (c & 0x3F)), middle = byte(0x80 | (c >> 6 & 0x3F));
  if (c < 0x10000) return {byte(0xE0 | c >> 12), middle, last};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), middle, last};
}

}  // namespace

TEST_CASE("find_invalid_utf8 accepts every code point but surrogates", "[base][utf8]") {
  std::size_t wrong = 0;
  for (char32_t c = 0; c < 0x120000; ++c) {
    const bool allowed = c < 0x110000 && !(c >= 0xD800 && c < 0xE000);
    const std::string text = std::string("a").append(encode(c)) + "b";
    wrong += find_invalid_utf8(text) != (allowed ? kValidUtf8 : 1);
    if (allowed) wrong += utf8_length(text, 1) != text.size() - 2;
  }
  CHECK(wrong == 0);
}

TEST_CASE("find_invalid_utf8 names the first byte of what is malformed", "[base][utf8]") {
  const std::string bad = GENERATE(as<std::string>(),
                                   "\x80",              // a continuation without a beginning
                                   "\xFF\xFE",          // UTF-16's byte order mark
                                   "\xC0\x80",          // overlong NUL
                                   "\xC1\xBF",          // overlong, two bytes
                                   "\xE0\x9F\xBF",      // overlong, three
                                   "\xF0\x8F\xBF\xBF",  // overlong, four
                                   "\xED\xA0\x80",      // a surrogate
                                   "\xF4\x90\x80\x80",  // U+110000
                                   "\xF5\x80\x80\x80",  // never a first byte
                                   "\xC3", "\xE2\x82", "\xF0\x9F\x90",  // cut off
                                   "\xC3(", "\xE2\x82(", "\xF0\x9F\x90(");
  // Every alignment to the eight bytes of a stride, at the end of the text and before its end.
  for (std::size_t before = 0; before < 20; ++before) {
    for (const char* after : {"", "more than eight bytes"}) {
      CAPTURE(before, after);
      CHECK(find_invalid_utf8(std::string(before, 'a') + bad + after) == before);
    }
  }
}

TEST_CASE("white_space_at knows Unicode's white space and the byte order mark, no more",
          "[base][utf8]") {
  std::vector<char32_t> found;
  for (char32_t c = 0; c < 0x110000; ++c) {
    const std::size_t length = white_space_at(std::string("x").append(encode(c)), 1);
    if (length == 0) continue;
    found.push_back(c);
    CHECK(length == encode(c).size());
  }
  CHECK(found == std::vector<char32_t>{0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x20,   0x85,
                                       0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004,
                                       0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028,
                                       0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF});
}

TEST_CASE("next_word walks the words and stays at the end", "[base][utf8]") {
  const std::string text = "\xEF\xBB\xBF one\xC2\xA0zw\xC3\xB6lf \t\xE3\x80\x80x\r";
  std::size_t offset = 0;
  CHECK(next_word(text, offset) == "one");
  CHECK(next_word(text, offset) == "zw\xC3\xB6lf");
  CHECK(next_word(text, offset) == "x");
  CHECK(next_word(text, offset).empty());
  CHECK(offset == text.size());
  CHECK(next_word(text, offset).empty());
}

TEST_CASE("lower_case goes code point by code point in any script", "[base][utf8]") {
  const auto [text, want] = GENERATE(table<std::string, std::string>({
      {"", ""},
      {"AZ@[`{az09", "az@[`{az09"},
      {"ÄÖÜ ẞ É", "äöü ß é"},
      {"ПРИВЕТ Ёж", "привет ёж"},
      {"ΣΊΣΥΦΟΣ", "σίσυφοσ"},              // no final sigma: no context
      {"İSTANBUL IŞIK", "istanbul işik"},  // no language
      {"ȺȾ", "ⱥⱦ"},                        // two bytes become three
      {"K Å", "k å"},  // the Kelvin and the Angstrom sign: three become one and two
      {"\U00010400", "\U00010428"},
      {"日本語 🐱 عربي", "日本語 🐱 عربي"},
  }));
  CHECK(lower_case(text) == want);
}

TEST_CASE("lower_case changes nothing the second time and never makes or takes white space",
          "[base][utf8]") {
  std::size_t wrong = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const std::string once = lower_case(encode(c));
    wrong += lower_case(once) != once || find_invalid_utf8(once) != kValidUtf8;
    wrong += (white_space_at(once, 0) == 0) != (white_space_at(encode(c), 0) == 0);
    wrong += 2 * once.size() > 3 * encode(c).size();  // Corpus reckons with half as much again
  }
  CHECK(wrong == 0);
}

TEST_CASE("display_width: wide characters take two columns, marks upon others none",
          "[base][utf8]") {
  CHECK(display_width("cat") == 3);
  CHECK(display_width("кот") == 3);
  CHECK(display_width("猫が") == 4);
  CHECK(display_width("고양이") == 6);
  CHECK(display_width("\u1112\u1161\u11ab") == 2);  // a syllable of Hangul in its letters
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("a\u200bb\u200d") == 2);
  CHECK(display_width("😀") == 2);
  CHECK(display_width("ＡＢ") == 4);  // full width
  CHECK(display_width("") == 0);
}
