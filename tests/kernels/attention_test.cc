#include "tests/support/kernel_call.h"

namespace glassbox::reference {
namespace {

struct Shape {
  std::size_t heads, head_dim;
};
const Shape kShapes[] = {{1, 1}, {2, 3}, {2, 4}, {4, 8}, {3, 16}, {1, 20}};

template <class T>
Case<T> sentences(std::mt19937_64& bits, Shape s, std::vector<std::uint32_t> starts) {
  const std::size_t N = starts.back(), C = s.heads * s.head_dim;
  return {Op::attention,
          N,
          C,
          {random_matrix<T>(bits, N, 3 * C)},
          starts,
          {.heads = static_cast<std::uint32_t>(s.heads)}};
}

}  // namespace

TEMPLATE_TEST_CASE("attention has the bits of a plain loop for each sentence",
                   "[kernels][attention]", float, double) {
  std::mt19937_64 bits(361);
  for (const Shape s : kShapes)
    for (const std::vector<std::uint32_t>& starts :
         {std::vector<std::uint32_t>{0, 1}, {0, 3, 4, 9}, {0, 16, 18}, {0, 2, 37}, {0, 70}})
      require_plain_bits(sentences<TestType>(bits, s, starts), bits, attention, attention_backward);
}

TEMPLATE_TEST_CASE("cached attention has the bits of a plain loop wherever rows lie",
                   "[kernels][attention]", float, double) {
  std::mt19937_64 bits(362);
  for (const Shape s : kShapes)
    for (const std::size_t positions : {1, 2, 16, 17, 35, 71}) {
      const std::size_t C = s.heads * s.head_dim, pitch = 3 * C + 5;
      Case<TestType> x{Op::cached_attention,
                       1,
                       C,
                       {random_matrix<TestType>(bits, 1, positions * pitch)},
                       {},
                       {.heads = static_cast<std::uint32_t>(s.heads)}};
      for (std::size_t t = 0; t < positions; ++t)
        x.ids.push_back(static_cast<std::uint32_t>((t * 5 % positions) * pitch + 2));
      if (positions % 5 == 0) continue;  // 5 t would meet places twice
      require_plain_bits(x, bits, attention, attention_backward);
    }
}

TEMPLATE_TEST_CASE("attention: a sentence alone has the bits it has among others",
                   "[kernels][attention]", float, double) {
  std::mt19937_64 bits(363);
  const auto all = sentences<TestType>(bits, {4, 8}, {0, 5, 25, 28});
  for_each_simd_target([&](const std::string&) {
    const auto want = KernelCall<TestType>(all).forward();
    Case<TestType> one{Op::attention, 20, 32, {Matrix<TestType>(20, 96)}, {0, 20}, {.heads = 4}};
    std::copy_n(&all.in[0](5, 0), one.in[0].data.size(), one.in[0].data.begin());
    const auto got = KernelCall<TestType>(one).forward();
    for (std::size_t n = 0; n < 20; ++n)
      REQUIRE(different_bits<TestType>(row_of(got, n), row_of(want, n + 5)) == 0);
  });
}

TEMPLATE_TEST_CASE("attend has the bits of attention and reads nothing of later positions",
                   "[kernels][attention]", float, double) {
  std::mt19937_64 bits(364);
  for (const Shape s : kShapes)
    for (const std::size_t T : {1, 5, 16, 21}) {
      const std::size_t C = s.heads * s.head_dim, pitch = kernels::padded(T) + 16;
      const auto x = sentences<TestType>(bits, s, {0, static_cast<std::uint32_t>(T)});
      for_each_simd_target([&](const std::string&) {
        const auto want = KernelCall<TestType>(x).forward();
        std::vector<TestType> keys(C * pitch, std::numeric_limits<TestType>::quiet_NaN()), out(C);
        std::vector<const TestType*> values;
        for (std::size_t i = 0; i < T; ++i) {
          for (std::size_t j = 0; j < C; ++j) keys[j * pitch + i] = x.in[0](i, C + j);
          values.push_back(&x.in[0](i, 2 * C));
          std::vector<TestType> exponentials(s.heads * kernels::padded(i + 1)),
              weights = exponentials;
          std::vector<TestType> inverse_sums(s.heads);
          kernels::table<TestType>().attend({.query = &x.in[0](i, 0),
                                             .keys = keys.data(),
                                             .keys_pitch = pitch,
                                             .values = values.data(),
                                             .positions = i + 1,
                                             .heads = s.heads,
                                             .head_dim = s.head_dim,
                                             .out = out.data(),
                                             .exponentials = exponentials.data(),
                                             .weights = weights.data(),
                                             .inverse_sums = inverse_sums.data()});
          REQUIRE(different_bits<TestType>(out, row_of(want, i)) == 0);
        }
      });
    }
}

}  // namespace glassbox::reference
