#include "tests/support/kernel_call.h"

namespace glassbox::reference {

TEMPLATE_TEST_CASE("sum mean and dot have the bits of plain loops over 16 lanes",
                   "[kernels][reduce]", float, double) {
  std::mt19937_64 bits(341);
  for (const std::size_t rows : {1, 3})
    for (const std::size_t cols : {1, 3, 8, 15, 16, 17, 31, 33, 100}) {
      const auto a = random_matrix<TestType>(bits, rows, cols),
                 b = random_matrix<TestType>(bits, rows, cols);
      require_plain_bits<TestType>({Op::sum, 1, 1, {a}}, bits, sum, sum_backward);
      require_plain_bits<TestType>({Op::mean, 1, 1, {a}}, bits, mean, mean_backward);
      require_plain_bits<TestType>({Op::dot, 1, 1, {a, b}}, bits, dot, dot_backward);
    }
}

TEMPLATE_TEST_CASE("sums of very many numbers do not drift", "[kernels][reduce]", float, double) {
  using T = TestType;
  const double tolerance = 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const auto& [rows, cols] : {std::pair{1, 1 << 20}, {1 << 9, 1 << 11}, {(1 << 16) + 3, 5}}) {
    Matrix<T> a(rows, cols), ones(rows, cols);
    a.data.assign(a.data.size(), T(0.1));
    ones.data.assign(a.data.size(), 1);
    const auto exact = static_cast<double>(T(0.1)) * rows * cols;
    for_each_simd_target([&](const std::string&) {
      CAPTURE(rows, cols);
      const auto value = [](const Case<T>& x) { return KernelCall<T>(x).forward().data[0]; };
      REQUIRE(value({Op::sum, 1, 1, {a}}) == Approx(exact).epsilon(tolerance));
      REQUIRE(value({Op::dot, 1, 1, {a, ones}}) == Approx(exact).epsilon(tolerance));
      REQUIRE(value({Op::mean, 1, 1, {a}}) == Approx(double(T(0.1))).epsilon(tolerance));
    });
  }
}

}  // namespace glassbox::reference
