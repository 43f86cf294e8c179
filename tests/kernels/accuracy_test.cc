// How far values and derivatives of the scalar operations are from the exact ones, in units in the
// last place, over the whole range of the operands: both signs, from subnormal to overflow.
#include <algorithm>
#include <numbers>

#include "tests/support/kernel_call.h"

namespace glassbox::reference {
namespace {

using Exact = long double;

struct Derivatives {
  Exact value, d_a, d_b = 0;
};

// Steps of T between `got` and `want`. Below the normal numbers a step is the smallest number; a
// result that overflows or is not finite must be the same.
template <class T>
double steps(T got, Exact want) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(want)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (std::abs(want) >= static_cast<Exact>(Limits::max()) * 0.999999L)
    return std::isinf(got) || std::abs(got) >= Limits::max() * T(0.99999)
               ? (std::signbit(got) == std::signbit(want) ? 0 : HUGE_VAL)
               : HUGE_VAL;
  if (!std::isfinite(got)) return HUGE_VAL;
  int exponent;
  std::frexp(want, &exponent);
  const Exact step =
      std::ldexp(Exact(1), std::max(exponent, Limits::min_exponent) - Limits::digits);
  return static_cast<double>(std::abs(static_cast<Exact>(got) - want) / step);
}

// Both signs, evenly in the exponent from the smallest number to the largest, and the places where
// saturating functions bend.
template <class T>
std::vector<T> points(std::mt19937_64& bits, int count) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> at = {T(0.5),
                       1,
                       T(1.5),
                       2,
                       3,
                       18,
                       19,
                       20,
                       37,
                       88,
                       100,
                       350,
                       700,
                       740,
                       Limits::min(),
                       Limits::denorm_min(),
                       Limits::max()};
  for (int i = 0; i < count; ++i) {
    const double exponent =
        uniform(bits, Limits::min_exponent - Limits::digits, Limits::max_exponent);
    at.push_back(static_cast<T>(std::exp2(static_cast<Exact>(exponent))));
    at.push_back(static_cast<T>(uniform(bits, 0, 1)));
    at.push_back(static_cast<T>(uniform(bits, 0.5, 2)));
    at.push_back(static_cast<T>(uniform(bits, 0, 25)));
    at.push_back(static_cast<T>(uniform(bits, 0, sizeof(T) == 4 ? 110 : 760)));
  }
  const std::size_t size = at.size();
  for (std::size_t i = 0; i < size; ++i) at.push_back(-at[i]);
  return at;
}

Derivatives exact_sigmoid(Exact a) {
  const Exact e = std::exp(-std::abs(a));
  return {(a < 0 ? e : 1) / (1 + e), e / ((1 + e) * (1 + e))};
}
Derivatives exact_tanh(Exact a) {
  const Exact e = std::exp(-2 * std::abs(a));
  return {std::tanh(a), 4 * e / ((1 + e) * (1 + e))};
}
Derivatives exact_gelu(Exact a) {
  const Exact c = std::sqrt(8 / std::numbers::pi_v<Exact>), k = 0.044715L;
  if (a > 1000) return {a, 1};
  if (a < -1000) return {0, 0};
  const Exact e = std::exp(-std::abs(c * (a + k * a * a * a))), sum = 1 + e;
  const Exact s = (a < 0 ? e : 1) / sum, rest = (a < 0 ? 1 : e) / sum;
  return {a * s, s * (1 + a * rest * c * (1 + 3 * k * a * a))};
}
Derivatives exact_silu(Exact a) {
  const Derivatives s = exact_sigmoid(a);
  const Exact e = std::exp(-std::abs(a)), rest = (a < 0 ? 1 : e) / (1 + e);
  return {a * s.value, s.value * (1 + a * rest)};
}
const Exact kNaN = std::numeric_limits<Exact>::quiet_NaN();

struct Bound {
  Op op;
  Derivatives (*exact)(Exact a, Exact b);
  double value, derivative;  // steps
};
const Bound kUnary[] = {
    {Op::exp,
     [](Exact a, Exact) {
       return Derivatives{std::exp(a), std::exp(a)};
     },
     1.25, 1.25},
    {Op::log,
     [](Exact a, Exact) {
       return a < 0 ? Derivatives{kNaN, kNaN} : Derivatives{std::log(a), 1 / a};
     },
     1, 1},
    {Op::tanh, [](Exact a, Exact) { return exact_tanh(a); }, 3.25, 4},
    {Op::sigmoid, [](Exact a, Exact) { return exact_sigmoid(a); }, 2.5, 4},
    {Op::sqrt,
     [](Exact a, Exact) {
       return a < 0 ? Derivatives{kNaN, kNaN} : Derivatives{std::sqrt(a), 0.5L / std::sqrt(a)};
     },
     0.5, 2},
    {Op::rsqrt,
     [](Exact a, Exact) {
       return a < 0 ? Derivatives{kNaN, kNaN}
                    : Derivatives{1 / std::sqrt(a), -0.5L / (a * std::sqrt(a))};
     },
     1.5, 5},
    {Op::gelu, [](Exact a, Exact) { return exact_gelu(a); }, 4, 8},
    {Op::silu, [](Exact a, Exact) { return exact_silu(a); }, 4, 8},
};
const Bound kBinary[] = {
    {Op::div,
     [](Exact a, Exact b) {
       return Derivatives{a / b, 1 / b, -(a / b / b)};
     },
     0.5, 3},
    {Op::pow,
     [](Exact a, Exact b) {
       const Exact y = std::pow(a, b);
       const bool is_nan = std::isnan(y);
       return Derivatives{y, is_nan ? kNaN : b * (y / a), a < 0 ? kNaN : y * std::log(a)};
     },
     1, 8},
};

// A derivative that crosses 0 is measured where it crosses by what it is made of.
template <class T>
bool is_near_a_root(Op op, T a) {
  return (op == Op::gelu && std::abs(a + T(0.7518)) < T(0.2)) ||
         (op == Op::silu && std::abs(a + T(1.2785)) < T(0.4));
}

}  // namespace

TEMPLATE_TEST_CASE(
    "values and derivatives are a few units in the last place off over all the range",
    "[kernels][accuracy]", float, double) {
  using T = TestType;
  for_each_simd_target([&](const std::string&) {
    std::mt19937_64 bits(391);
    const std::vector<T> at = points<T>(bits, 400);
    for (const Bound& bound : kUnary) {
      const auto& row = kernels::table<T>()[bound.op];
      for (const T a : at) {
        const Derivatives want = bound.exact(a, a);
        const T value = row.forward1(a, a);
        T d_a = 0;
        row.backward1(value, 1, a, a, &d_a, &d_a);
        CAPTURE(row.name, a, value, want.value, d_a, want.d_a);
        REQUIRE(steps(value, want.value) <= bound.value);
        if (!is_near_a_root(bound.op, a)) REQUIRE(steps(d_a, want.d_a) <= bound.derivative);
      }
    }
    for (const Bound& bound : kBinary) {
      const auto& row = kernels::table<T>()[bound.op];
      for (int i = 0; i < 8000; ++i) {
        const T a = at[bits() % at.size()], b = at[bits() % at.size()];
        const Derivatives want = bound.exact(a, b);
        if (bound.op == Op::pow && sizeof(T) == 8 && std::abs(b * std::log(std::abs(a))) > 40 &&
            std::numeric_limits<Exact>::digits < 100)
          continue;  // the reference itself is not exact enough
        const T value = row.forward1(a, b);
        T d_a = 0, d_b = 0;
        row.backward1(value, 1, a, b, &d_a, &d_b);
        CAPTURE(row.name, a, b, value, want.value, d_a, want.d_a, d_b, want.d_b);
        REQUIRE(steps(value, want.value) <= bound.value);
        REQUIRE(steps(d_a, want.d_a) <= bound.derivative);
        REQUIRE(steps(d_b, want.d_b) <= bound.derivative);
      }
    }
  });
}

TEST_CASE("tanh and sigmoid keep their slope far out, where the value has rounded to 1",
          "[kernels][accuracy]") {
  const auto slope = [](Op op, double a) {
    const auto& row = kernels::table<double>()[op];
    double d_a = 0;
    row.backward1(row.forward1(a, a), 1, a, a, &d_a, &d_a);
    return d_a;
  };
  for (const double a : {18., 19., 40., 300.}) {
    REQUIRE(slope(Op::tanh, a) == Approx(4 * std::exp(-2 * a)).epsilon(1e-15));
    REQUIRE(slope(Op::sigmoid, a) == Approx(std::exp(-a)).epsilon(1e-7));
    REQUIRE(slope(Op::sigmoid, -a) == slope(Op::sigmoid, a));
  }
}

}  // namespace glassbox::reference
