// Text from outside as a message shows it: short, so that the line stays one that can be read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace glassbox {

// The text, or its first `most` characters and "..." if it has more. Never half a character; a byte
// that is part of none counts as one.
std::string shortened(std::string_view text, std::size_t most = 60);

// Shortened and as a JSON string, with its quotes.
std::string quotation(std::string_view text);

// "a, b, c": of more than a handful the first, "and 7 more".
std::string listed(const std::vector<std::string>& items);

// "1 word", "2 words".
std::string counted(std::size_t count, std::string_view unit);

}  // namespace glassbox
