// The rule of Adam, on one vector of weights (Kingma and Ba 2015, arXiv:1412.6980), with the bias
// corrections folded into two numbers a step:
//   m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,  w = w - a m / (sqrt(v) + e)
//   a = learning_rate sqrt(1 - b2^t) / (1 - b1^t),  e = epsilon sqrt(1 - b2^t)
// which is the paper's last formula before section 2.1. One exact square root and one exact
// division an element: no estimates, so the bits are the same on every target.
#if defined(GLASSBOX_KERNELS_ADAM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_ADAM_INL_H_
#undef GLASSBOX_KERNELS_ADAM_INL_H_
#else
#define GLASSBOX_KERNELS_ADAM_INL_H_
#endif

#include <limits>

#include "kernels/optimizer.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
class AdamRule {
 public:
  using V = hn::Vec<Full<T>>;

  HWY_INLINE explicit AdamRule(const AdamSettings<T>& x)
      : b1_(hn::Set(d_, x.beta1)),
        b2_(hn::Set(d_, x.beta2)),
        c1_(hn::Set(d_, x.one_minus_beta1)),
        c2_(hn::Set(d_, x.one_minus_beta2)),
        step_(hn::Set(d_, -x.step_size)),
        epsilon_(hn::Set(d_, x.epsilon)),
        flush_(x.flushes(x.step)) {}

  HWY_INLINE void update(V g, T* w, const OptimizerState<T>& state, std::size_t at) const {
    T *m = state.m + at, *v = state.v + at;
    const V new_m = flush(fma(b1_, hn::LoadU(d_, m), hn::Mul(c1_, g)));
    const V new_v = flush(fma(b2_, hn::LoadU(d_, v), hn::Mul(hn::Mul(c2_, g), g)));
    hn::StoreU(new_m, d_, m);
    hn::StoreU(new_v, d_, v);
    move(new_m, new_v, w + at);
  }

  // A scalar long without gradient has a step so small that w + step rounds to w: if that is sure
  // of all lanes, the root and the division, most of the cost, are spared. Sure is:
  //   |a m| / sqrt(v) < 2^-4 ulp(w), taken to the square; `smallest` covers what underflows
  // Returns whether it was. As long as step sizes grow slower than m / sqrt(v) shrinks, it stays
  // sure.
  HWY_INLINE bool update_without_gradient(T* w, const OptimizerState<T>& state,
                                          std::size_t at) const {
    T *m = state.m + at, *v = state.v + at;
    constexpr T kShare =
        std::numeric_limits<T>::epsilon() * std::numeric_limits<T>::epsilon() / 256;
    const V new_m = flush(hn::Mul(b1_, hn::LoadU(d_, m)));
    const V new_v = flush(hn::Mul(b2_, hn::LoadU(d_, v)));
    hn::StoreU(new_m, d_, m);
    hn::StoreU(new_v, d_, v);
    const V weight = hn::LoadU(d_, w + at), step = hn::Mul(step_, new_m);
    const V smallest = hn::Set(d_, std::numeric_limits<T>::min());
    // In this order, since the square of a large weight may overflow.
    const V bound = hn::Mul(weight, hn::Mul(weight, hn::Mul(new_v, hn::Set(d_, kShare))));
    const auto stays =
        hn::Or(hn::Lt(fma(step, step, smallest), bound), hn::Eq(new_m, hn::Zero(d_)));
    if (hn::AllTrue(d_, stays)) return true;
    move(new_m, new_v, w + at);
    return false;
  }

  HWY_INLINE void catch_up(const OptimizerState<T>& state, std::size_t at, std::uint32_t from,
                           std::uint32_t to) const {
    T *m = state.m + at, *v = state.v + at;
    const V smallest = hn::Set(d_, std::numeric_limits<T>::min());
    V new_m = hn::LoadU(d_, m), new_v = hn::LoadU(d_, v);
    for (std::uint32_t step = from + 1; step <= to; ++step) {
      new_m = hn::Mul(b1_, new_m);
      new_v = hn::Mul(b2_, new_v);
      if (AdamSettings<T>::flushes(step)) {
        new_m = hn::IfThenZeroElse(hn::Lt(hn::Abs(new_m), smallest), new_m);
        new_v = hn::IfThenZeroElse(hn::Lt(new_v, smallest), new_v);
      }
    }
    hn::StoreU(new_m, d_, m);
    hn::StoreU(new_v, d_, v);
  }

 private:
  // A moment that shrinks without gradient sinks below the normal numbers, where arithmetic is
  // slow: every so many steps such a one becomes 0. The processor's own mode for this belongs to
  // the caller.
  HWY_INLINE V flush(V x) const {
    if (!flush_) return x;
    const V smallest = hn::Set(d_, std::numeric_limits<T>::min());
    return hn::IfThenZeroElse(hn::Lt(hn::Abs(x), smallest), x);
  }
  HWY_INLINE void move(V m, V v, T* w) const {
    const V ratio = hn::Div(m, hn::Add(hn::Sqrt(v), epsilon_));
    hn::StoreU(fma(step_, ratio, hn::LoadU(d_, w)), d_, w);
  }

  const Full<T> d_{};
  V b1_, b2_, c1_, c2_, step_, epsilon_;
  bool flush_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();
#endif
