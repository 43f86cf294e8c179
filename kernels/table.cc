// The families' rows gathered into one table a precision.
#include "kernels/targets.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdint>
#include <cstring>

#include "kernels/op.h"

namespace glassbox::kernels {

// clang-format off
#define GLASSBOX_FAMILIES(X)                                                                 \
  X(arithmetic_family) X(activation_family) X(reduce_family) X(gather_family)                \
  X(matmul_family) X(rmsnorm_family) X(attention_family) X(cross_entropy_family)             \
  X(optimizer_family) X(sampling_family)
// clang-format on

#define GLASSBOX_FAMILY(name) \
  void name(Table<float>&);   \
  void name(Table<double>&);
GLASSBOX_FAMILIES(GLASSBOX_FAMILY)
#undef GLASSBOX_FAMILY

namespace {

template <class T>
Table<T> make() {
  Table<T> t;
  t.ops[static_cast<std::size_t>(Op::leaf)] = {.name = "leaf", .symbol = ""};
#define GLASSBOX_FAMILY(name) name(t);
  GLASSBOX_FAMILIES(GLASSBOX_FAMILY)
#undef GLASSBOX_FAMILY
  return t;
}

template <class T>
Table<T>& mutable_table() {
  static Table<T> t = make<T>();
  return t;
}

}  // namespace

template <class T>
const Table<T>& table() {
  return mutable_table<T>();
}
template const Table<float>& table<float>();
template const Table<double>& table<double>();

namespace {
// Of the targets compiled, those that may run here, best first: a smaller bit is a better target.
// If none is among the supported, the lowest runs: Highway counts NEON only where a processor has
// AES as well.
std::int64_t usable_targets() {
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return usable ? usable : HWY_STATIC_TARGET;
}
}  // namespace

const char* simd_target() {
  const std::int64_t usable = usable_targets();
  return hwy::TargetName(usable & -usable);
}

bool choose_simd_target(const char* name) {
  mutable_table<float>();
  mutable_table<double>();
  const std::int64_t before = hwy::SupportedTargets();
  hwy::SetSupportedTargetsForTest(0);
  std::int64_t chosen = 0;
  if (name) {
    const std::int64_t usable = usable_targets();
    for (std::int64_t bit = 1; bit > 0 && bit <= HWY_SCALAR; bit <<= 1)
      if ((usable & bit) && std::strcmp(hwy::TargetName(bit), name) == 0) chosen = bit;
    hwy::SetSupportedTargetsForTest(chosen ? chosen : before);
    if (!chosen) return false;
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  mutable_table<float>() = make<float>();
  mutable_table<double>() = make<double>();
  return true;
}

}  // namespace glassbox::kernels
