#include "tests/support/kernel_call.h"

namespace glassbox::reference {

TEMPLATE_TEST_CASE("embedding has the bits of a plain loop even for rows named twice",
                   "[kernels][gather]", float, double) {
  std::mt19937_64 bits(351);
  for (const std::size_t C : {1, 8, 16, 19, 32, 40}) {
    const std::vector<std::uint32_t> ids = {4, 0, 4, 6, 4,
                                            0, 1, 2, 0, 1};  // five tokens, then positions
    require_plain_bits<TestType>(
        {Op::embedding,
         5,
         C,
         {random_matrix<TestType>(bits, 7, C), random_matrix<TestType>(bits, 3, C)},
         ids},
        bits, embedding, embedding_backward);
  }
}

TEMPLATE_TEST_CASE("gather copies from anywhere and adds gradients in order", "[kernels][gather]",
                   float, double) {
  std::mt19937_64 bits(352);
  const std::vector<std::uint32_t> ids = {19, 3, 3, 0, 19, 7, 3};
  require_plain_bits<TestType>(
      {Op::gather, 1, ids.size(), {random_matrix<TestType>(bits, 1, 20)}, ids}, bits, gather,
      gather_backward);
}

}  // namespace glassbox::reference
