// RMSNorm: y = x / sqrt(mean of x^2 + epsilon), row by row, without a gain (Zhang and Sennrich
// 2019, arXiv:1910.07467).
//
//   in[0] = x (N, C), out (N, C); number = epsilon; saved: r of each row (N)
// With s the sum of squares, r = 1 / sqrt(s / C + epsilon):
//   d_x_i = d_y_i r + 2 x_i d_s,   d_r = sum of d_y_i x_i,   d_s = -r^3 / 2 * d_r / C
// in the order of operations that expand() shows. A row whose squares overflow or vanish, or whose
// r^3 would, is first multiplied by a power of two f, and epsilon by f^2: y stays, and d_x is f
// times that of the multiplied row.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rmsnorm.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/expand-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE T inverse_width(const Args<T>& x) {
  return T(1) / static_cast<T>(x.out.cols);
}

// sum of a_i b_i, in lanes.
template <class T>
HWY_INLINE T row_dot(const T* a, const T* b, std::size_t cols) {
  const Full<T> d;
  LaneSums<T> sums;
  for_each_vector<T>(cols, [&](std::size_t i, std::size_t lanes) {
    auto& part = sums.at(i);
    part = fma(load_first(d, a + i, lanes), load_first(d, b + i, lanes), part);
  });
  return sums.total();
}

template <class T>
HWY_INLINE T inverse_norm(const Args<T>& x, const T* row, T epsilon) {
  const One<T> d;
  const T t = row_dot(row, row, x.out.cols) * inverse_width(x) + epsilon;
  return hn::GetLane(hn::Div(hn::Set(d, 1), hn::Sqrt(hn::Set(d, t))));
}

// Whether r, its cube and the squares that it comes from are normal numbers.
template <class T>
HWY_INLINE bool is_plain(T r) {
  constexpr T kMost = sizeof(T) == 4 ? T(0x1p40) : T(0x1p330);
  return r >= 1 / kMost && r <= kMost;
}

template <class T>
struct Row {
  const T* data;
  T r, epsilon, factor = 1;  // of `data`, which is the row times `factor`
  bool is_scaled = false;
};

// Row n of x times the power of two that brings the larger of its largest number and the root of
// epsilon near 1. Valid until the next call.
template <class T>
HWY_NOINLINE Row<T> scaled_row(const Args<T>& x, std::size_t n) {
  thread_local AlignedVector<T> scaled;
  const T* data = x.in[0].data + n * x.in[0].pitch;
  T epsilon = static_cast<T>(x.settings.epsilon), largest = std::sqrt(epsilon), factor = 1;
  for (std::size_t i = 0; i < x.out.cols; ++i) largest = std::max(largest, std::abs(data[i]));
  if (largest > 0 && std::isfinite(largest)) {
    constexpr int kMost =
        std::numeric_limits<T>::max_exponent - 2;  // both it and 1 / it are normal
    factor = std::ldexp(T(1), std::clamp(-std::ilogb(largest), -kMost, kMost));
  }
  epsilon = epsilon * factor * factor;
  scaled.assign(x.out.pitch, T(0));
  for (std::size_t i = 0; i < x.out.cols; ++i) scaled[i] = data[i] * factor;
  return {scaled.data(), inverse_norm(x, scaled.data(), epsilon), epsilon, factor, true};
}

// Row n of x, of which `r` is the inverse norm; see above where it is scaled.
template <class T>
HWY_INLINE Row<T> row_of(const Args<T>& x, std::size_t n, T r) {
  if (!is_plain(r)) return scaled_row(x, n);
  return {x.in[0].data + n * x.in[0].pitch, r, static_cast<T>(x.settings.epsilon)};
}

template <class T>
HWY_INLINE T inverse_norm(const Args<T>& x, std::size_t n) {
  return inverse_norm(x, x.in[0].data + n * x.in[0].pitch, static_cast<T>(x.settings.epsilon));
}

template <class T>
void rmsnorm_forward(const Args<T>& x) {
  const Full<T> d;
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const T r = inverse_norm(x, n);
    if (x.saved) x.saved[n] = r;
    const Row<T> row = row_of(x, n, r);
    T* out = x.out.data + n * x.out.pitch;
    for (std::size_t i = 0; i < x.out.pitch; i += hn::MaxLanes(d))
      hn::StoreU(hn::Mul(hn::LoadU(d, row.data + i), hn::Set(d, row.r)), d, out + i);
  }
}

// Stores or adds, as `first_writer` says, what row.data's gradient gains.
template <class T>
HWY_INLINE void row_backward(const Args<T>& x, const Row<T>& row, const T* d_out, bool first_writer,
                             T* grad) {
  const Full<T> d;
  const T r = row.r;
  const T d_r = row_dot(d_out, row.data, x.out.cols);
  const T d_s = d_r * (T(-0.5) * r * r * r) * inverse_width(x);
  const auto vr = hn::Set(d, r), vs = hn::Set(d, d_s);
  for (std::size_t i = 0; i < x.out.pitch; i += hn::MaxLanes(d)) {
    const auto v = hn::IfThenElseZero(visible(d, x.out.cols, i), hn::LoadU(d, row.data + i));
    auto g = first_writer ? hn::Zero(d) : hn::LoadU(d, grad + i);
    g = fma(hn::LoadU(d, d_out + i), vr, g);
    g = fma(vs, v, fma(vs, v, g));
    hn::StoreU(g, d, grad + i);
  }
}

template <class T>
HWY_NOINLINE void scaled_row_backward(const Args<T>& x, const Row<T>& row, const T* d_out,
                                      bool first_writer, T* grad) {
  const Full<T> d;
  thread_local AlignedVector<T> gains;
  gains.resize(x.out.pitch);
  row_backward(x, row, d_out, true, gains.data());
  for (std::size_t i = 0; i < x.out.pitch; i += hn::MaxLanes(d)) {
    const auto before = first_writer ? hn::Zero(d) : hn::LoadU(d, grad + i);
    const auto gain = hn::Mul(hn::LoadU(d, gains.data() + i), hn::Set(d, row.factor));
    hn::StoreU(hn::Add(before, gain), d, grad + i);
  }
}

template <class T>
void rmsnorm_backward(const Args<T>& x) {
  if (!x.in[0].grad) return;
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const Row<T> row = row_of(x, n, x.saved[n]);
    const T* d_out = x.out.grad + n * x.out.pitch;
    T* grad = x.in[0].grad + n * x.in[0].pitch;
    if (row.is_scaled)
      scaled_row_backward(x, row, d_out, x.in[0].first_writer, grad);
    else
      row_backward(x, row, d_out, x.in[0].first_writer, grad);
  }
}

template <class T>
void expand_rmsnorm(const Args<T>& x, Emitter<T>& e, std::size_t n) {
  const std::size_t cols = x.out.cols;
  const Row<T> row = row_of(x, n, inverse_norm(x, n));
  std::vector<Node<T>> values(cols);
  for (std::size_t i = 0; i < cols; ++i) {
    values[i] = e.operand(0, n * x.in[0].pitch + i);
    if (row.is_scaled) values[i] = e.apply(Op::mul, values[i], e.constant(row.factor));
  }
  LaneNodes<T> squares(e);
  for (std::size_t i = 0; i < cols; ++i) squares.multiply_add(i, values[i], values[i]);
  const auto mean = e.apply(Op::fused_mul, squares.total(), e.constant(inverse_width(x)));
  const auto inside = e.apply(Op::add, mean, e.constant(row.epsilon));
  const auto r = e.apply(Op::rsqrt, inside);
  e.name(r, "scale", 0, 0);
  const auto lanes = fan_out(e, r, cols);
  for (std::size_t i = cols; i-- > 0;)  // falling: a lane's gradient then sums its blocks rising
    e.output(i, e.apply(Op::fused_mul, values[i], lanes[i % kLanes]));
}

template <class T>
std::size_t rmsnorm_saved(const Args<T>& x) {
  return x.out.rows;
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::rmsnorm)] = {.name = "rmsnorm",
                                                  .symbol = "rmsnorm",
                                                  .operands = 1,
                                                  .forward = rmsnorm_forward<T>,
                                                  .backward = rmsnorm_backward<T>,
                                                  .expand = expand_rmsnorm<T>,
                                                  .saved = rmsnorm_saved<T>,
                                                  .partition = Partition::rows};
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(rmsnorm_family)
}  // namespace glassbox::kernels
#endif
