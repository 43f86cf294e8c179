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

// d (a / b) = da / b - y / b db; where y has lost digits below the normal numbers, a / b^2 db
struct div_formula {
  static constexpr int operands = 2;
  FORMULA forward(D, V a, V b) { return hn::Div(a, b); }
  FORMULA d_a(D d, V, V g, V, V b) { return quotient(d, g, b); }
  FORMULA d_b(D d, V y, V g, V a, V b) {
    using T = hn::TFromD<D>;
    const auto is_tiny = hn::And(hn::Ne(y, hn::Zero(d)),
                                 hn::Lt(hn::Abs(y), hn::Set(d, std::numeric_limits<T>::min())));
    const V slope = hn::IfThenElse(is_tiny, hn::Div(a, hn::Mul(b, b)), quotient(d, y, b));
    return hn::Neg(hn::Mul(g, slope));
  }
};

// pow(a, b): d/da = b a^(b-1), and 0 where b is 0; d/db = y log a, and 0 where a is 0 and b is not
// negative. So d/da at 0^2, 0^1, 0^0 is 0, 1, 0; at 0^0.5 and 0^-1 it is +infinity and -infinity,
// at -0 too. A negative base with a whole exponent is an ordinary number; with another exponent
// value and derivatives are NaN. The derivative with respect to the exponent of a negative base is
// NaN. If a or b is NaN both derivatives are, even of NaN^0 and 1^NaN, which are 1. The C library's
// pow, lane by lane: no model needs it fast.
struct pow_formula {
  static constexpr int operands = 2;
  template <class D, class V, class F>
  static V each(D d, V a, V b, V c, F f) {
    using T = hn::TFromD<D>;
    HWY_ALIGN T va[hn::MaxLanes(d)], vb[hn::MaxLanes(d)], vc[hn::MaxLanes(d)];
    hn::Store(a, d, va);
    hn::Store(b, d, vb);
    hn::Store(c, d, vc);
    for (std::size_t i = 0; i < hn::MaxLanes(d); ++i) va[i] = f(va[i], vb[i], vc[i]);
    return hn::Load(d, va);
  }
  // b a^(b-1). Where b - 1 is rounded, which a large power makes visible, or the power itself is no
  // normal number, as b a^(b/2) a^(b/2) / a with the exponents of two apart.
  template <class T>
  static T base_derivative(T a, T b, T y) {
    if (std::isnan(a) || std::isnan(y)) return a + y;
    if (b == 0) return 0;
    if (a == 0) return b * std::pow(std::abs(a), b - 1);
    const T power = std::pow(a, b - 1), size = std::abs(power);
    if (std::isinf(a) || std::isinf(b)) return b * power;
    const bool is_plain = std::isnormal(power) || (size < 1 && std::abs(b) < 4);
    if (is_plain && (b - 1) + 1 == b) return b * power;
    int exponent_a, exponent_b, exponent_root;
    const T root = std::frexp(std::pow(std::abs(a), b / 2), &exponent_root);
    const T part = std::frexp(b, &exponent_b) * root / std::frexp(std::abs(a), &exponent_a) * root;
    const T sign = std::signbit(y) == std::signbit(a) ? T(1) : T(-1);
    return std::ldexp(sign * part, exponent_b + 2 * exponent_root - exponent_a);
  }
  // y log a, as a^(b/2) log a a^(b/2) where y is no normal number.
  template <class T>
  static T exponent_derivative(T a, T b, T y) {
    if (std::isnan(b)) return b;
    if (a == 0 && b >= 0) return 0;
    if (a <= 0 || std::isnormal(y) || !std::isfinite(a) || !std::isfinite(b))
      return y * std::log(a);
    const T root = std::pow(a, b / 2);
    return root * std::log(a) * root;
  }
  FORMULA forward(D d, V a, V b) {
    using T = hn::TFromD<D>;
    return each(d, a, b, b, [](T x, T y, T) { return std::pow(x, y); });
  }
  FORMULA d_a(D d, V y, V g, V a, V b) {
    return hn::Mul(g, each(d, a, b, y, base_derivative<hn::TFromD<D>>));
  }
  FORMULA d_b(D d, V y, V g, V a, V b) {
    return hn::Mul(g, each(d, a, b, y, exponent_derivative<hn::TFromD<D>>));
  }
};

// d sqrt(a) = da / (2 y); +infinity at 0 and at -0, NaN below
struct sqrt_formula {
  static constexpr int operands = 1;
  FORMULA forward(D, V a, V) { return hn::Sqrt(a); }
  FORMULA d_a(D d, V y, V g, V, V) {
    using T = hn::TFromD<D>;
    return hn::Mul(g, hn::Div(hn::Set(d, T(0.5)), hn::Abs(y)));
  }
};

// y = 1 / sqrt(a), by an exact square root and an exact division; d y = -y^3 / 2 da: -infinity at 0
// and at -0, NaN below
struct rsqrt_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return hn::Div(hn::Set(d, 1), hn::Sqrt(a)); }
  FORMULA d_a(D d, V y, V g, V, V) {
    using T = hn::TFromD<D>;
    return hn::Mul(g, hn::Mul(hn::Mul(hn::Mul(hn::Set(d, T(-0.5)), y), y), hn::Abs(y)));
  }
};

// d |a| = sign(a) da, 0 at 0, NaN at NaN
struct abs_formula {
  static constexpr int operands = 1;
  FORMULA forward(D, V a, V) { return hn::Abs(a); }
  FORMULA d_a(D d, V, V g, V a, V) {
    const V zero = hn::Zero(d);
    const V not_above = hn::IfThenElse(hn::Lt(a, zero), hn::Neg(g), a);  // 0 or NaN at a
    return hn::IfThenElse(hn::Gt(a, zero), g, not_above);
  }
};

// The larger (kSign 1) or the smaller (kSign -1); its operand takes the whole gradient, a at a tie.
// NaN in either operand gives NaN, and so are both gradients.
template <int kSign>
struct extreme_formula {
  static constexpr int operands = 2;
  template <class V>
  static HWY_INLINE auto takes_a(V a, V b) {
    return kSign > 0 ? hn::Ge(a, b) : hn::Le(a, b);
  }
  FORMULA forward(D, V a, V b) { return hn::IfThenElse(hn::Or(takes_a(a, b), hn::IsNaN(a)), a, b); }
  FORMULA d_a(D, V y, V g, V a, V b) {
    return hn::IfThenElse(hn::IsNaN(y), y, hn::IfThenElseZero(takes_a(a, b), g));
  }
  FORMULA d_b(D, V y, V g, V a, V b) {
    return hn::IfThenElse(hn::IsNaN(y), y, hn::IfThenZeroElse(takes_a(a, b), g));
  }
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
  add_elementwise<T, extreme_formula<1>, Op::max>(t, "max", "max");
  add_elementwise<T, extreme_formula<-1>, Op::min>(t, "min", "min");
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
