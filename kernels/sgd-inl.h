// The rule of stochastic gradient descent with momentum, on one vector of weights (Polyak 1964,
// with the rate outside of the sum, as PyTorch has it):
//   m = b m + g,  w = w - a m
#if defined(GLASSBOX_KERNELS_SGD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_SGD_INL_H_
#undef GLASSBOX_KERNELS_SGD_INL_H_
#else
#define GLASSBOX_KERNELS_SGD_INL_H_
#endif

#include <limits>

#include "kernels/optimizer.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
class SgdRule {
 public:
  using V = hn::Vec<Full<T>>;

  HWY_INLINE explicit SgdRule(const AdamSettings<T>& x)
      : momentum_(hn::Set(d_, x.beta1)),
        rate_(hn::Set(d_, -x.step_size)),
        smallest_(hn::Set(d_, x.flushes(x.step) ? std::numeric_limits<T>::min() : T(0))) {}

  // A moment below the normal numbers becomes 0 every so many steps, as in Adam.
  HWY_INLINE void update(V g, T* w, const OptimizerState<T>& state, std::size_t at) const {
    const V sum = fma(momentum_, hn::LoadU(d_, state.m + at), g);
    const V m = hn::IfThenZeroElse(hn::Lt(hn::Abs(sum), smallest_), sum);
    hn::StoreU(m, d_, state.m + at);
    hn::StoreU(fma(rate_, m, hn::LoadU(d_, w + at)), d_, w + at);
  }

 private:
  const Full<T> d_{};
  const V momentum_, rate_, smallest_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();
#endif
