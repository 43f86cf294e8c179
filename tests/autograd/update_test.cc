// fused_step() is backward() and update() in one, whatever reads the parameters.
#include <cmath>

#include "autograd/scope.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/tape_matrices.h"

namespace glassbox {
namespace {

// Four parameters, some of which each kind of step uses, with what an optimiser keeps of them.
template <class T>
struct Learner {
  explicit Learner(std::mt19937_64 bits) {
    for (const auto& [rows, cols] : {std::pair{6, 19}, {8, 19}, {19, 8}, {8, 19}})
      p.push_back(drawn_run(tape, bits, rows, cols));
    tape.keep();
    size = tape.size();
    m.resize(size), v.resize(size);
    since.resize(size / 16), awake.resize(size / 16), count.resize(size / 16);
  }
  Value<T> loss(int kind, std::uint32_t word) {
    const std::uint32_t ids[] = {word, 1, word, 0, 1, 2};
    const std::uint32_t targets[] = {0, 5, 11};
    const auto ce = [&](const Matrix<T>& x) {
      return sum(cross_entropy<T>(linear(linear(x, p[2]), p[3]), targets));
    };
    switch (kind) {
      case 0:
        return ce(embedding<T>(p[0], p[1], ids));
      case 1:
        return sum(tanh(linear(p[2], p[3])));  // a product of two parameters
      case 2:
        return sum(tanh(linear(p[0], p[2])));  // a table as input
      case 3:
        return sum(tanh(linear(p[3], tanh(p[2]))));  // a parameter times no parameter
      case 4:
        return ce(embedding<T>(p[0], tanh(p[1]), ids));
      case 6:
        return sum(tanh(linear(tape.matrix(2, 8), p[3]))) + mean(p[1]);
      case 5:
        return sum(tanh(linear(tanh(linear(tanh(p[3]), p[2])), p[1])));  // a table as weights
      case 7:
        return ce(embedding<T>(p[0], p[0], ids));
      default:
        return ce(embedding<T>(p[0], p[1], ids)) + p[0](2, 3) * p[2](1, 1);  // from now on elements
    }
  }
  typename Tape<T>::ParameterUpdate step(std::uint32_t t) {
    const double root = std::sqrt(1 - std::pow(0.99, t));
    return {.m = m.data(),
            .v = v.data(),
            .size = size,
            .rest_since = since.data(),
            .rest_awake = awake.data(),
            .rest_count = count.data(),
            .settings = {.step_size = T(0.01 * root / (1 - std::pow(0.85, t))),
                         .epsilon = T(1e-8 * root),
                         .beta1 = T(0.85),
                         .beta2 = T(0.99),
                         .one_minus_beta1 = T(1 - 0.85),
                         .one_minus_beta2 = T(1 - 0.99),
                         .step = t,
                         .may_rest = t > 1}};
  }
  std::span<const T> weights() const { return {tape.data_from(0), size}; }
  Tape<T> tape;
  std::size_t size;
  std::vector<Matrix<T>> p;
  std::vector<T> m, v;
  std::vector<std::uint32_t> since, awake, count;
};

}  // namespace

TEMPLATE_TEST_CASE("fused_step gives the bits of backward and update whatever reads the parameters",
                   "[autograd][update]", float, double) {
  using T = TestType;
  std::mt19937_64 bits(441);
  Learner<T> within(bits), apart(bits);
  for (std::uint32_t t = 1; t <= 1500; ++t) {
    // Mostly plain steps, so that rows without gradient come to rest, and now and then a table as
    // weights; then anything.
    const int plain = t % 250 == 249 ? 5 : 0;
    const int kind = t % 300 < 280 ? plain : static_cast<int>(bits() % (t < 1200 ? 8 : 9));
    const auto word = static_cast<std::uint32_t>(t % 300 < 290 ? bits() % 3 : bits() % 6);
    CAPTURE(t, kind);
    {
      const StepScope scope(within.tape);
      within.tape.zero_grad();
      auto update = within.step(t);
      update.keep_gradients = t % 2 == 0;
      within.tape.fused_step(within.loss(kind, word).id(), update);
    }
    {
      const StepScope scope(apart.tape);
      apart.tape.zero_grad();
      apart.loss(kind, word).backward();
      apart.tape.update(apart.step(t));
    }
    REQUIRE(different_bits(within.weights(), apart.weights()) == 0);
  }
}

}  // namespace glassbox
