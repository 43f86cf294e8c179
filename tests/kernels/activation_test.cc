// What the operations of kernels/activation.cc do at 0, -0, infinity and NaN, and how exact they
// are; gradients elsewhere see ops_test.cc.
#include "tests/support/scalar_edges.h"

namespace glassbox::reference {
namespace {

// How far `got` is from `want` in steps of T at `want`.
template <class T>
double error_in_steps(T got, long double want) {
  using Limits = std::numeric_limits<T>;
  int exponent;
  std::frexp(want, &exponent);
  const long double step =
      std::ldexp(1.0L, std::max(exponent, Limits::min_exponent) - Limits::digits);
  return static_cast<double>(std::abs(got - want) / step);
}

}  // namespace

TEMPLATE_TEST_CASE("relu has value and gradient 0 at 0 and at -0 and keeps NaN",
                   "[kernels][activation]", float, double) {
  using T = TestType;
  const T nan = kNotANumber<T>, inf = kInfinity<T>, tiny = std::numeric_limits<T>::denorm_min();
  require_edges<T>({{Op::relu, 0, 0, 0, 0},
                    {Op::relu, T(-0.), 0, 0, 0},
                    {Op::relu, tiny, 0, tiny, 1},
                    {Op::relu, -tiny, 0, 0, 0},
                    {Op::relu, inf, 0, inf, 1},
                    {Op::relu, -inf, 0, 0, 0},
                    {Op::relu, nan, 0, nan, nan}});
}

TEMPLATE_TEST_CASE("exp log and tanh are exact at 0 and -0 and at the infinities and keep NaN",
                   "[kernels][activation]", float, double) {
  using T = TestType;
  const T nan = kNotANumber<T>, inf = kInfinity<T>, tiny = std::numeric_limits<T>::denorm_min();
  require_edges<T>({{Op::exp, 0, 0, 1, 1},
                    {Op::exp, T(-0.), 0, 1, 1},
                    {Op::exp, tiny, 0, 1, 1},
                    {Op::exp, inf, 0, inf, inf},
                    {Op::exp, std::numeric_limits<T>::max(), 0, inf, inf},
                    {Op::exp, -inf, 0, 0, 0},
                    {Op::exp, std::numeric_limits<T>::lowest(), 0, 0, 0},
                    {Op::exp, nan, 0, nan, nan},
                    {Op::log, 1, 0, 0, 1},
                    {Op::log, 0, 0, -inf, inf},
                    {Op::log, T(-0.), 0, -inf, inf},
                    {Op::log, inf, 0, inf, 0},
                    {Op::log, -1, 0, nan, nan},
                    {Op::log, -inf, 0, nan, nan},
                    {Op::log, nan, 0, nan, nan},
                    {Op::tanh, 0, 0, 0, 1},
                    {Op::tanh, T(-0.), 0, T(-0.), 1},
                    {Op::tanh, tiny, 0, tiny, 1},
                    {Op::tanh, -tiny, 0, -tiny, 1},
                    {Op::tanh, inf, 0, 1, 0},
                    {Op::tanh, -inf, 0, -1, 0},
                    {Op::tanh, nan, 0, nan, nan}});
}

TEMPLATE_TEST_CASE("sigmoid, gelu and silu end at their limits and keep NaN",
                   "[kernels][activation]", float, double) {
  using T = TestType;
  const T nan = kNotANumber<T>, inf = kInfinity<T>, most = std::numeric_limits<T>::max();
  require_edges<T>({{Op::sigmoid, 0, 0, T(0.5), T(0.25)},
                    {Op::sigmoid, inf, 0, 1, 0},
                    {Op::sigmoid, -inf, 0, 0, 0},
                    {Op::sigmoid, nan, 0, nan, nan},
                    {Op::gelu, 0, 0, 0, T(0.5)},
                    {Op::gelu, inf, 0, inf, 1},
                    {Op::gelu, -inf, 0, T(-0.), 0},
                    {Op::gelu, most / 4, 0, most / 4, 1},
                    {Op::gelu, -most / 4, 0, T(-0.), 0},
                    {Op::gelu, nan, 0, nan, nan},
                    {Op::silu, 0, 0, 0, T(0.5)},
                    {Op::silu, inf, 0, inf, 1},
                    {Op::silu, -inf, 0, T(-0.), 0},
                    {Op::silu, most / 4, 0, most / 4, 1},
                    {Op::silu, -most / 4, 0, T(-0.), 0},
                    {Op::silu, nan, 0, nan, nan}});
}

// The bounds are a little above what three million points showed.
TEMPLATE_TEST_CASE(
    "exp is within 1.25 and log within 1 and tanh within 3.25 steps of the exact value",
    "[kernels][activation]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const double highest = std::log(static_cast<long double>(Limits::max()));
  const double lowest = std::log(static_cast<long double>(Limits::denorm_min()));
  for_each_simd_target([&](const std::string&) {
    const auto& table = kernels::table<T>();
    std::mt19937_64 bits(371);
    for (int i = 0; i < 20000; ++i) {
      const T x = static_cast<T>(i % 4 ? uniform(bits, lowest, highest) : uniform(bits, -1, 1));
      const T y = i % 4 ? static_cast<T>(std::exp(x)) : static_cast<T>(uniform(bits, 0.5, 2));
      const T z = static_cast<T>(i % 4 ? uniform(bits, -1, 1) : uniform(bits, -20, 20));
      const auto error = [](const auto& row, T a, long double want) {
        return error_in_steps<T>(row.forward1(a, a), want);
      };
      CAPTURE(x, y, z);
      REQUIRE(error(table[Op::exp], x, std::exp(static_cast<long double>(x))) <= 1.25);
      if (y > 0) REQUIRE(error(table[Op::log], y, std::log(static_cast<long double>(y))) <= 1);
      REQUIRE(error(table[Op::tanh], z, std::tanh(static_cast<long double>(z))) <= 3.25);
    }
  });
}

}  // namespace glassbox::reference
