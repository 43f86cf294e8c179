// From a formula to an operation: a formula is a struct with forward() and the gradients it passes
// on, written once for any vector; here it becomes a matrix kernel, the length-1 path with the same
// bits, and the expansion.
//
//   struct relu_formula {
//     static constexpr int operands = 1;
//     static V forward(D d, V a, V b);
//     static V d_a(D d, V out, V g, V a, V b);   // what in[0]'s gradient gains, g = d_out
//     static V d_b(...)                          // operands == 2 only
//   };
//
// A node whose gradient is 0 passes nothing on, whatever its local derivative: 0 * infinity does
// not become NaN in a part of the graph that the result does not depend on. That is the tape's rule
// for scalars, and every element here is one; autograd/tape.h has the rule for other matrices.
//
// A derivative is computed from the operand wherever the rounded result has lost its digits: a few
// units in the last place off wherever it is a normal number. At NaN and outside an operation's
// domain it is NaN; where it is infinite at 0, it has at -0 the sign that it has at 0.
#if defined(GLASSBOX_KERNELS_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_ELEMENTWISE_INL_H_
#undef GLASSBOX_KERNELS_ELEMENTWISE_INL_H_
#else
#define GLASSBOX_KERNELS_ELEMENTWISE_INL_H_
#endif

#include <limits>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

using hn::Add;
using hn::GetLane;
using hn::Mul;
using hn::Neg;
using hn::Set;
using hn::Sub;
#include "kernels/scalar-inl.h"

// x / b: by the reciprocal where that is a normal number, as kernels do that divide many numbers
// by one, and in one step where it is not.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE V quotient(D d, V x, V b) {
  constexpr T kLeast = std::numeric_limits<T>::min();
  const V size = hn::Abs(b);
  const auto is_plain =
      hn::And(hn::Ge(size, hn::Set(d, kLeast)), hn::Le(size, hn::Set(d, 1 / kLeast)));
  const V q = hn::Div(hn::IfThenElse(is_plain, hn::Set(d, 1), x), b);
  return hn::IfThenElse(is_plain, hn::Mul(x, q), q);
}

template <class T, class F>
void elementwise_forward(const Args<T>& x) {
  const Full<T> d;
  const auto& b = x.in[F::operands - 1];
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const T* pa = x.in[0].data + n * x.in[0].pitch;
    const T* pb = b.data + n * b.pitch;
    T* out = x.out.data + n * x.out.pitch;
    for (std::size_t m = 0; m < x.out.cols; m += hn::MaxLanes(d))
      hn::StoreU(F::forward(d, hn::LoadU(d, pa + m), hn::LoadU(d, pb + m)), d, out + m);
  }
}

// Adds `gain` to one operand's gradient where `out`'s own gradient is not 0.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void pass_on(D d, V g, V gain, bool first, T* grad) {
  const V before = first ? hn::Zero(d) : hn::LoadU(d, grad);
  hn::StoreU(hn::Add(before, hn::IfThenZeroElse(hn::Eq(g, hn::Zero(d)), gain)), d, grad);
}

template <class T, class F>
void elementwise_backward(const Args<T>& x) {
  const Full<T> d;
  const auto& a = x.in[0];
  const auto& b = x.in[F::operands - 1];
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const T* out = x.out.data + n * x.out.pitch;
    const T* d_out = x.out.grad + n * x.out.pitch;
    for (std::size_t m = 0; m < x.out.pitch; m += hn::MaxLanes(d)) {
      const auto y = hn::LoadU(d, out + m), g = hn::LoadU(d, d_out + m);
      const auto va = hn::LoadU(d, a.data + n * a.pitch + m);
      const auto vb = hn::LoadU(d, b.data + n * b.pitch + m);
      if (a.grad) pass_on(d, g, F::d_a(d, y, g, va, vb), a.first_writer, a.grad + n * a.pitch + m);
      if constexpr (F::operands == 2)
        if (b.grad)
          pass_on(d, g, F::d_b(d, y, g, va, vb), b.first_writer, b.grad + n * b.pitch + m);
    }
  }
}

template <class T, class F, Op op>
void elementwise_expand(const Args<T>& x, Emitter<T>& e, std::size_t n) {
  for (std::size_t m = 0; m < x.out.cols; ++m) {
    const auto a = e.operand(0, n * x.in[0].pitch + m);
    const auto b = F::operands == 2 ? e.operand(1, n * x.in[1].pitch + m) : a;
    e.output(m, e.apply(op, a, b));
  }
}

template <class T, class F, Op op>
void add_elementwise(Table<T>& t, const char* name, const char* symbol) {
  OpRow<T>& row = t.ops[static_cast<std::size_t>(op)];
  row.name = name;
  row.symbol = symbol;
  row.operands = F::operands;
  row.partition = Partition::rows;
  row.forward = elementwise_forward<T, F>;
  row.backward = elementwise_backward<T, F>;
  row.expand = elementwise_expand<T, F, op>;
  row.forward1 = scalar_forward<One<T>, F, T>;
  row.backward1 = scalar_backward<One<T>, F, T>;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();
#endif
