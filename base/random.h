// Random numbers that are the same on every machine: no std:: distribution, no libm beyond what the
// Gaussian names. A generator is an argument of whatever draws; nothing holds a hidden one.
#pragma once

#include <cstdint>

namespace glassbox {

// mulberry32 (Tommy Ettinger): a 32-bit counter through a mixing function. One stream shuffles the
// lines, then draws the weights; sample 0 of a prompt draws from it too.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}

  // Uniform in [0, 1), a multiple of 2^-32.
  double uniform();
  // Normal with mean 0 and the given standard deviation: Box and Muller's cosine branch by libm's
  // log, sqrt and cos, two uniform numbers a draw (a first one of 0 is drawn again).
  double gaussian(double standard_deviation);

  // The whole state: Random(r.state()) goes on as r would.
  std::uint32_t state() const { return state_; }

 private:
  std::uint32_t state_;
};

// A counter-based stream keyed by (seed, stream): number k of a stream depends on the three alone,
// so streams may be drawn from in any order and by any thread.
//
// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (2011), with the seed as its key and (k, stream) as its counter. For one key Philox is one to one
// from counters to 128-bit blocks, so two streams of a seed never share a block. 32 bits of state,
// as in Random, could not promise that: there all seeds walk one and the same circle.
class CounterRandom {
 public:
  // `k` is the number to begin with.
  CounterRandom(std::uint64_t seed, std::uint64_t stream, std::uint64_t k = 0)
      : seed_(seed), stream_(stream), k_(k) {}
  // Uniform in [0, 1), a multiple of 2^-53: the first 53 bits of block k.
  double uniform();

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t k_;
};

}  // namespace glassbox
