// A short name for the content of a file: equal bytes have equal ones. No protection against
// forgery.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace glassbox {

// FNV-1a, 64 bits, as 16 hexadecimal digits.
std::string fingerprint(std::string_view bytes);

// The same of bytes that come piece by piece.
class Fingerprint {
 public:
  void add(std::string_view bytes);
  std::string text() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace glassbox
