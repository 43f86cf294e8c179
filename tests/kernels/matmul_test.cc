#include <algorithm>

#include "tests/support/run_kernel.h"

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
  // Each number of rows below and above a tile's, and columns for every mix of wide and narrow tiles.
  for (std::size_t N = 1; N <= 13; ++N)
    require_plain_bits(product<TestType>(bits, N, 5, 33), bits, matmul, matmul_backward);
  for (const std::size_t M : {1, 15, 16, 17, 31, 32, 47, 48, 63, 64, 65, 96, 109, 130})
    require_plain_bits(product<TestType>(bits, 7, 9, M), bits, matmul, matmul_backward);
  for (const std::size_t K : {1, 2, 16, 17, 32, 33, 97})
    require_plain_bits(product<TestType>(bits, 3, K, 19), bits, matmul, matmul_backward);
}

TEMPLATE_TEST_CASE("matmul with a mirror has the same bits as without", "[kernels][matmul]", float,
                   double) {
  std::mt19937_64 bits(312);
  for_each_simd_target([&](const std::string&) {
    for (const auto& [K, M] : {std::pair{5, 33}, {32, 96}, {17, 7}}) {
      const auto x = product<TestType>(bits, 4, K, M);
      const std::size_t pitch = kernels::padded(K);
      std::vector<TestType> mirror(M * pitch);
      kernels::table<TestType>().transpose(x.in[1].data.data(), K, M, M, mirror.data(), pitch);
      const auto d_out = random_matrix<TestType>(bits, 4, M);
      RunKernel<TestType> kernel(x);
      auto with = zeros_like(x.in), without = zeros_like(x.in);
      kernel.backward(d_out, with, true, 9, mirror.data());
      kernel.backward(d_out, without, true);
      REQUIRE(differences(with[0], without[0]) == 0);
      REQUIRE(differences(with[1], without[1]) == 0);
      REQUIRE(kernel.pads_are_zero());
    }
  });
}

TEMPLATE_TEST_CASE("matmul: a row alone has the bits it has among others", "[kernels][matmul]", float,
                   double) {
  std::mt19937_64 bits(313);
  const auto all = product<TestType>(bits, 11, 33, 50);
  for_each_simd_target([&](const std::string&) {
    const auto want = RunKernel<TestType>(all).forward();
    for (std::size_t n = 0; n < all.rows; ++n) {
      Case<TestType> one{Op::matmul, 1, 50, {Matrix<TestType>(1, 33), all.in[1]}};
      one.in[0].data = row_of(all.in[0], n);
      REQUIRE(different_bits<TestType>(RunKernel<TestType>(one).forward().data, row_of(want, n)) == 0);
    }
  });
}

TEMPLATE_TEST_CASE("transpose turns every element round and leaves pads alone", "[kernels][matmul]",
                   float, double) {
  for_each_simd_target([](const std::string&) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {3, 5}, {4, 4}, {16, 33}, {19, 8}, {35, 34}}) {
      const std::size_t from_pitch = cols + 3, to_pitch = rows + 2;
      std::vector<TestType> from(rows * from_pitch, -1), to(cols * to_pitch, -2), want = to;
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c)
          from[r * from_pitch + c] = want[c * to_pitch + r] = static_cast<TestType>(100 * r + c);
      kernels::table<TestType>().transpose(from.data(), rows, cols, from_pitch, to.data(), to_pitch);
      REQUIRE(to == want);
    }
  });
}

}  // namespace glassbox::reference
