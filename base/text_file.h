// Text files: UTF-8 without NUL bytes, in lines that end with LF, CR LF or CR.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace glassbox {

// Throws FormatError for the first byte that is no text, with `name` and its line.
void check_text(std::string_view text, const std::string& name);

// The file's text, a byte order mark left out. Refused where the first byte that is no text is
// read: the rest of a file of gigabytes is left alone. Throws FileError, or FormatError as
// check_text does.
std::string read_text(const std::string& path);
std::string read_standard_input_text();

// The line that begins at `offset`, without its end; `offset` moves to the next one's beginning.
// REQUIRES: offset < text.size().
std::string_view next_line(std::string_view text, std::size_t& offset);

}  // namespace glassbox
