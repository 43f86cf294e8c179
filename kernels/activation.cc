// Functions of one scalar, element by element: exp log tanh sigmoid relu gelu.
//
// exp is ours, log and tanh are Highway's; see exp-inl.h. Off by at most 1.2, 0.9 and 3.2 units in
// the last place, measured. The same arithmetic on every target with fused multiply-add, for one
// lane and for sixteen.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation.cc"
#include <hwy/foreach_target.h>

#include "kernels/elementwise-inl.h"
#include "kernels/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

#define FORMULA               \
  template <class D, class V> \
  static HWY_INLINE V

// d exp(a) = y da
struct exp_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return exp(d, a); }
  FORMULA d_a(D, V y, V g, V, V) { return hn::Mul(g, y); }
};

// d log(a) = da / a; -infinity at 0, NaN below
struct log_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return log(d, a); }
  FORMULA d_a(D d, V, V g, V a, V) { return hn::Mul(g, hn::Div(hn::Set(d, 1), a)); }
};

// d tanh(a) = (1 - y^2) da
struct tanh_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return tanh(d, a); }
  FORMULA d_a(D d, V y, V g, V, V) { return hn::Mul(g, hn::Sub(hn::Set(d, 1), hn::Mul(y, y))); }
};

// y = 1 / (1 + exp(-a)); d y = y (1 - y) da
struct sigmoid_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) {
    const V one = hn::Set(d, 1);
    return hn::Div(one, hn::Add(one, exp(d, hn::Neg(a))));
  }
  FORMULA d_a(D d, V y, V g, V, V) { return hn::Mul(g, hn::Mul(y, hn::Sub(hn::Set(d, 1), y))); }
};

// y = max(a, 0); d y = da where a > 0, else 0: so 0 at 0 and at -0. NaN stays NaN.
struct relu_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return hn::IfThenZeroElse(hn::Le(a, hn::Zero(d)), a); }
  FORMULA d_a(D d, V, V g, V a, V) { return hn::IfThenElseZero(hn::Gt(a, hn::Zero(d)), g); }
};

// y = a (1 + tanh(c (a + 0.044715 a^3))) / 2 with c = sqrt(2 / pi): GPT-2's form of Hendrycks and
// Gimpel's GELU. With t the tanh: d y = ((1 + t) / 2 + a (1 - t^2) c (1 + 3 * 0.044715 a^2) / 2)
// da. Where t is 1 or -1 the vanishing factors win over an infinite a or a^2: gelu(-infinity) is 0,
// and the derivative is 1 or 0.
struct gelu_formula {
  static constexpr int operands = 1;
  static constexpr double kScale = 0.79788456080286535588, kCubic = 0.044715;
  FORMULA inner(D d, V a) {
    using T = hn::TFromD<D>;
    const V cubic = hn::Mul(hn::Mul(hn::Mul(a, a), a), hn::Set(d, T(kCubic)));
    return tanh(d, hn::Mul(hn::Set(d, T(kScale)), hn::Add(a, cubic)));
  }
  FORMULA forward(D d, V a, V) {
    using T = hn::TFromD<D>;
    const V above = hn::Add(hn::Set(d, 1), inner(d, a));
    return hn::IfThenZeroElse(hn::Eq(above, hn::Zero(d)),
                              hn::Mul(hn::Mul(hn::Set(d, T(0.5)), a), above));
  }
  FORMULA d_a(D d, V, V g, V a, V) {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, 1), half = hn::Set(d, T(0.5)), t = inner(d, a);
    const V slope = hn::Mul(hn::Set(d, T(kScale)),
                            hn::Add(one, hn::Mul(hn::Set(d, T(3 * kCubic)), hn::Mul(a, a))));
    const V flat = hn::Sub(one, hn::Mul(t, t));
    const V bent = hn::IfThenZeroElse(hn::Eq(flat, hn::Zero(d)), hn::Mul(hn::Mul(a, flat), slope));
    return hn::Mul(g, hn::Mul(half, hn::Add(hn::Add(one, t), bent)));
  }
};

#undef FORMULA

template <class T>
void fill(Table<T>& t) {
  add_elementwise<T, exp_formula, Op::exp>(t, "exp", "exp");
  add_elementwise<T, log_formula, Op::log>(t, "log", "log");
  add_elementwise<T, tanh_formula, Op::tanh>(t, "tanh", "tanh");
  add_elementwise<T, sigmoid_formula, Op::sigmoid>(t, "sigmoid", "sigmoid");
  add_elementwise<T, relu_formula, Op::relu>(t, "relu", "relu");
  add_elementwise<T, gelu_formula, Op::gelu>(t, "gelu", "gelu");
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(activation_family)
}  // namespace glassbox::kernels
#endif
