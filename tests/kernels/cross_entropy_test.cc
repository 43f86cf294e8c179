#include "tests/support/kernel_call.h"

namespace glassbox::reference {
namespace {

template <class T>
Case<T> loss_of(std::vector<T> logits, std::uint32_t target) {
  Case<T> x{Op::cross_entropy, 1, 1, {Matrix<T>(1, logits.size())}, {target}};
  x.in[0].data = std::move(logits);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("cross-entropy has the bits of a plain loop", "[kernels][cross_entropy]", float,
                   double) {
  std::mt19937_64 bits(331);
  for (const std::size_t V : {1, 2, 15, 16, 17, 33, 47, 64, 101, 1024, 1025}) {
    Case<TestType> x{Op::cross_entropy, 3, 1, {random_matrix<TestType>(bits, 3, V, -9, 9)}};
    for (int n = 0; n < 3; ++n) x.ids.push_back(static_cast<std::uint32_t>(bits() % V));
    require_plain_bits(x, bits, cross_entropy, cross_entropy_backward);
  }
}

TEMPLATE_TEST_CASE("cross-entropy of logits -431 279 427 with target 0 is 858",
                   "[kernels][cross_entropy]", float, double) {
  for_each_simd_target([](const std::string&) {
    const auto x = loss_of<TestType>({-431, 279, 427}, 0);
    REQUIRE(KernelCall<TestType>(x).forward()(0, 0) == TestType(858));
  });
}

TEMPLATE_TEST_CASE(
    "cross-entropy of logits 400 apart has finite loss and gradient with the bits of a plain loop",
    "[kernels][cross_entropy]", float, double) {
  std::mt19937_64 bits(332);
  for (std::uint32_t target = 0; target < 3; ++target) {
    const auto x = loss_of<TestType>({400, -400, 0}, target);
    require_plain_bits(x, bits, cross_entropy, cross_entropy_backward);
    KernelCall<TestType> kernel(x);
    REQUIRE(kernel.forward()(0, 0) == std::array<TestType, 3>{0, 800, 400}[target]);
    Matrix<TestType> d_out(1, 1);
    d_out(0, 0) = -1;  // a negative weight: a vanishing probability must not leave -0 behind
    auto got = zeros_like(x.in), want = got;
    kernel.backward(d_out, got, true);
    cross_entropy_backward(x, d_out, want);
    REQUIRE(differences(got[0], want[0]) == 0);
    REQUIRE(got[0](0, target) == (target == 0 ? 0 : 1));
  }
}

TEMPLATE_TEST_CASE("cross-entropy is right within 8 units in the last place of |z| + ln V",
                   "[kernels][cross_entropy]", float, double) {
  std::mt19937_64 bits(333);
  for (const std::size_t V : {2, 17, 600})
    for (const double largest : {0., 1., 12., 30., 90., 700.}) {
      CAPTURE(V, largest);
      auto logits = random_matrix<TestType>(bits, 1, V, -4, 4).data;
      const auto target = static_cast<std::uint32_t>(bits() % V);
      logits[target] = static_cast<TestType>(largest);  // from any chance to one that rounds to 1
      long double top = logits[0], others = 0;
      for (const TestType z : logits) top = std::max<long double>(top, z);
      for (const TestType z : logits) others += std::exp(z - top);
      const long double exact = std::log(others) + (top - logits[target]);
      const long double bound = 8 * std::numeric_limits<TestType>::epsilon() *
                                (std::abs(top) + std::log(static_cast<long double>(V)));
      for_each_simd_target([&](const std::string&) {
        const TestType loss = KernelCall<TestType>(loss_of(logits, target)).forward()(0, 0);
        REQUIRE(std::abs(loss - exact) <= bound);
      });
    }
}

TEMPLATE_TEST_CASE("cross-entropy of a logit that is no number is none", "[kernels][cross_entropy]",
                   float, double) {
  for_each_simd_target([](const std::string&) {
    for (const std::size_t V : {3, 17, 40})
      for (std::size_t i = 0; i < V; i += 2) {
        std::vector<TestType> logits(V, 1);
        logits[i] = std::numeric_limits<TestType>::quiet_NaN();
        REQUIRE(std::isnan(KernelCall<TestType>(loss_of(logits, 1)).forward()(0, 0)));
      }
  });
}

}  // namespace glassbox::reference
