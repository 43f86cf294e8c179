// Adam::backward_step() is backward() and step() in one, whatever reads the parameters.

#include <optional>

#include "autograd/scope.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/tape_matrices.h"
#include "train/optimizer.h"

namespace glassbox {
namespace {

// Four parameters, some of which each kind of step uses.
template <class T>
struct Learner {
  explicit Learner(std::mt19937_64 bits) {
    for (const auto& [rows, cols] : {std::pair{6, 19}, {8, 19}, {19, 8}, {8, 19}})
      p.push_back(drawn_run(tape, bits, rows, cols));
    tape.keep();
    adam.emplace(tape, tape.size(), OptimizerConfig{});
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
  std::span<const T> weights() const { return {tape.data_from(0), tape.kept_size()}; }
  Tape<T> tape;
  std::vector<Matrix<T>> p;
  std::optional<Optimizer<T>> adam;
};

}  // namespace

TEMPLATE_TEST_CASE("Adam: one fused step has the bits of two apart whatever reads the parameters",
                   "[train][optimizer]", float, double) {
  using T = TestType;
  std::mt19937_64 bits(441);
  Learner<T> within(bits), apart(bits);
  for (std::uint32_t t = 1; t <= 1500; ++t) {
    // Mostly plain steps, so that rows without gradient are skipped, and now and then a table as
    // weights; then anything.
    const int plain = t % 250 == 249 ? 5 : 0;
    const int kind = t % 300 < 280 ? plain : static_cast<int>(bits() % (t < 1200 ? 8 : 9));
    const auto word = static_cast<std::uint32_t>(t % 300 < 290 ? bits() % 3 : bits() % 6);
    CAPTURE(t, kind);
    {
      const StepScope scope(within.tape);
      within.tape.zero_grad();
      within.adam->backward_step(within.loss(kind, word), 0.01, t % 2 == 0);
    }
    {
      const StepScope scope(apart.tape);
      apart.tape.zero_grad();
      apart.loss(kind, word).backward();
      apart.adam->step(0.01);
    }
    REQUIRE(different_bits(within.weights(), apart.weights()) == 0);
  }
}

}  // namespace glassbox
