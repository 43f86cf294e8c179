// The optimiser's pass over weights whose gradients are complete. Operations that make a gradient
// themselves update its weights at once, by the same rule (optimizer-inl.h).
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer.cc"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/lazy_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void update(const UpdatePass<T>& x) {
  const Full<T> d;
  with_rule(x.settings, [&](const auto& rule) {
    std::size_t i = 0;
    for (; i + hn::MaxLanes(d) <= x.size; i += hn::MaxLanes(d))
      rule.update(hn::LoadU(d, x.g + i), x.w, x.state, i);
    if (i == x.size) return;
    // What is left goes through vectors of its own.
    const std::size_t left = x.size - i;
    T w[kLanes] = {}, g[kLanes] = {}, m[kLanes] = {}, v[kLanes] = {};
    const OptimizerState<T> state{.m = m, .v = v, .lazy = {}};
    const auto copy = [&](const T* from, T* to) { std::copy_n(from, left, to); };
    copy(x.w + i, w), copy(x.g + i, g), copy(x.state.m + i, m), copy(x.state.v + i, v);
    rule.update(hn::LoadU(d, g), w, state, 0);
    copy(w, x.w + i), copy(m, x.state.m + i), copy(v, x.state.v + i);
  });
}

template <class T>
void fill(Table<T>& t) {
  t.update = update<T>;
  t.catch_up = catch_up<T>;
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(optimizer_family)
}  // namespace glassbox::kernels
#endif
