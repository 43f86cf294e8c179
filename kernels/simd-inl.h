// What the kernel families share, compiled once per SIMD target: loads with tails, sums over the 16
// virtual lanes, and the table-filling frame.
//
// No include guard in the usual sense: foreach_target.h includes a family's file once per target.
#if defined(GLASSBOX_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_SIMD_INL_H_
#undef GLASSBOX_KERNELS_SIMD_INL_H_
#else
#define GLASSBOX_KERNELS_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

#include "kernels/op.h"

#if defined(__FAST_MATH__) || defined(GLASSBOX_OFAST)
#error "glassbox promises equal bits: build it without -ffast-math and without -Ofast"
#endif

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes of T: one virtual lane of a sum never shares a register lane with another.
template <class T>
using Full = hn::CappedTag<T, kLanes>;
template <class T>
using One = hn::CappedTag<T, 1>;

// a * b + c, rounded once where the target has it (engine rule: else multiply, then add,
// everywhere).
template <class V>
HWY_INLINE V fma(V a, V b, V c) {
  return hn::MulAdd(a, b, c);
}

// The first n lanes of p, the others 0. Reads no further than p[n - 1] would allow on padded rows.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first(D d, const T* p, std::size_t n) {
  return hn::IfThenElseZero(hn::FirstN(d, n), hn::LoadU(d, p));
}

// Which lanes of a vector from column m on are columns of a row; the others are pads.
template <class D>
HWY_INLINE hn::Mask<D> visible(D d, std::size_t cols, std::size_t m) {
  return hn::FirstN(d, m < cols ? cols - m : 0);
}

// In-register sum: lanes j and j + half, until one is left.
#if HWY_TARGET == HWY_SCALAR
template <class D, class V>
HWY_INLINE hn::TFromD<D> tree_sum_register(D, V v) {
  return hn::GetLane(v);
}
#else
template <class D, class V>
HWY_INLINE hn::TFromD<D> tree_sum_register([[maybe_unused]] D d, V v) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return tree_sum_register(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

// Sixteen running sums, lane j for every element whose place is j modulo 16. Where there are no
// more than `Lanes` elements the other lanes stay 0, and adding them changes nothing: they may be
// left out.
template <class T, std::size_t Lanes = kLanes>
struct LaneSums {
  using D = hn::CappedTag<T, Lanes>;
  static constexpr std::size_t kWidth = hn::MaxLanes(D());
  static constexpr std::size_t kParts = Lanes / kWidth;
  using V = hn::Vec<D>;
  V part[kParts];

  HWY_INLINE LaneSums() {
    for (auto& p : part) p = hn::Zero(D());
  }
  // What the vector of elements from place i on adds to.
  HWY_INLINE V& at(std::size_t i) { return part[i / kWidth % kParts]; }
  // ((l0 + l8) + (l4 + l12)) + ...: lane j takes lane j + 8, then j + 4, j + 2, j + 1.
  HWY_INLINE T total() const {
    V v[kParts];
    for (std::size_t p = 0; p < kParts; ++p) v[p] = part[p];
    for (std::size_t n = kParts / 2; n > 0; n /= 2)
      for (std::size_t p = 0; p < n; ++p) v[p] = hn::Add(v[p], v[p + n]);
    return tree_sum_register(D(), v[0]);
  }
};

// Calls body(first, lanes) for vectors that cover [0, n): `lanes` is the vector's width but for the
// last.
template <class T, class Body>
HWY_INLINE void for_each_vector(std::size_t n, Body body) {
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  std::size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) body(i, kWidth);
  if (i < n) body(i, n - i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

// Ends a family file whose targets define `template <class T> void fill(Table<T>&)`: per target two
// plain functions, and once the function `family(Table&)` that calls the best target's.
#undef GLASSBOX_FAMILY_FILL
#define GLASSBOX_FAMILY_FILL                           \
  void fill_float(Table<float>& t) { fill<float>(t); } \
  void fill_double(Table<double>& t) { fill<double>(t); }
#undef GLASSBOX_FAMILY_EXPORT
#define GLASSBOX_FAMILY_EXPORT(family)                                  \
  HWY_EXPORT(fill_float);                                               \
  HWY_EXPORT(fill_double);                                              \
  void family(Table<float>& t) { HWY_DYNAMIC_DISPATCH(fill_float)(t); } \
  void family(Table<double>& t) { HWY_DYNAMIC_DISPATCH(fill_double)(t); }
#endif
