// Threads that take whole sentences through many operations: the bits of one thread, whatever else
// the scope holds.
#include <array>
#include <optional>

#include "autograd/errors.h"
#include "autograd/scope.h"
#include "kernels/parallel.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/tape_matrices.h"

namespace glassbox {
namespace {

// Everything on the tape, values and gradients, after a step of a graph that has 60 rows in 20
// sentences, a weight of 60 rows too, and operations that cannot be cut with them.
template <class T>
std::vector<T> all_bits(kernels::Threads* threads, std::uint32_t second_start,
                        bool within_another = false) {
  constexpr std::uint32_t kRows = 60;
  std::mt19937_64 bits(551);
  Tape<T> tape;
  tape.set_threads(threads);
  const auto x = drawn_run(tape, bits, kRows, kRows), w = drawn_run(tape, bits, kRows, kRows);
  const auto few = drawn_run(tape, bits, 3, kRows), wide = drawn_run(tape, bits, kRows, 3 * kRows);
  std::vector<std::uint32_t> starts{0, second_start}, others{0, 10, kRows};
  while (starts.size() <= 20) starts.push_back(static_cast<std::uint32_t>(3 * starts.size()));
  std::vector<Matrix<T>> ends;
  {
    SentenceScope<T> sentences(tape, starts);
    std::optional<SentenceScope<T>> inner;
    if (within_another) inner.emplace(tape, starts);
    auto h = tanh(linear(x, w));
    h = h * w;                                // a weight as an operand like any other
    h = linear(rmsnorm(h, 1e-5), tanh(w));    // a weight that was computed
    h = tanh(h);                              // which waits
    const auto scalar = w(1, 1) * w(1, 2);    // what a scalar does not
    const auto aside = tanh(linear(few, w));  // other rows
    h = causal_self_attention<T>(linear(h, wide), starts, 4);
    h = h + causal_self_attention<T>(linear(h, wide), others, 4);  // other sentences
    ends = {h * x, aside, gather<T>(std::array{scalar})};
    sentences.compute();
  }
  const auto loss = sum(ends[0]) + sum(ends[1]) + sum(ends[2]) + w(2, 3) * w(2, 3);
  tape.zero_grad();
  loss.backward();
  std::vector<T> all;
  for (const MatrixInfo& run : tape.matrices())
    for (std::uint32_t n = 0; n < run.rows; ++n)
      for (std::uint32_t m = 0; m < run.cols; ++m)
        for (const T v :
             {tape.data(run.out + n * run.pitch + m), tape.grad(run.out + n * run.pitch + m)})
          all.push_back(v);
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "SentenceScope: the same bits for any number of threads, whatever is recorded in it",
    "[autograd][threads]", float, double) {
  for (const std::uint32_t second_start : {3, 1}) {
    const auto alone = all_bits<TestType>(nullptr, second_start);
    for (const std::size_t count : {2, 3, 5, 7}) {
      CAPTURE(count, second_start);
      kernels::Threads threads(count);
      REQUIRE(different_bits<TestType>(all_bits<TestType>(&threads, second_start), alone) == 0);
      REQUIRE(different_bits<TestType>(all_bits<TestType>(&threads, second_start, true), alone) ==
              0);
    }
  }
}

TEST_CASE("SentenceScope: after a throw the tape can be cleared and used", "[autograd][threads]") {
  kernels::Threads threads(2);
  std::mt19937_64 bits(552);
  Tape<float> tape;
  tape.set_threads(&threads);
  const auto x = drawn_run(tape, bits, 60, 64), w = drawn_run(tape, bits, 64, 64),
             narrow = drawn_run(tape, bits, 3, 3);
  tape.keep();
  std::vector<std::uint32_t> starts;
  for (std::uint32_t row = 0; row <= 60; row += 3) starts.push_back(row);
  std::array<float, 2> grad;
  for (const int round : {0, 1}) {
    const StepScope<float> step(tape);
    tape.zero_grad();
    if (round == 0) {
      SentenceScope<float> sentences(tape, starts);
      const auto h = tanh(linear(x, w));
      REQUIRE_THROWS_AS(linear(h, narrow), TapeError);
    }
    for (float& g : grad) {
      SentenceScope<float> sentences(tape, starts);
      const auto h = tanh(linear(x, w));
      sentences.compute();
      tape.zero_grad();
      sum(h).backward();
      g = tape.grad(w.node(5, 7));
      REQUIRE(g != 0);
    }
    REQUIRE(grad[0] == grad[1]);
  }
}

TEST_CASE("SentenceScope: clear() drops what waits in it", "[autograd][threads]") {
  kernels::Threads threads(2);
  std::mt19937_64 bits(553);
  Tape<float> tape;
  tape.set_threads(&threads);
  const auto x = drawn_run(tape, bits, 60, 64), w = drawn_run(tape, bits, 64, 64);
  const auto before = tape.keep();
  std::vector<std::uint32_t> starts;
  for (std::uint32_t row = 0; row <= 60; row += 3) starts.push_back(row);
  for (const bool to_within : {false, true}) {
    tanh(w);  // so that the scope begins after the mark
    {
      SentenceScope<float> sentences(tape, starts);
      const auto first = linear(x, w);
      if (to_within) tape.keep();
      tanh(first);
      tape.clear();
      const SentenceScope<float> inner(tape, starts);
      const auto second = linear(x, w);
      sentences.compute();
      if (to_within) REQUIRE(first.data(59, 63) == second.data(59, 63));
    }
    tape.clear(before);
  }
  const auto h = linear(x, w);
  sum(h).backward();
  REQUIRE(tape.grad(w.node(5, 7)) != 0);
}

}  // namespace glassbox
