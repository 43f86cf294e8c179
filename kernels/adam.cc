// Adam (Kingma and Ba 2015, arXiv:1412.6980), with the bias corrections folded into two numbers a step:
//   m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,  w = w - a m / (sqrt(v) + e)
//   a = learning_rate sqrt(1 - b2^t) / (1 - b1^t),  e = epsilon sqrt(1 - b2^t)
// which is the paper's last formula before section 2.1. One exact square root and one exact division an
// element: no estimates, so the bits are the same on every target.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adam.cc"
#include <hwy/foreach_target.h>

#include <limits>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

// A moment that shrinks without gradient sinks below the normal numbers, where arithmetic is slow: such a
// one becomes 0. The processor's own mode for this belongs to the caller.
template <class D, class V>
HWY_INLINE V flush(D d, V v) {
  const V smallest = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::min());
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(v), smallest), v);
}

// REQUIRES: size is a multiple of kLanes.
template <class T>
void adam(const AdamArgs<T>& x) {
  const Full<T> d;
  const auto b1 = hn::Set(d, x.beta1), b2 = hn::Set(d, x.beta2);
  const auto c1 = hn::Set(d, x.one_minus_beta1), c2 = hn::Set(d, x.one_minus_beta2);
  const auto step = hn::Set(d, -x.step_size), epsilon = hn::Set(d, x.epsilon);
  for (std::size_t i = 0; i < x.size; i += hn::MaxLanes(d)) {
    const auto g = hn::LoadU(d, x.g + i);
    const auto m = flush(d, fma(b1, hn::LoadU(d, x.m + i), hn::Mul(c1, g)));
    const auto v = flush(d, fma(b2, hn::LoadU(d, x.v + i), hn::Mul(hn::Mul(c2, g), g)));
    hn::StoreU(m, d, x.m + i);
    hn::StoreU(v, d, x.v + i);
    const auto ratio = hn::Div(m, hn::Add(hn::Sqrt(v), epsilon));
    hn::StoreU(fma(step, ratio, hn::LoadU(d, x.w + i)), d, x.w + i);
  }
}

template <class T>
void fill(Table<T>& t) {
  t.adam = adam<T>;
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(adam_family)
}  // namespace glassbox::kernels
#endif
