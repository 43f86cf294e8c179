// Copies by index: gather (any scalars of the graph), embedding (rows of two tables, added).
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gather.cc"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernels/expand-inl.h"
#include "kernels/lazy_rows-inl.h"
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
// The rows of a table that the batch names.
template <class T>
std::span<const std::uint32_t> named_rows(const Args<T>& x, std::size_t which) {
  return x.ids.subspan(which * x.out.rows, x.out.rows);
}
template <class T>
void add_rows(const Args<T>& x, std::size_t which) {
  const Full<T> d;
  const auto& table = x.in[which];
  const T* d_out = x.out.grad;
  for (const std::uint32_t row : named_rows(x, which)) {
    T* grad = table.grad + std::size_t{row} * table.pitch;
    for (std::size_t m = 0; m < x.out.pitch; m += hn::MaxLanes(d))
      hn::StoreU(hn::Add(hn::LoadU(d, grad + m), hn::LoadU(d, d_out + m)), d, grad + m);
    d_out += x.out.pitch;
  }
}
template <class T>
void table_backward(const Args<T>& x, std::size_t which) {
  const auto& table = x.in[which];
  if (!table.grad) return;
  if (table.first_writer) std::fill_n(table.grad, std::size_t{table.rows} * table.pitch, T(0));
  add_rows(x, which);
}
template <class T>
void embedding_backward(const Args<T>& x) {
  for (const std::size_t which : {0, 1}) table_backward(x, which);
}
template <class T>
void embedding_fused_step(const Args<T>& x, const ParameterUpdate<T>& u) {
  for (const std::size_t which : {0, 1}) {
    const auto& table = x.in[which];
    if (!u.has(which) || u.keep_gradients) {
      table_backward(x, which);
    } else {
      for (const std::uint32_t row : named_rows(x, which))
        std::fill_n(table.grad + std::size_t{row} * table.pitch, table.pitch, T(0));
      add_rows(x, which);
    }
    if (u.has(which)) update_rows(table, named_rows(x, which), u.state[which], u.settings);
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
std::string gather_mismatch(const Args<T>& x) {
  const std::uint32_t size = x.in[0].rows;
  const auto bad = std::find_if(x.ids.begin(), x.ids.end(), [&](auto id) { return id >= size; });
  if (bad != x.ids.end())
    return "expected nodes below " + std::to_string(size) + ", found " + std::to_string(*bad);
  if (x.out.rows == 1 && x.out.cols == x.ids.size()) return {};
  return "expected an output for each of " + std::to_string(x.ids.size()) + " nodes";
}
template <class T>
std::string embedding_mismatch(const Args<T>& x) {
  const std::size_t rows = x.out.rows, tokens = x.in[0].rows, positions = x.in[1].rows;
  if (x.ids.size() != 2 * rows || x.in[0].cols != x.in[1].cols || x.out.cols != x.in[0].cols)
    return "expected a position for each token and tables of one width, found " +
           std::to_string(x.ids.size()) + " ids, widths " + std::to_string(x.in[0].cols) + " and " +
           std::to_string(x.in[1].cols);
  for (std::size_t n = 0; n < rows; ++n)
    if (x.ids[n] >= tokens || x.ids[rows + n] >= positions)
      return "expected a token below " + std::to_string(tokens) + " at a position below " +
             std::to_string(positions) + ", found " + std::to_string(x.ids[n]) + " at " +
             std::to_string(x.ids[rows + n]);
  return {};
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::gather)] = {.name = "gather",
                                                 .symbol = "=",
                                                 .operands = 1,
                                                 .mismatch = gather_mismatch<T>,
                                                 .forward = gather_forward<T>,
                                                 .backward = gather_backward<T>,
                                                 .expand = expand_gather<T>,
                                                 .reads_anywhere = true};
  t.ops[static_cast<std::size_t>(Op::embedding)] = {
      .name = "embedding",
      .symbol = "+",
      .operands = 2,
      .mismatch = embedding_mismatch<T>,
      .forward = embedding_forward<T>,
      .backward = embedding_backward<T>,
      .fused_step = embedding_fused_step<T>,
      .expand = expand_embedding<T>,
      .updates = {FusedUpdate::lazy_rows, FusedUpdate::lazy_rows}};
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
