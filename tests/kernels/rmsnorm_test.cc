#include "tests/support/kernel_call.h"

namespace glassbox::reference {

TEMPLATE_TEST_CASE("rmsnorm has the bits of a plain loop", "[kernels][rmsnorm]", float, double) {
  std::mt19937_64 bits(321);
  for (const std::size_t C : {1, 2, 7, 8, 15, 16, 17, 32, 33, 50, 64})
    for (const std::size_t N : {1, 2, 5})
      require_plain_bits<TestType>(
          {Op::rmsnorm, N, C, {random_matrix<TestType>(bits, N, C)}, {}, {.epsilon = 1e-5}}, bits,
          rmsnorm, rmsnorm_backward);
}

TEST_CASE("rmsnorm of a row of zeros is 0 with a finite gradient", "[kernels][rmsnorm]") {
  const Case<double> x{Op::rmsnorm, 1, 5, {Matrix<double>(1, 5)}, {}, {.epsilon = 1e-5}};
  Matrix<double> ones(1, 5);
  ones.data.assign(5, 1);
  KernelCall<double> kernel(x);
  REQUIRE(kernel.forward().data == std::vector<double>(5, 0));
  auto grad = zeros_like(x.in);
  kernel.backward(ones, grad, true);
  for (const double g : grad[0].data) REQUIRE(g == Approx(1 / std::sqrt(1e-5)).epsilon(1e-14));
}

// f x for a power of two f has the values of x and 1 / f of its gradients, whatever its squares do.
TEMPLATE_TEST_CASE(
    "rmsnorm of rows whose squares overflow or vanish has the right value and gradient",
    "[kernels][rmsnorm]", float, double) {
  using T = TestType;
  std::mt19937_64 bits(322);
  const int far = std::numeric_limits<T>::max_exponent;
  for (const int exponent : {far / 2 + 1, far - 3, -far / 2 - 12, -far + 4})
    for (const std::size_t C : {1, 16, 50}) {
      CAPTURE(exponent, C);
      const auto x = random_matrix<T>(bits, 2, C, -2, 2, 0.1), d_out = random_matrix<T>(bits, 2, C);
      Case<T> near{Op::rmsnorm, 2, C, {x}, {}, 0}, away = near;
      for (T& v : away.in[0].data) v = std::ldexp(v, exponent);
      for_each_simd_target([&](const std::string&) {
        KernelCall<T> near_call(near), away_call(away);
        const auto want = near_call.forward(), got = away_call.forward();
        for (std::size_t i = 0; i < got.data.size(); ++i)
          REQUIRE(got.data[i] ==
                  Approx(want.data[i]).epsilon(8 * std::numeric_limits<T>::epsilon()));
        if (exponent < 0) return;  // a gradient of numbers near 0 overflows
        auto want_grad = zeros_like(near.in), got_grad = zeros_like(away.in);
        near_call.backward(d_out, want_grad, true);
        away_call.backward(d_out, got_grad, true);
        for (std::size_t i = 0; i < got.data.size(); ++i)
          REQUIRE(std::ldexp(got_grad[0].data[i], exponent) ==
                  Approx(want_grad[0].data[i]).margin(1e-5).epsilon(1e-5));
      });
    }
}

}  // namespace glassbox::reference
