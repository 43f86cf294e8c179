// The largest logit, and the weights of a draw with sums to search in.
#include "kernels/sampling.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sampling.cc"
#include <hwy/foreach_target.h>

#include <limits>

#include "kernels/exp-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

// The first `lanes` scalars at p, none beyond: rows of others have no pads. The other lanes are 0.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first_exactly(D d, const T* p, std::size_t lanes) {
  T copy[hn::MaxLanes(D())] = {};
  for (std::size_t i = 0; i < lanes && i < hn::MaxLanes(d); ++i) copy[i] = p[i];
  return hn::LoadU(d, copy);
}

template <class T>
T max(const T* x, std::size_t size) {
  const Full<T> d;
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto most = lowest;
  auto sound = hn::Eq(lowest, lowest);  // lanes in which every number so far equals itself
  for_each_vector<T>(size, [&](std::size_t i, std::size_t lanes) {
    const auto v =
        lanes == hn::MaxLanes(d)
            ? hn::LoadU(d, x + i)
            : hn::IfThenElse(hn::FirstN(d, lanes), load_first_exactly(d, x + i, lanes), lowest);
    most = hn::Max(most, v);
    sound = hn::And(sound, hn::Eq(v, v));
  });
  return hn::AllTrue(d, sound) ? hn::GetLane(hn::MaxOfLanes(d, most))
                               : std::numeric_limits<T>::quiet_NaN();
}

// 2^y for y from -126 to 0, within 3 units of 2^-24: y = n + f, 2^f by its Taylor polynomial in f
// ln 2, n added to the exponent. A third of the work of exp(), which the table of operations has:
// what it is for needs no edges and no equal bits.
template <class D, class V>
HWY_INLINE V power_of_two(D d, V y) {
  const hn::Rebind<std::int32_t, D> di;
  constexpr float kRound =
      12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest whole number in the low bits
  constexpr float kTaylor[] = {1.0f,          0.69314718f,   0.24022651f,    0.055504109f,
                               0.0096181291f, 0.0013333558f, 0.00015403530f, 0.000015252734f};
  const V shifted = hn::Add(y, hn::Set(d, kRound));
  const V f = hn::Sub(y, hn::Sub(shifted, hn::Set(d, kRound)));
  V p = hn::Set(d, kTaylor[7]);
  for (int k = 6; k >= 0; --k) p = fma(p, f, hn::Set(d, kTaylor[k]));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

void exp_weights(const ExpWeightsArgs& args) {
  const Full<float> d;
  const ExpWeightsArgs x = args;
  constexpr std::size_t kWidth = hn::MaxLanes(Full<float>()), kParts = LaneSums<float>::kParts;
  const auto most = hn::Set(d, x.max), scale = hn::Set(d, x.scale);
  const auto weight = [&](auto logits) HWY_ATTR {
    return power_of_two(d, hn::Max(hn::Mul(hn::Sub(logits, most), scale), hn::Set(d, -126.0f)));
  };
  std::size_t i = 0;
  for (; i + kDrawBlock <= x.size; i += kDrawBlock) {
    LaneSums<float> sums;
    for (std::size_t v = 0; v < kDrawBlock / kWidth; ++v) {
      const auto w = weight(hn::LoadU(d, x.logits + i + v * kWidth));
      sums.part[v % kParts] = hn::Add(sums.part[v % kParts], w);
      if (x.weights) hn::StoreU(w, d, x.weights + i + v * kWidth);
    }
    x.sums[i / kDrawBlock] = sums.total();
  }
  if (i == x.size) return;
  LaneSums<float> sums;
  for (std::size_t v = 0; v < kDrawBlock / kWidth; ++v) {
    const std::size_t at = i + v * kWidth, lanes = at < x.size ? x.size - at : 0;
    auto w = hn::Zero(d);
    if (lanes >= kWidth)
      w = weight(hn::LoadU(d, x.logits + at));
    else if (lanes > 0)
      w = hn::IfThenElseZero(hn::FirstN(d, lanes),
                             weight(load_first_exactly(d, x.logits + at, lanes)));
    sums.part[v % kParts] = hn::Add(sums.part[v % kParts], w);
    if (x.weights) hn::StoreU(w, d, x.weights + at);
  }
  x.sums[i / kDrawBlock] = sums.total();
}

template <class T>
void fill(Table<T>& t) {
  t.max = max<T>;
  t.exp_weights = exp_weights;
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(sampling_family)
}  // namespace glassbox::kernels
#endif
