// What a draw of one of many needs of their logits: the largest, and the weights with sums to search in.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/draw.cc"
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
T highest(const T* x, std::size_t size) {
  const Full<T> d;
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto most = lowest;
  auto sound = hn::Eq(lowest, lowest);  // lanes in which every number so far equals itself
  for_each_vector<T>(size, [&](std::size_t i, std::size_t lanes) {
    const auto v = lanes == hn::MaxLanes(d)
                       ? hn::LoadU(d, x + i)
                       : hn::IfThenElse(hn::FirstN(d, lanes), load_first_exactly(d, x + i, lanes), lowest);
    most = hn::Max(most, v);
    sound = hn::And(sound, hn::Eq(v, v));
  });
  return hn::AllTrue(d, sound) ? hn::GetLane(hn::MaxOfLanes(d, most)) : std::numeric_limits<T>::quiet_NaN();
}

// Each sum is ((w0 + w8) + (w4 + w12)) + ..., as LaneSums adds its lanes.
template <class T>
void weigh(const WeighArgs<T>& x) {
  const Full<T> d;
  constexpr std::size_t kWidth = hn::MaxLanes(d);
  const auto most = hn::Set(d, x.highest), scale = hn::Set(d, x.scale);
  std::size_t i = 0;
  const auto weight = [&](auto logits) { return exp(d, hn::Mul(hn::Sub(logits, most), scale)); };
  for (; i + kLanes <= x.size; i += kLanes) {
    LaneSums<T> sums;
    for (std::size_t p = 0; p < LaneSums<T>::kParts; ++p) {
      sums.part[p] = weight(hn::LoadU(d, x.logits + i + p * kWidth));
      hn::StoreU(sums.part[p], d, x.weights + i + p * kWidth);
    }
    x.sums[i / kLanes] = sums.total();
  }
  if (i == x.size) return;
  LaneSums<T> sums;
  for (std::size_t p = 0; p < LaneSums<T>::kParts; ++p) {
    const std::size_t at = i + p * kWidth, lanes = at < x.size ? x.size - at : 0;
    if (lanes > 0)
      sums.part[p] = hn::IfThenElseZero(hn::FirstN(d, lanes),
                                        weight(load_first_exactly(d, x.logits + at, lanes)));
    hn::StoreU(sums.part[p], d, x.weights + at);
  }
  x.sums[i / kLanes] = sums.total();
}

template <class T>
void fill(Table<T>& t) {
  t.highest = highest<T>;
  t.weigh = weigh<T>;
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(draw_family)
}  // namespace glassbox::kernels
#endif
