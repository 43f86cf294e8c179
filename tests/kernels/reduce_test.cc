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

}  // namespace glassbox::reference
