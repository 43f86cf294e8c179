#include "base/text_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"

namespace glassbox {
namespace {

std::size_t line_at(std::string_view text, std::size_t offset) {
  std::size_t line = 0;
  for (std::size_t begin = 0; begin <= offset; ++line) next_line(text, begin);
  return line;
}

// The first byte at or after `offset` that is no text, or text.size(). `offset` is where a
// character begins.
std::size_t find_no_text(std::string_view text, std::size_t offset) {
  const std::string_view no_nul = text.substr(0, text.find('\0', offset));
  return std::min(offset + std::min(find_invalid_utf8(no_nul.substr(offset)), text.size()),
                  no_nul.size());
}

[[noreturn]] void refuse(std::string_view text, const std::string& name, std::size_t at) {
  const std::string where = fmt::format("{}: line {}", name, line_at(text, at));
  if (text[at] == '\0')
    throw FormatError(
        fmt::format("{}: expected UTF-8 text, found a NUL byte: is this a text file?", where));
  throw FormatError(
      fmt::format("{}: expected UTF-8 text, found the byte 0x{:02X}; save the file "
                  "as UTF-8",
                  where, static_cast<unsigned char>(text[at])));
}

template <class Read>
std::string checked_text(const std::string& name, Read read) {
  constexpr std::size_t kLongest = 4;  // bytes of a character
  std::size_t good = 0;
  std::string text = read([&](std::string_view so_far) {
    good = find_no_text(so_far, good);
    // The last character may be cut: what follows is not read yet.
    if (good + kLongest <= so_far.size() || (good < so_far.size() && so_far[good] == '\0'))
      refuse(so_far, name, good);
  });
  if (good < text.size()) refuse(text, name, good);
  if (text.starts_with("\uFEFF")) text.erase(0, std::string_view("\uFEFF").size());
  return text;
}

}  // namespace

void check_text(std::string_view text, const std::string& name) {
  const std::size_t bad = find_no_text(text, 0);
  if (bad < text.size()) refuse(text, name, bad);
}

std::string read_text(const std::string& path) {
  return checked_text(path, [&](const ReadCheck& check) { return read_file(path, check); });
}

std::string read_standard_input_text() {
  return checked_text("standard input", read_standard_input);
}

std::string_view next_line(std::string_view text, std::size_t& offset) {
  // A piece at a time, so that a text that has only one of the two is not searched for the other to
  // its end at every line.
  constexpr std::size_t kPiece = 4096;
  const std::size_t begin = offset;
  std::size_t end = begin;
  while (end < text.size()) {
    std::string_view piece = text.substr(end, kPiece);
    piece = piece.substr(0, piece.find('\n'));
    piece = piece.substr(0, piece.find('\r'));
    end += piece.size();
    if (piece.size() < kPiece) break;
  }
  offset = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  return text.substr(begin, end - begin);
}

}  // namespace glassbox
