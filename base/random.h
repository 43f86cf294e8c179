// Random numbers that are the same on every machine: no std:: distribution, no libm beyond what the
// Gaussian names. A generator is an argument of whatever draws; nothing holds a hidden one.
#pragma once

#include <cstdint>

namespace glassbox {

// mulberry32: a 32-bit counter through a mixing function. One stream shuffles the lines, then draws
// the weights; sample 0 of a prompt draws from it too.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}

  // Uniform in [0, 1), a multiple of 2^-32.
  double uniform();
  // Normal with mean 0 and the given standard deviation: Box and Muller's cosine branch, two uniform
  // numbers a draw (a first one of 0 is drawn again).
  double gaussian(double standard_deviation);

  // The whole state: Random(r.state()) goes on as r would.
  std::uint32_t state() const { return state_; }

 private:
  std::uint32_t state_;
};

// A counter-based stream keyed by (seed, stream): number k of a stream depends on the three alone.
// With a 64-bit key two streams of one seed never meet in practice, which 32 bits could not promise.
class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, std::uint64_t stream);
  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform();

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace glassbox
