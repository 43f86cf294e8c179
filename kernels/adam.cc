// The optimiser's pass over weights whose gradients are complete. matmul and embedding make the
// same update where they finish a gradient; adam-inl.h is the one formula.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adam.cc"
#include <hwy/foreach_target.h>

#include "kernels/adam-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

// REQUIRES: size is a multiple of kLanes.
template <class T>
void adam(const AdamArgs<T>& x) {
  const Full<T> d;
  const AdamVector<T> adam_vector(x.settings);
  for (std::size_t i = 0; i < x.size; i += hn::MaxLanes(d))
    adam_vector.update(hn::LoadU(d, x.g + i), x.w + i, x.m + i, x.v + i);
}

template <class T>
void wake(T* m, T* v, std::uint32_t* since, std::size_t groups, const AdamSettings<T>& settings) {
  const AdamVector<T> adam_vector(settings);
  for (std::size_t i = 0; i < groups; ++i) {
    if (since[i] == 0) continue;
    for (std::size_t j = i * kLanes; j < (i + 1) * kLanes; j += hn::MaxLanes(Full<T>()))
      adam_vector.catch_up(m + j, v + j, since[i], settings.step);
    since[i] = 0;
  }
}

template <class T>
void fill(Table<T>& t) {
  t.adam = adam<T>;
  t.wake = wake<T>;
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
