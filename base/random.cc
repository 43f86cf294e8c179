#include "base/random.h"

#include <cmath>
#include <numbers>

namespace glassbox {

double Random::uniform() {
  state_ += 0x6d2b79f5u;
  std::uint32_t t = state_;
  t = (t ^ t >> 15) * (t | 1);
  t ^= t + (t ^ t >> 7) * (t | 61);
  return (t ^ t >> 14) * 0x1p-32;
}

double Random::gaussian(double standard_deviation) {
  double u1 = uniform();
  while (u1 == 0) u1 = uniform();  // log(0)
  const double u2 = uniform();
  return standard_deviation * (std::sqrt(-2 * std::log(u1)) * std::cos(2 * std::numbers::pi * u2));
}

double CounterRandom::uniform() {
  std::uint32_t block[4] = {static_cast<std::uint32_t>(k_), static_cast<std::uint32_t>(k_ >> 32),
                            static_cast<std::uint32_t>(stream_),
                            static_cast<std::uint32_t>(stream_ >> 32)};
  std::uint32_t key[2] = {static_cast<std::uint32_t>(seed_),
                          static_cast<std::uint32_t>(seed_ >> 32)};
  ++k_;
  // Ten rounds; the four constants are the paper's.
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53u} * block[0];
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57u} * block[2];
    block[0] = static_cast<std::uint32_t>(odd >> 32) ^ block[1] ^ key[0];
    block[1] = static_cast<std::uint32_t>(odd);
    block[2] = static_cast<std::uint32_t>(even >> 32) ^ block[3] ^ key[1];
    block[3] = static_cast<std::uint32_t>(even);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  const std::uint64_t bits = std::uint64_t{block[0]} << 32 | block[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace glassbox
