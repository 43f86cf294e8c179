// What the operations of kernels/arithmetic.cc do where they are not smooth; elsewhere see
// ops_test.cc.
#include "tests/support/scalar_edges.h"

namespace glassbox::reference {

TEMPLATE_TEST_CASE("pow of a negative base is exact for whole exponents and NaN for others",
                   "[kernels][arithmetic]", float, double) {
  using T = TestType;
  const T nan = kNotANumber<T>;
  require_edges<T>({{Op::pow, -2, 2, 4, -4, nan},
                    {Op::pow, -2, 3, -8, 12, nan},
                    {Op::pow, -2, -3, T(-0.125), T(-0.1875), nan},
                    {Op::pow, -4, T(0.5), nan, nan, nan},
                    {Op::pow, -1, 0, 1, 0, nan},
                    {Op::pow, nan, 0, 1, nan, nan},
                    {Op::pow, 1, nan, 1, nan, nan}});
}

TEMPLATE_TEST_CASE("pow at base 0 has the derivative of x^b and none in the exponent",
                   "[kernels][arithmetic]", float, double) {
  using T = TestType;
  const T inf = kInfinity<T>;
  require_edges<T>({{Op::pow, 0, 2, 0, 0, 0},
                    {Op::pow, 0, 1, 0, 1, 0},
                    {Op::pow, 0, 0, 1, 0, 0},
                    {Op::pow, 0, T(0.5), 0, inf, 0},
                    {Op::pow, 0, -1, inf, -inf, -inf},
                    {Op::pow, T(-0.), 2, 0, 0, 0},
                    {Op::pow, T(-0.), -1, -inf, -inf, inf}});
}

TEMPLATE_TEST_CASE("max and min give a tie's gradient to the first and keep NaN",
                   "[kernels][arithmetic]", float, double) {
  using T = TestType;
  const T nan = kNotANumber<T>, inf = kInfinity<T>;
  for (const Op op : {Op::max, Op::min})
    require_edges<T>({{op, 3, 3, 3, 1, 0},
                      {op, inf, inf, inf, 1, 0},
                      {op, T(-0.), 0, T(-0.), 1, 0},
                      {op, nan, 1, nan, nan, nan},
                      {op, 1, nan, nan, nan, nan},
                      {op, nan, nan, nan, nan, nan}});
  require_edges<T>({{Op::max, -inf, 1, 1, 0, 1}, {Op::min, -inf, 1, -inf, 1, 0}});
}

TEMPLATE_TEST_CASE("abs sqrt and rsqrt at 0 and outside their domain", "[kernels][arithmetic]",
                   float, double) {
  using T = TestType;
  const T nan = kNotANumber<T>, inf = kInfinity<T>;
  require_edges<T>({{Op::abs, 0, 0, 0, 0},
                    {Op::abs, T(-0.), 0, 0, 0},
                    {Op::abs, -inf, 0, inf, -1},
                    {Op::abs, nan, 0, nan, nan},
                    {Op::sqrt, 0, 0, 0, inf},
                    {Op::sqrt, T(-0.), 0, T(-0.), inf},
                    {Op::sqrt, -1, 0, nan, nan},
                    {Op::sqrt, inf, 0, inf, 0},
                    {Op::rsqrt, 0, 0, inf, -inf},
                    {Op::rsqrt, T(-0.), 0, -inf, -inf},
                    {Op::rsqrt, -1, 0, nan, nan},
                    {Op::rsqrt, inf, 0, 0, 0}});
}

TEMPLATE_TEST_CASE("division by 0 is infinite or NaN as IEEE has it", "[kernels][arithmetic]",
                   float, double) {
  using T = TestType;
  const T nan = kNotANumber<T>, inf = kInfinity<T>, tiny = std::numeric_limits<T>::denorm_min();
  require_edges<T>({{Op::div, 1, 0, inf, inf, -inf},
                    {Op::div, -1, 0, -inf, inf, inf},
                    {Op::div, 0, 0, nan, inf, nan},
                    {Op::div, 1, inf, 0, 0, 0},
                    {Op::div, 0, tiny, 0, inf, 0},
                    {Op::div, 0, -tiny, T(-0.), -inf, 0}});
}

}  // namespace glassbox::reference
