// RMSNorm: y = x / sqrt(mean of x^2 + epsilon), row by row, without a gain (Zhang and Sennrich
// 2019, arXiv:1910.07467).
//
//   in[0] = x (N, C), out (N, C); number = epsilon; saved: r of each row (N)
// With s the sum of squares, r = 1 / sqrt(s / C + epsilon):
//   d_x_i = d_y_i r + 2 x_i d_s,   d_r = sum of d_y_i x_i,   d_s = -r^3 / 2 * d_r / C
// in the order of operations that expand() shows.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rmsnorm.cc"
#include <hwy/foreach_target.h>

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
void rmsnorm_forward(const Args<T>& x) {
  const Full<T> d;
  const One<T> one;
  const T scale = inverse_width(x), epsilon = static_cast<T>(x.settings.epsilon);
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const T* in = x.in[0].data + n * x.in[0].pitch;
    T* out = x.out.data + n * x.out.pitch;
    const T t = row_dot(in, in, x.out.cols) * scale + epsilon;
    const T r = hn::GetLane(hn::Div(hn::Set(one, 1), hn::Sqrt(hn::Set(one, t))));
    if (x.saved) x.saved[n] = r;
    for (std::size_t i = 0; i < x.out.pitch; i += hn::MaxLanes(d))
      hn::StoreU(hn::Mul(hn::LoadU(d, in + i), hn::Set(d, r)), d, out + i);
  }
}

template <class T>
void rmsnorm_backward(const Args<T>& x) {
  if (!x.in[0].grad) return;
  const Full<T> d;
  const T scale = inverse_width(x);
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const T* in = x.in[0].data + n * x.in[0].pitch;
    const T* d_out = x.out.grad + n * x.out.pitch;
    T* d_in = x.in[0].grad + n * x.in[0].pitch;
    const T r = x.saved[n];
    const T d_r = row_dot(d_out, in, x.out.cols);
    const T d_s = d_r * (T(-0.5) * r * r * r) * scale;
    const auto vr = hn::Set(d, r), vs = hn::Set(d, d_s);
    for (std::size_t i = 0; i < x.out.pitch; i += hn::MaxLanes(d)) {
      const auto v = hn::IfThenElseZero(visible(d, x.out.cols, i), hn::LoadU(d, in + i));
      auto g = x.in[0].first_writer ? hn::Zero(d) : hn::LoadU(d, d_in + i);
      g = fma(hn::LoadU(d, d_out + i), vr, g);
      g = fma(vs, v, fma(vs, v, g));
      hn::StoreU(g, d, d_in + i);
    }
  }
}

template <class T>
void expand_rmsnorm(const Args<T>& x, Emitter<T>& e, std::size_t n) {
  const std::size_t cols = x.out.cols, start = n * x.in[0].pitch;
  LaneNodes<T> squares(e);
  for (std::size_t i = 0; i < cols; ++i) {
    const auto v = e.operand(0, start + i);
    squares.multiply_add(i, v, v);
  }
  const auto mean = e.apply(Op::fused_mul, squares.total(), e.constant(inverse_width(x)));
  const auto inside = e.apply(Op::add, mean, e.constant(static_cast<T>(x.settings.epsilon)));
  const auto r = e.apply(Op::rsqrt, inside);
  e.name(r, "scale", 0, 0);
  const auto lanes = fan_out(e, r, cols);
  for (std::size_t i = cols; i-- > 0;)  // falling: a lane's gradient then sums its blocks rising
    e.output(i, e.apply(Op::fused_mul, e.operand(0, start + i), lanes[i % kLanes]));
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
