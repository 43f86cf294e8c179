// How a kernel updates weights: with_rule(settings, f) calls f with the rule of this step, of which
//   update(g, w, state, at)                  moves the vector of weights at w + at, whose gradient
//                                            is g and whose state is that at state + at
//   update_without_gradient(w, state, at)    the same for g = 0; true if the weights can stay as
//                                            they are until they have a gradient again
//   catch_up(state, at, from, to)            then brings the state of step `from` to step `to`
// A second rule that operations are to use, too, is a class like AdamRule and a choice in
// with_rule(). One for the pass over complete gradients alone (sgd-inl.h) has update() and is a
// choice in optimizer.cc.
#if defined(GLASSBOX_KERNELS_OPTIMIZER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_OPTIMIZER_INL_H_
#undef GLASSBOX_KERNELS_OPTIMIZER_INL_H_
#else
#define GLASSBOX_KERNELS_OPTIMIZER_INL_H_
#endif

#include "kernels/adam-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T, class F>
HWY_INLINE void with_rule(const AdamSettings<T>& settings, F f) {
  f(AdamRule<T>(settings));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();
#endif
