// The optimiser's pass over weights whose gradients are complete. Operations that make a gradient
// themselves update its weights at once, by the same rule (optimizer-inl.h).
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer.cc"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/lazy_rows-inl.h"
#include "kernels/sgd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

// A rule with what comes before it, see UpdatePass.
template <class T, class Rule>
class Prepared {
 public:
  using V = hn::Vec<Full<T>>;

  HWY_INLINE Prepared(const Rule& rule, const UpdatePass<T>& x)
      : rule_(rule),
        gradient_scale_(hn::Set(d_, x.gradient_scale)),
        l2_(hn::Set(d_, x.l2)),
        weight_scale_(hn::Set(d_, x.weight_scale)) {}
  HWY_INLINE void update(V g, T* w, const OptimizerState<T>& state, std::size_t at) const {
    const V weight = hn::LoadU(d_, w + at);
    hn::StoreU(hn::Mul(weight_scale_, weight), d_, w + at);
    rule_.update(fma(l2_, weight, hn::Mul(gradient_scale_, g)), w, state, at);
  }

 private:
  const Full<T> d_{};
  const Rule rule_;
  const V gradient_scale_, l2_, weight_scale_;
};

template <class T, class Rule>
HWY_INLINE void update_by(const Rule& rule, const UpdatePass<T>& x) {
  const Full<T> d;
  std::size_t i = 0;
  for (; i + hn::MaxLanes(d) <= x.size; i += hn::MaxLanes(d))
    rule.update(hn::LoadU(d, x.g + i), x.w, x.state, i);
  if (i == x.size) return;
  // What is left goes through vectors of its own.
  const std::size_t left = x.size - i;
  T w[kLanes] = {}, g[kLanes] = {}, m[kLanes] = {}, v[kLanes] = {};
  const OptimizerState<T> state{.m = m, .v = v, .lazy = {}};
  const auto copy = [&](const T* from, T* to) {
    if (from && to) std::copy_n(from, left, to);
  };
  const auto at = [&](T* begin) { return begin ? begin + i : nullptr; };
  copy(x.w + i, w), copy(x.g + i, g), copy(at(x.state.m), m), copy(at(x.state.v), v);
  rule.update(hn::LoadU(d, g), w, state, 0);
  copy(w, x.w + i), copy(m, at(x.state.m)), copy(v, at(x.state.v));
}

template <class T>
void update(const UpdatePass<T>& x) {
  const bool is_plain = x.gradient_scale == 1 && x.l2 == 0 && x.weight_scale == 1;
  const auto with = [&](const auto& rule) {
    if (is_plain)
      update_by(rule, x);
    else
      update_by(Prepared(rule, x), x);
  };
  if (x.rule == Rule::sgd)
    with(SgdRule<T>(x.settings));
  else
    with_rule(x.settings, with);
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
