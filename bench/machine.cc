#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/machine.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "bench/machine.h"
#include "kernels/aligned.h"

#if defined(__unix__)
#include <unistd.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace glassbox {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Seconds of the quickest of several calls: others may use the machine.
template <class F>
double quickest(F work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 15; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

// What the compiler can't know, so that it computes.
template <class T>
HWY_NOINLINE T opaque(T x) {
  volatile T seen = x;
  return seen;
}
volatile double sink = 0;

template <class T>
Machine::Arithmetic arithmetic() {
  const hn::CappedTag<T, 16> d;
  using V = hn::Vec<hn::CappedTag<T, 16>>;
  constexpr std::size_t kLoops = 200'000, kChains = 12;
  const double lanes = static_cast<double>(hn::MaxLanes(d));
  const V a = hn::Set(d, opaque(T(0.999))), b = hn::Set(d, opaque(T(0.001)));
  // Chains that began with the same number would be one to the compiler.
  const auto different = [&](std::size_t c) { return hn::Set(d, opaque(static_cast<T>(c + 1))); };
  Machine::Arithmetic out;
  out.multiply_add = quickest([&] {
                       V sum[kChains];
                       for (std::size_t c = 0; c < kChains; ++c) sum[c] = different(c);
                       for (std::size_t i = 0; i < kLoops; ++i)
                         for (auto& v : sum) v = hn::MulAdd(v, a, b);
                       for (const auto& v : sum) sink = sink + static_cast<double>(hn::GetLane(v));
                     }) /
                     (kLoops * kChains * lanes);
  constexpr std::size_t kRoots = 4;
  out.root_and_division = quickest([&] {
                            V x[kRoots];
                            for (std::size_t c = 0; c < kRoots; ++c) x[c] = different(c);
                            for (std::size_t i = 0; i < kLoops / 4; ++i)
                              for (auto& v : x) v = hn::Div(b, hn::Sqrt(v));
                            for (const auto& v : x)
                              sink = sink + static_cast<double>(hn::GetLane(v));
                          }) /
                          (kLoops / 4 * kRoots * lanes);
  return out;
}

// Seconds a byte.
double reading(const kernels::AlignedVector<std::uint32_t>& array, std::size_t bytes) {
  const hn::CappedTag<std::uint32_t, 16> d;
  using V = hn::Vec<hn::CappedTag<std::uint32_t, 16>>;
  constexpr std::size_t kSums = 8, kWidth = hn::MaxLanes(d);
  const std::size_t words = bytes / 4 / (kSums * kWidth) * (kSums * kWidth);
  const std::size_t times = std::max<std::size_t>(1, (std::size_t{1} << 24) / bytes);
  return quickest([&] {
           V sum[kSums];
           for (auto& v : sum) v = hn::Zero(d);
           for (std::size_t t = 0; t < times; ++t)
             for (std::size_t i = 0; i < words; i += kSums * kWidth)
               for (std::size_t s = 0; s < kSums; ++s)
                 sum[s] = hn::Xor(sum[s], hn::LoadU(d, array.data() + i + s * kWidth));
           for (const auto& v : sum) sink = sink + hn::GetLane(v);
         }) /
         static_cast<double>(times * words * 4);
}

Machine measure() {
  Machine machine{arithmetic<float>(), arithmetic<double>(), {}, {32 << 10, 512 << 10, 8 << 20}};
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  for (std::size_t i = 0; i < 3; ++i)
    if (const long bytes = sysconf(names[i]); bytes > 0)
      machine.cache[i] = static_cast<std::size_t>(bytes);
#endif
  kernels::AlignedVector<std::uint32_t> array((std::size_t{256} << 20) / 4, 1);
  // Half of a cache; of the third, which others share, twice the second.
  const std::size_t bytes[] = {machine.cache[0] / 2, machine.cache[1] / 2, 2 * machine.cache[1],
                               array.size() * 4};
  for (std::size_t i = 0; i < Machine::kLevels; ++i) machine.byte[i] = reading(array, bytes[i]);
  return machine;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox {
HWY_EXPORT(measure);
Machine measure_machine() { return HWY_DYNAMIC_DISPATCH(measure)(); }
}  // namespace glassbox
#endif
