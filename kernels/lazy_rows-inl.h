// Lazy Adam: most rows of a table are in no batch, and those are skipped. A group of kLanes scalars
// may be skipped from the step on in which its update, made without gradient, rounds to nothing in
// every scalar, until the group has a gradient again. Meanwhile only its moments shrink; catch_up
// does that at once, to the same bits, when somebody needs them.
#if defined(GLASSBOX_KERNELS_LAZY_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_LAZY_ROWS_INL_H_
#undef GLASSBOX_KERNELS_LAZY_ROWS_INL_H_
#else
#define GLASSBOX_KERNELS_LAZY_ROWS_INL_H_
#endif

#include <utility>
#include <vector>

#include "kernels/optimizer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

// f(place) for each vector of a group.
template <class T, class F>
HWY_INLINE void for_each_vector_of_group(std::size_t group, F f) {
  for (std::size_t at = group * kLanes; at < (group + 1) * kLanes; at += hn::MaxLanes(Full<T>()))
    f(at);
}

// A group's moments become those of step `to`. Returns whether it had been skipped.
template <class T, class Rule>
HWY_INLINE bool catch_up_group(const Rule& rule, const OptimizerState<T>& state, std::size_t group,
                               std::uint32_t to) {
  const std::uint32_t from = std::exchange(state.lazy.last_step[group], 0);
  if (from == 0) return false;
  for_each_vector_of_group<T>(group, [&](std::size_t at) { rule.catch_up(state, at, from, to); });
  return true;
}

// All groups of `size` scalars become those of step settings.step, and none is skipped.
template <class T>
void catch_up(const OptimizerState<T>& state, std::size_t size, const AdamSettings<T>& settings) {
  with_rule(settings, [&](const auto& rule) {
    for (std::size_t group = 0; group < size / kLanes; ++group)
      catch_up_group<T>(rule, state, group, settings.step);
  });
}

// One step of a table's rows. `named` are the rows that have a gradient; one named twice has one
// step.
template <class T>
void update_rows(const MatrixView<T>& table, std::span<const std::uint32_t> named,
                 const OptimizerState<T>& state, const AdamSettings<T>& settings) {
  const Full<T> d;
  const LazyRows& lazy = state.lazy;
  const std::size_t groups_a_row = table.pitch / kLanes, groups = table.rows * groups_a_row;
  if (!settings.may_skip_rows || *lazy.active_count == 0) {
    for (std::size_t i = 0; i < groups; ++i) lazy.active[i] = static_cast<std::uint32_t>(i);
    *lazy.active_count = static_cast<std::uint32_t>(groups);
  }
  thread_local std::vector<std::uint8_t> is_named;
  is_named.assign(table.rows, 0);
  for (const std::uint32_t row : named) is_named[row] = 1;

  with_rule(settings, [&](const auto& rule) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < *lazy.active_count; ++i) {
      const std::uint32_t group = lazy.active[i];
      lazy.active[kept] = group;
      // Only a list that has just been made holds groups that were skipped.
      catch_up_group<T>(rule, state, group, settings.step - 1);
      if (is_named[group / groups_a_row]) {
        ++kept;
        continue;
      }
      bool skip = true;
      for_each_vector_of_group<T>(group, [&](std::size_t at) {
        skip &= rule.update_without_gradient(table.data, state, at);
      });
      kept += !skip;
      if (skip) lazy.last_step[group] = settings.step;
    }
    for (const std::uint32_t row : named) {
      if (!std::exchange(is_named[row], 0)) continue;
      for (std::size_t group = row * groups_a_row; group < (row + std::size_t{1}) * groups_a_row;
           ++group) {
        if (catch_up_group<T>(rule, state, group, settings.step - 1))
          lazy.active[kept++] = static_cast<std::uint32_t>(group);
        for_each_vector_of_group<T>(group, [&](std::size_t at) {
          rule.update(hn::LoadU(d, table.grad + at), table.data, state, at);
        });
      }
    }
    *lazy.active_count = kept;
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();
#endif
