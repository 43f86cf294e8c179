// A short name for the content of a file: equal bytes have equal ones. No protection against
// forgery.
#pragma once

#include <string>
#include <string_view>

namespace glassbox {

// FNV-1a, 64 bits, as 16 hexadecimal digits.
std::string fingerprint(std::string_view bytes);

}  // namespace glassbox
