// Copies by index: gather (any scalars of the graph), embedding (rows of two tables, added).
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gather.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/adam-inl.h"
#include "kernels/expand-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

// out[0][i] = the scalar at place ids[i] of the arena, which is in[0].
template <class T>
void gather_forward(const Args<T>& x) {
  for (std::size_t i = 0; i < x.ids.size(); ++i) x.out.data[i] = x.in[0].data[x.ids[i]];
}
template <class T>
void gather_backward(const Args<T>& x) {
  for (std::size_t i = 0; i < x.ids.size(); ++i) x.in[0].grad[x.ids[i]] += x.out.grad[i];
}
template <class T>
void expand_gather(const Args<T>& x, Emitter<T>& e, std::size_t) {
  for (std::size_t i = x.ids.size(); i-- > 0;)
    e.output(i, e.apply(Op::copy, e.operand(0, x.ids[i])));
}

// out[n] = in[0][ids[n]] + in[1][ids[N + n]]: the token's row and the position's.
//   in[0] (V, C), in[1] (block, C), out (N, C); ids: N tokens, then N positions
// d in[0][ids[n]] += d_out[n], rows n rising.
template <class T>
void embedding_forward(const Args<T>& x) {
  const Full<T> d;
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const T* a = x.in[0].data + std::size_t{x.ids[n]} * x.in[0].pitch;
    const T* b = x.in[1].data + std::size_t{x.ids[x.out.rows + n]} * x.in[1].pitch;
    for (std::size_t m = 0; m < x.out.pitch; m += hn::MaxLanes(d))
      hn::StoreU(hn::Add(hn::LoadU(d, a + m), hn::LoadU(d, b + m)), d,
                 x.out.data + n * x.out.pitch + m);
  }
}
// Adds the rows of one table that the batch names.
template <class T>
void add_rows(const Args<T>& x, int which) {
  const Full<T> d;
  const auto& table = x.in[which];
  const std::uint32_t* ids = x.ids.data() + which * x.out.rows;
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    T* grad = table.grad + std::size_t{ids[n]} * table.pitch;
    const T* d_out = x.out.grad + n * x.out.pitch;
    for (std::size_t m = 0; m < x.out.pitch; m += hn::MaxLanes(d))
      hn::StoreU(hn::Add(hn::LoadU(d, grad + m), hn::LoadU(d, d_out + m)), d, grad + m);
  }
}
template <class T>
void embedding_backward(const Args<T>& x) {
  for (int which = 0; which < 2; ++which) {
    const auto& table = x.in[which];
    if (!table.grad) continue;
    if (table.first_writer) std::fill_n(table.grad, std::size_t{table.rows} * table.pitch, T(0));
    add_rows(x, which);
  }
}
// Most rows of a table are in no batch: their gradient is 0, and after a while they rest.
template <class T>
void update_table(const Args<T>& x, const Update<T>& u, int which) {
  const Full<T> d;
  const AdamVector<T> adam_vector(u.settings);
  const auto& table = x.in[which];
  const Rest& rest = u.rest[which];
  const std::uint32_t* ids = x.ids.data() + which * x.out.rows;
  const std::uint32_t step = u.settings.step;
  const std::size_t groups_a_row = table.pitch / kLanes, groups = table.rows * groups_a_row;
  T *m = u.m[which], *v = u.v[which];
  if (!u.settings.may_rest || *rest.count == 0) {
    for (std::size_t i = 0; i < groups; ++i) rest.awake[i] = static_cast<std::uint32_t>(i);
    *rest.count = static_cast<std::uint32_t>(groups);
  }
  thread_local std::vector<std::uint8_t> named;
  named.assign(table.rows, 0);
  for (std::size_t n = 0; n < x.out.rows; ++n) named[ids[n]] = 1;

  const auto wake = [&](std::size_t i) {
    if (rest.since[i] == 0) return false;
    for (std::size_t j = i * kLanes; j < (i + 1) * kLanes; j += hn::MaxLanes(d))
      adam_vector.catch_up(m + j, v + j, rest.since[i], step - 1);
    rest.since[i] = 0;
    return true;
  };
  std::uint32_t kept = 0;
  for (std::uint32_t at = 0; at < *rest.count; ++at) {
    const std::uint32_t i = rest.awake[at];
    rest.awake[kept] = i;
    wake(i);  // only of a list that has just been made
    if (named[i / groups_a_row]) {
      ++kept;
      continue;
    }
    bool rests = true;
    for (std::size_t j = i * kLanes; j < (i + std::size_t{1}) * kLanes; j += hn::MaxLanes(d))
      rests &= adam_vector.update_without_gradient(table.data + j, m + j, v + j);
    kept += !rests;
    if (rests) rest.since[i] = step;
  }
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    if (!std::exchange(named[ids[n]], 0)) continue;  // a row named twice has one step
    for (std::size_t i = ids[n] * groups_a_row; i < (ids[n] + std::size_t{1}) * groups_a_row; ++i) {
      if (wake(i)) rest.awake[kept++] = static_cast<std::uint32_t>(i);
      for (std::size_t j = i * kLanes; j < (i + 1) * kLanes; j += hn::MaxLanes(d))
        adam_vector.update(hn::LoadU(d, table.grad + j), table.data + j, m + j, v + j);
    }
  }
  *rest.count = kept;
}

template <class T>
void embedding_backward_update(const Args<T>& x, const Update<T>& u) {
  for (int which = 0; which < 2; ++which) {
    const auto& table = x.in[which];
    const std::uint32_t* ids = x.ids.data() + which * x.out.rows;
    if (u.keep_gradients)
      std::fill_n(table.grad, std::size_t{table.rows} * table.pitch, T(0));
    else
      for (std::size_t n = 0; n < x.out.rows; ++n)
        std::fill_n(table.grad + std::size_t{ids[n]} * table.pitch, table.pitch, T(0));
    add_rows(x, which);
    update_table(x, u, which);
  }
}
template <class T>
void expand_embedding(const Args<T>& x, Emitter<T>& e, std::size_t n) {
  for (std::size_t m = 0; m < x.out.cols; ++m) {
    const auto a = e.operand(0, std::size_t{x.ids[n]} * x.in[0].pitch + m);
    const auto b = e.operand(1, std::size_t{x.ids[x.out.rows + n]} * x.in[1].pitch + m);
    e.output(m, e.apply(Op::add, a, b));
  }
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::gather)] = {.name = "gather",
                                                 .symbol = "=",
                                                 .operands = 1,
                                                 .forward = gather_forward<T>,
                                                 .backward = gather_backward<T>,
                                                 .expand = expand_gather<T>,
                                                 .reads_anywhere = true};
  t.ops[static_cast<std::size_t>(Op::embedding)] = {.name = "embedding",
                                                    .symbol = "+",
                                                    .operands = 2,
                                                    .forward = embedding_forward<T>,
                                                    .backward = embedding_backward<T>,
                                                    .fused_step = embedding_backward_update<T>,
                                                    .expand = expand_embedding<T>};
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(gather_family)
}  // namespace glassbox::kernels
#endif
