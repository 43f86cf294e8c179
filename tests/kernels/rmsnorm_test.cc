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

}  // namespace glassbox::reference
