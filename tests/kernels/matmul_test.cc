#include "tests/support/kernel_call.h"

namespace glassbox::reference {
namespace {

template <class T>
Case<T> product(std::mt19937_64& bits, std::size_t N, std::size_t K, std::size_t M) {
  return {Op::matmul, N, M, {random_matrix<T>(bits, N, K), random_matrix<T>(bits, K, M)}};
}

}  // namespace

TEMPLATE_TEST_CASE("matmul has the bits of a plain loop with k rising", "[kernels][matmul]", float,
                   double) {
  std::mt19937_64 bits(311);
  // Each number of rows below and above a tile's, and columns for every mix of wide and narrow
  // tiles.
  for (std::size_t N = 1; N <= 13; ++N)
    require_plain_bits(product<TestType>(bits, N, 5, 33), bits, matmul, matmul_backward);
  for (const std::size_t M : {1, 15, 16, 17, 31, 32, 47, 48, 63, 64, 65, 96, 109, 130})
    require_plain_bits(product<TestType>(bits, 7, 9, M), bits, matmul, matmul_backward);
  for (const std::size_t K : {1, 2, 16, 17, 32, 33, 97})
    require_plain_bits(product<TestType>(bits, 3, K, 19), bits, matmul, matmul_backward);
  // The weight turned round, in registers for few rows and whole lanes of inputs: each remainder of
  // a square.
  for (std::size_t N = 1; N <= 14; ++N)
    require_plain_bits(product<TestType>(bits, N, N % 2 ? 32 : 48, 16 + N), bits, matmul,
                       matmul_backward);
  for (const std::size_t K : {3, 16, 29, 48})
    require_plain_bits(product<TestType>(bits, 15, K, 37), bits, matmul, matmul_backward);
}

TEMPLATE_TEST_CASE("matmul in blocks has the bits of a plain loop", "[kernels][matmul]", float,
                   double) {
  std::mt19937_64 bits(312);
  // Several blocks of the inner index, of rows and of columns, and each number of leftover rows.
  for (std::size_t N = 30; N <= 36; ++N)
    require_plain_bits(product<TestType>(bits, N, 330, 48), bits, matmul, matmul_backward);
  require_plain_bits(product<TestType>(bits, 413, 96, 130), bits, matmul, matmul_backward);
  require_plain_bits(product<TestType>(bits, 40, 112, 1090), bits, matmul, matmul_backward);
  require_plain_bits(product<TestType>(bits, 101, 1090, 24), bits, matmul, matmul_backward);
}

TEMPLATE_TEST_CASE("matmul: a row alone has the bits it has among others", "[kernels][matmul]",
                   float, double) {
  std::mt19937_64 bits(313);
  const auto all = product<TestType>(bits, 11, 33, 50);
  for_each_simd_target([&](const std::string&) {
    const auto want = KernelCall<TestType>(all).forward();
    for (std::size_t n = 0; n < all.rows; ++n) {
      Case<TestType> one{Op::matmul, 1, 50, {Matrix<TestType>(1, 33), all.in[1]}};
      one.in[0].data = row_of(all.in[0], n);
      REQUIRE(different_bits<TestType>(KernelCall<TestType>(one).forward().data, row_of(want, n)) ==
              0);
    }
  });
}

}  // namespace glassbox::reference
