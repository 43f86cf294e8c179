// Arithmetic, element by element: add sub mul div neg pow sqrt rsqrt abs max min, and the nodes
// that only expand() makes: copy, fused_mul, fused_add. The formulas of add, sub, mul and neg,
// which single scalars compute in place too, stand in kernels/scalar-inl.h.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/arithmetic.cc"
#include <hwy/foreach_target.h>

#include "kernels/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

#define FORMULA               \
  template <class D, class V> \
  static HWY_INLINE V

// d (a / b) = da r - y r db, with r = 1 / b and y = a / b
struct div_formula {
  static constexpr int operands = 2;
  FORMULA reciprocal(D d, V b) { return hn::Div(hn::Set(d, 1), b); }
  FORMULA forward(D, V a, V b) { return hn::Div(a, b); }
  FORMULA d_a(D d, V, V g, V, V b) { return hn::Mul(g, reciprocal(d, b)); }
  FORMULA d_b(D d, V y, V g, V, V b) { return hn::Neg(hn::Mul(g, hn::Mul(y, reciprocal(d, b)))); }
};

// pow(a, b): d/da = b a^(b-1), and 0 where b is 0; d/db = y log a, and 0 where a is 0 and b is not
// negative. So d/da at 0^2, 0^1, 0^0 is 0, 1, 0; at 0^0.5 and 0^-1 it is +infinity and -infinity. A
// negative base with a whole exponent is an ordinary number; with another exponent value and
// derivative are NaN. The derivative with respect to the exponent of a negative base is NaN. The C
// library's pow, lane by lane: no model needs it fast.
struct pow_formula {
  static constexpr int operands = 2;
  template <class D, class V, class F>
  static V each(D d, V a, V b, F f) {
    using T = hn::TFromD<D>;
    HWY_ALIGN T va[hn::MaxLanes(d)], vb[hn::MaxLanes(d)];
    hn::Store(a, d, va);
    hn::Store(b, d, vb);
    for (std::size_t i = 0; i < hn::MaxLanes(d); ++i) va[i] = f(va[i], vb[i]);
    return hn::Load(d, va);
  }
  FORMULA forward(D d, V a, V b) {
    using T = hn::TFromD<D>;
    return each(d, a, b, [](T x, T y) { return std::pow(x, y); });
  }
  FORMULA d_a(D d, V, V g, V a, V b) {
    using T = hn::TFromD<D>;
    return hn::Mul(g,
                   each(d, a, b, [](T x, T y) { return y == 0 ? T(0) : y * std::pow(x, y - 1); }));
  }
  FORMULA d_b(D d, V y, V g, V a, V b) {
    using T = hn::TFromD<D>;
    const V log_a = each(d, a, b, [](T x, T e) { return x == 0 && e >= 0 ? T(0) : std::log(x); });
    return hn::Mul(g, hn::Mul(y, log_a));
  }
};

// d sqrt(a) = da / (2 y); +infinity at 0, NaN below
struct sqrt_formula {
  static constexpr int operands = 1;
  FORMULA forward(D, V a, V) { return hn::Sqrt(a); }
  FORMULA d_a(D d, V y, V g, V, V) {
    using T = hn::TFromD<D>;
    return hn::Mul(g, hn::Div(hn::Set(d, T(0.5)), y));
  }
};

// y = 1 / sqrt(a), by an exact square root and an exact division; d y = -y^3 / 2 da
struct rsqrt_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return hn::Div(hn::Set(d, 1), hn::Sqrt(a)); }
  FORMULA d_a(D d, V y, V g, V, V) {
    using T = hn::TFromD<D>;
    return hn::Mul(g, hn::Mul(hn::Mul(hn::Mul(hn::Set(d, T(-0.5)), y), y), y));
  }
};

// d |a| = sign(a) da, and 0 at 0
struct abs_formula {
  static constexpr int operands = 1;
  FORMULA forward(D, V a, V) { return hn::Abs(a); }
  FORMULA d_a(D d, V, V g, V a, V) {
    const V signed_g = hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Neg(g), g);
    return hn::IfThenZeroElse(hn::Eq(a, hn::Zero(d)), signed_g);
  }
};

// The larger; its operand takes the whole gradient, a at a tie. NaN in either operand gives NaN.
struct max_formula {
  static constexpr int operands = 2;
  template <class D, class V>
  static HWY_INLINE auto takes_a(D, V a, V b) {
    return hn::Or(hn::Ge(a, b), hn::IsNaN(a));
  }
  FORMULA forward(D d, V a, V b) { return hn::IfThenElse(takes_a(d, a, b), a, b); }
  FORMULA d_a(D d, V, V g, V a, V b) { return hn::IfThenElseZero(takes_a(d, a, b), g); }
  FORMULA d_b(D d, V, V g, V a, V b) { return hn::IfThenZeroElse(takes_a(d, a, b), g); }
};

// The smaller, by the same rules.
struct min_formula {
  static constexpr int operands = 2;
  template <class D, class V>
  static HWY_INLINE auto takes_a(D, V a, V b) {
    return hn::Or(hn::Le(a, b), hn::IsNaN(a));
  }
  FORMULA forward(D d, V a, V b) { return hn::IfThenElse(takes_a(d, a, b), a, b); }
  FORMULA d_a(D d, V, V g, V a, V b) { return hn::IfThenElseZero(takes_a(d, a, b), g); }
  FORMULA d_b(D d, V, V g, V a, V b) { return hn::IfThenZeroElse(takes_a(d, a, b), g); }
};

// A node that hands on what it got: fans a node out, so that the sum over its users has a tree's
// order.
struct copy_formula {
  static constexpr int operands = 1;
  FORMULA forward(D, V a, V) { return a; }
  FORMULA d_a(D, V, V g, V, V) { return g; }
};

// The product of a multiply-add: its value is rounded for the eye, its gradients are added with one
// rounding, as the kernels do.
template <class T>
T fused_mul_backward1(T, T g, T a, T b, T* d_a, T* d_b) {
  const One<T> d;
  *d_a = hn::GetLane(fma(hn::Set(d, g), hn::Set(d, b), hn::Set(d, *d_a)));
  *d_b = hn::GetLane(fma(hn::Set(d, g), hn::Set(d, a), hn::Set(d, *d_b)));
  return *d_a;
}

template <class T>
T multiply_add(T a, T b, T c) {
  const One<T> d;
  return hn::GetLane(fma(hn::Set(d, a), hn::Set(d, b), hn::Set(d, c)));
}

#undef FORMULA

template <class T>
void fill(Table<T>& t) {
  add_elementwise<T, add_formula, Op::add>(t, "add", "+");
  add_elementwise<T, sub_formula, Op::sub>(t, "sub", "-");
  add_elementwise<T, mul_formula, Op::mul>(t, "mul", "*");
  add_elementwise<T, div_formula, Op::div>(t, "div", "/");
  add_elementwise<T, neg_formula, Op::neg>(t, "neg", "-");
  add_elementwise<T, pow_formula, Op::pow>(t, "pow", "**");
  add_elementwise<T, sqrt_formula, Op::sqrt>(t, "sqrt", "sqrt");
  add_elementwise<T, rsqrt_formula, Op::rsqrt>(t, "rsqrt", "rsqrt");
  add_elementwise<T, abs_formula, Op::abs>(t, "abs", "abs");
  add_elementwise<T, max_formula, Op::max>(t, "max", "max");
  add_elementwise<T, min_formula, Op::min>(t, "min", "min");
  add_elementwise<T, copy_formula, Op::copy>(t, "copy", "=");
  add_elementwise<T, mul_formula, Op::fused_mul>(t, "fused_mul", "*");
  add_elementwise<T, add_formula, Op::fused_add>(t, "fused_add", "+");
  // Only the graph that expand() emits has these two, scalar by scalar.
  for (const Op op : {Op::fused_mul, Op::fused_add}) {
    OpRow<T>& row = t.ops[static_cast<std::size_t>(op)];
    row.forward = nullptr;
    row.backward = nullptr;
    row.expand = nullptr;
  }
  t.ops[static_cast<std::size_t>(Op::fused_mul)].backward1 = fused_mul_backward1<T>;
  t.multiply_add = multiply_add<T>;
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(arithmetic_family)
}  // namespace glassbox::kernels
#endif
