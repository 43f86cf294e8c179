// exp, log and tanh of vectors, with the edges of the C library: NaN gives NaN, infinity what it
// should. One exp serves everywhere: a softmax, a scalar Value, one lane or sixteen.
#if defined(GLASSBOX_KERNELS_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_EXP_INL_H_
#undef GLASSBOX_KERNELS_EXP_INL_H_
#else
#define GLASSBOX_KERNELS_EXP_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <limits>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  using Int = std::int32_t;
  static constexpr int kMantissaBits = 23, kBias = 127;
  static constexpr float kRound = 12582912.0f;                   // 1.5 * 2^23
  static constexpr float kLn2High = 0.693359375f;                // 9 bits: n * it is exact
  static constexpr float kLn2Low = -2.12194440054690582767e-4f;  // ln 2 - kLn2High
  static constexpr float kLowest = -104.0f, kHighest = 89.0f;    // below: 0, above: infinity
  static constexpr int kDegree = 7;                              // remainder below 6e-9
};
template <>
struct ExpConstants<double> {
  using Int = std::int64_t;
  static constexpr int kMantissaBits = 52, kBias = 1023;
  static constexpr double kRound = 6755399441055744.0;         // 1.5 * 2^52
  static constexpr double kLn2High = 0.693147180369123816490;  // 33 bits
  static constexpr double kLn2Low = 1.90821492927058770002e-10;
  static constexpr double kLowest = -746.0, kHighest = 710.0;
  static constexpr int kDegree = 13;  // remainder below 5e-18
};

// exp(x) = 2^n exp(r), x = n ln 2 + r, |r| <= ln 2 / 2; exp(r) by its Taylor polynomial, Horner's
// rule. 2^n is applied as two factors, so that results below the normal numbers come out as well.
// kShift multiplies the result by 2^kShift before it is rounded: what is a normal number only after
// a multiplication keeps its digits.
template <int kShift = 0, class D, class V>
HWY_INLINE V exp(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpConstants<T>;
  const hn::Rebind<typename C::Int, D> di;
  constexpr T kFactorial[] = {T(1),
                              T(1),
                              T(1. / 2),
                              T(1. / 6),
                              T(1. / 24),
                              T(1. / 120),
                              T(1. / 720),
                              T(1. / 5040),
                              T(1. / 40320),
                              T(1. / 362880),
                              T(1. / 3628800),
                              T(1. / 39916800),
                              T(1. / 479001600),
                              T(1. / 6227020800.)};
  const V clamped =
      hn::Min(hn::Max(x, hn::Set(d, C::kLowest - T(kShift))), hn::Set(d, C::kHighest));
  const V round = hn::Set(d, C::kRound);
  const V shifted = fma(clamped, hn::Set(d, T(1.44269504088896340736)), round);
  const V n = hn::Sub(shifted, round);
  V r = fma(n, hn::Set(d, -C::kLn2High), clamped);
  r = fma(n, hn::Set(d, -C::kLn2Low), r);
  V p = hn::Set(d, kFactorial[C::kDegree]);
  for (int k = C::kDegree - 1; k >= 0; --k) p = fma(p, r, hn::Set(d, kFactorial[k]));
  auto exponent = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, round));
  if constexpr (kShift != 0) exponent = hn::Add(exponent, hn::Set(di, kShift));
  const auto half = hn::ShiftRight<1>(exponent);
  const auto bias = hn::Set(di, C::kBias);
  const V scale1 = hn::BitCast(d, hn::ShiftLeft<C::kMantissaBits>(hn::Add(half, bias)));
  const V scale2 =
      hn::BitCast(d, hn::ShiftLeft<C::kMantissaBits>(hn::Add(hn::Sub(exponent, half), bias)));
  const V y = hn::Mul(hn::Mul(p, scale1), scale2);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

template <class D, class V>
HWY_INLINE V log(D d, V x) {
  using T = hn::TFromD<D>;
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  V y = hn::Log(d, x);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), y, nan);
}

template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();
#endif
