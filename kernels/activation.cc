// Functions of one scalar, element by element: exp log tanh sigmoid relu gelu silu.
//
// exp is ours, log and tanh are Highway's; see exp-inl.h. Off by at most 1.2, 0.9 and 3.2 units in
// the last place, measured; the others see activation_test.cc. The same arithmetic on every target
// with fused multiply-add, for one lane and for sixteen.
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

// d log(a) = da / a; -infinity at 0, with the derivative +infinity at -0 too; NaN below
struct log_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return log(d, a); }
  FORMULA d_a(D d, V y, V g, V a, V) {
    return hn::IfThenElse(hn::IsNaN(y), y, quotient(d, g, hn::Abs(a)));
  }
};

// 2^kShift e / (1 + e)^2 with e = exp(-|x|): the sigmoid's slope, in which nothing cancels.
template <int kShift, class D, class V>
HWY_INLINE V sigmoid_slope(D d, V x) {
  using T = hn::TFromD<D>;
  const V e = exp<kShift>(d, hn::Neg(hn::Abs(x)));
  const V sum = fma(e, hn::Set(d, T(1) / (1 << kShift)), hn::Set(d, 1));
  return hn::Div(e, hn::Mul(sum, sum));
}

// d tanh(a) = (1 - y^2) da, which is 4 times the sigmoid's slope at 2 a
struct tanh_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return tanh(d, a); }
  FORMULA d_a(D d, V, V g, V a, V) { return hn::Mul(g, sigmoid_slope<2>(d, hn::Add(a, a))); }
};

// y = 1 / (1 + exp(-a)), below 0 as exp(a) / (1 + exp(a)); d y = y (1 - y) da
struct sigmoid_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) {
    const V one = hn::Set(d, 1), e = exp(d, hn::Neg(hn::Abs(a)));
    return hn::Div(hn::IfThenElse(hn::Lt(a, hn::Zero(d)), e, one), hn::Add(one, e));
  }
  FORMULA d_a(D d, V, V g, V a, V) { return hn::Mul(g, sigmoid_slope<0>(d, a)); }
};

// y = max(a, 0); d y = da where a > 0, else 0: so 0 at 0 and at -0. NaN stays NaN.
struct relu_formula {
  static constexpr int operands = 1;
  FORMULA forward(D d, V a, V) { return hn::IfThenZeroElse(hn::Le(a, hn::Zero(d)), a); }
  FORMULA d_a(D d, V, V g, V a, V) {
    const V zero = hn::Zero(d);
    return hn::IfThenZeroElse(hn::Le(a, zero), hn::IfThenElse(hn::Gt(a, zero), g, a));
  }
};

// A number in two parts, the low one what rounding the high one left out.
template <class V>
struct Parts {
  V high, low;
};
// The number that is `value` + `rest`, `value` being rounded from it to double.
template <class D>
HWY_INLINE Parts<hn::Vec<D>> parts_of(D d, double value, double rest) {
  using T = hn::TFromD<D>;
  const T high = static_cast<T>(value);
  return {hn::Set(d, high), hn::Set(d, static_cast<T>((value - static_cast<double>(high)) + rest))};
}
// a b exactly, by Dekker's halves where multiply-add rounds twice.
template <class D, class V>
HWY_INLINE Parts<V> exact_product([[maybe_unused]] D d, V a, V b) {
  const V product = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {product, hn::MulSub(a, b, product)};
#else
  using T = hn::TFromD<D>;
  const auto halves = [&](V x) {
    const V far = hn::Mul(x, hn::Set(d, T((1 << (sizeof(T) == 4 ? 12 : 27)) + 1)));
    const V high = hn::Sub(far, hn::Sub(far, x));
    return Parts<V>{high, hn::Sub(x, high)};
  };
  const Parts<V> p = halves(a), q = halves(b);
  const V large = hn::Sub(hn::Mul(p.high, q.high), product);
  const V middle = hn::Add(hn::Add(large, hn::Mul(p.high, q.low)), hn::Mul(p.low, q.high));
  return {product, hn::Add(middle, hn::Mul(p.low, q.low))};
#endif
}
// The same of numbers in two parts; the last bits of the low part are lost.
template <class D, class V>
HWY_INLINE Parts<V> product(D d, Parts<V> a, Parts<V> b) {
  const Parts<V> p = exact_product(d, a.high, b.high);
  return {p.high, hn::Add(p.low, hn::Add(hn::Mul(a.high, b.low), hn::Mul(a.low, b.high)))};
}

// y = a (1 + tanh(z / 2)) / 2 with z = c (a + k a^3), c = sqrt(8 / pi), k = 0.044715: GPT-2's form
// of Hendrycks and Gimpel's GELU. That is y = a s with s the sigmoid of z, and
//   d y = s (1 + a (1 - s) c (1 + 3 k a^2)) da
// where s and 1 - s are 1 / (1 + e) and e / (1 + e), e = exp(-|z|). An error of z in its last place
// would be one of e in its last |z| places, so z has two parts. Far out y is a or 0.
struct gelu_formula {
  static constexpr int operands = 1;
  static constexpr double kFar = 32;  // e is 0 from here on
  static constexpr double kScale = 1.5957691216057308, kScaleRest = -9.96930880911092e-17;
  static constexpr double kCubic = 0.044715, kCubicRest = 2.1960211427085595e-18;
  static constexpr int kShift = 16;  // e is kept times 2^16: a e may be normal where e is not
  template <class V>
  struct Tail {
    V a;  // no further than kFar
    V shifted_e, e;
  };
  template <class D, class V>
  static HWY_INLINE Tail<V> tail(D d, V a) {
    using T = hn::TFromD<D>;
    const V zero = hn::Zero(d), one = hn::Set(d, 1), far = hn::Set(d, T(kFar));
    a = hn::IfThenElse(hn::Gt(hn::Abs(a), far), hn::CopySign(far, a), a);
    const Parts<V> whole{a, zero};
    const Parts<V> cubic = product(d, product(d, whole, whole), parts_of(d, kCubic, kCubicRest));
    const V sum = hn::Add(one, cubic.high), added = hn::Sub(sum, one);
    const V lost = hn::Add(hn::Sub(one, hn::Sub(sum, added)), hn::Sub(cubic.high, added));
    const Parts<V> z = product(d, product(d, whole, {sum, hn::Add(lost, cubic.low)}),
                               parts_of(d, kScale, kScaleRest));
    const V e = exp<kShift>(d, hn::Neg(hn::Abs(z.high)));
    const V low = hn::IfThenElse(hn::Lt(z.high, zero), hn::Neg(z.low), z.low);
    const V shifted_e = hn::Sub(e, hn::Mul(e, low));
    return {a, shifted_e, hn::Mul(shifted_e, hn::Set(d, T(1) / (1 << kShift)))};
  }
  FORMULA forward(D d, V a, V) {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, 1), back = hn::Set(d, T(1) / (1 << kShift));
    const Tail<V> t = tail(d, a);
    const V sum = hn::Add(one, t.e);
    const V below = hn::Mul(hn::Div(hn::Mul(t.a, t.shifted_e), sum), back);
    return hn::IfThenElse(hn::Lt(a, hn::Zero(d)), below, hn::Div(a, sum));
  }
  FORMULA d_a(D d, V, V g, V a, V) {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, 1), back = hn::Set(d, T(1) / (1 << kShift));
    const Tail<V> t = tail(d, a);
    const V sum = hn::Add(one, t.e);
    const auto is_below = hn::Lt(a, hn::Zero(d));
    const V s = hn::Div(hn::IfThenElse(is_below, t.shifted_e, hn::Set(d, T(1 << kShift))), sum);
    const V rest = hn::Div(hn::IfThenElse(is_below, one, t.e), sum);
    const V slope =
        hn::Mul(hn::Set(d, T(kScale)), fma(hn::Mul(hn::Set(d, T(3 * kCubic)), t.a), t.a, one));
    const V local = hn::Mul(s, fma(hn::Mul(t.a, slope), rest, one));
    return hn::Mul(g, hn::Mul(local, back));
  }
};

// y = a s with s = sigmoid(a), Hendrycks and Gimpel's SiLU (arXiv:1606.08415); also called swish.
//   d y = s (1 + a (1 - s)) da
// where s and 1 - s are 1 / (1 + e) and e / (1 + e), e = exp(-|a|).
struct silu_formula {
  static constexpr int operands = 1;
  static constexpr int kShift = 16;  // as in gelu
  // e is 0 from here on.
  template <class D, class V>
  static HWY_INLINE V clamped(D d, V a) {
    const V far = hn::Set(d, hn::TFromD<D>(sizeof(hn::TFromD<D>) == 4 ? 128 : 800));
    return hn::IfThenElse(hn::Gt(hn::Abs(a), far), hn::CopySign(far, a), a);
  }
  FORMULA forward(D d, V a, V) {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, 1), back = hn::Set(d, T(1) / (1 << kShift)), near = clamped(d, a);
    const V e = exp<kShift>(d, hn::Neg(hn::Abs(near))), sum = fma(e, back, one);
    const V below = hn::Mul(hn::Div(hn::Mul(near, e), sum), back);
    return hn::IfThenElse(hn::Lt(a, hn::Zero(d)), below, hn::Div(a, sum));
  }
  FORMULA d_a(D d, V, V g, V a, V) {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, 1), back = hn::Set(d, T(1) / (1 << kShift)), near = clamped(d, a);
    const V e = exp<kShift>(d, hn::Neg(hn::Abs(near))), sum = fma(e, back, one);
    const auto is_below = hn::Lt(near, hn::Zero(d));
    const V s = hn::Div(hn::IfThenElse(is_below, e, hn::Set(d, T(1 << kShift))), sum);
    const V rest = hn::Div(hn::IfThenElse(is_below, one, hn::Mul(e, back)), sum);
    return hn::Mul(g, hn::Mul(hn::Mul(s, fma(near, rest, one)), back));
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
  add_elementwise<T, silu_formula, Op::silu>(t, "silu", "silu");
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
