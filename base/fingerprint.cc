#include "base/fingerprint.h"

#include <fmt/core.h>

namespace glassbox {

void Fingerprint::add(std::string_view bytes) {
  for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
}

std::string Fingerprint::text() const { return fmt::format("{:016x}", hash_); }

std::string fingerprint(std::string_view bytes) {
  Fingerprint whole;
  whole.add(bytes);
  return whole.text();
}

}  // namespace glassbox
