// A handle that exists is right, whoever made it and whatever has happened since: it reads what its
// node holds, takes part in formulas, and says so when its node is gone or out of date.
#include <optional>

#include "autograd/errors.h"
#include "autograd/scope.h"
#include "kernels/parallel.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"
#include "tests/support/tape_matrices.h"

namespace glassbox {
namespace {

bool has_elements(const Matrix<double>& m) { return m.tape().matrices()[m.id()].has_elements; }

}  // namespace

TEST_CASE("a handle made by hand takes part in formulas as one that a matrix gives",
          "[autograd][handles]") {
  Tape<double> tape;
  std::mt19937_64 bits(461);
  const auto x = drawn_run(tape, bits, 2, 3), y = tanh(x);
  const Value<double> by_hand(tape, y.node(1, 0));
  (by_hand * by_hand).backward();
  const double grad = x.grad(1, 0);
  REQUIRE(grad == Approx(2 * y.data(1, 0) * (1 - y.data(1, 0) * y.data(1, 0))));
  tape.zero_grad();
  (y(1, 0) * y(1, 0)).backward();
  REQUIRE(x.grad(1, 0) == grad);
}

TEST_CASE("to read an element leaves no mark on its matrix and to compute with it one that goes",
          "[autograd][handles]") {
  Tape<double> tape;
  std::mt19937_64 bits(462);
  const auto w = drawn_run(tape, bits, 2, 3);
  REQUIRE(w(1, 2).data() == w.data(1, 2));
  REQUIRE(!has_elements(w));
  for (const int use : {0, 1, 2}) {
    const StepScope scope(tape);
    if (use == 0) w(0, 0) * 2;
    if (use == 1) gather<double>(std::vector{w(0, 1)});
    if (use == 2) w(0, 1).backward();
    REQUIRE(has_elements(w));
    if (use == 2) break;  // a root needs its mark until the walk has begun
    {
      const StepScope inner(tape);
      w(0, 0) * 3;
    }
    REQUIRE(has_elements(w));
  }
  REQUIRE(!has_elements(w));
}

TEST_CASE("readers are forgotten when the records that read are cleared", "[autograd][handles]") {
  Tape<double> tape;
  std::mt19937_64 bits(463);
  const auto w = drawn_run(tape, bits, 3, 3);
  const auto kept = tanh(w);
  {
    const StepScope scope(tape);
    linear(kept, w) + exp(w);
    REQUIRE(tape.matrices()[w.id()].readers == 3);
  }
  REQUIRE(tape.matrices()[w.id()].readers == 1);
  REQUIRE(tape.matrices()[kept.id()].readers == 0);
}

TEST_CASE("SentenceScope: what is read before it ends is computed first", "[autograd][threads]") {
  kernels::Threads threads(2);
  std::mt19937_64 bits(464);
  Tape<double> tape;
  const auto x = drawn_run(tape, bits, 60, 64);
  const auto want = tanh(x), twice = want + want;
  const double product = want.data(59, 63) * 3;
  tape.set_threads(&threads);
  std::vector<std::uint32_t> starts;
  for (std::uint32_t row = 0; row <= 60; row += 3) starts.push_back(row);
  std::optional<Matrix<double>> last;
  {
    const SentenceScope<double> sentences(tape, starts);
    auto y = tanh(x);
    REQUIRE(y.data(59, 63) == want.data(59, 63));
    y = tanh(x);
    REQUIRE(y(59, 63).data() == want.data(59, 63));
    y = tanh(x);
    REQUIRE((y(59, 63) * 3).data() == product);
    y = tanh(x);
    tape.zero_grad();
    y(59, 63).backward();
    REQUIRE(x.grad(59, 63) == Approx(1 - want.data(59, 63) * want.data(59, 63)));
    y = tanh(x);
    last = y + y;
  }
  REQUIRE(last->data(59, 63) == twice.data(59, 63));  // it was never told to compute
  tape.set_threads(nullptr);
}

TEST_CASE("a stale handle is told on every level of scopes", "[autograd][handles]") {
  Tape<double> tape;
  tape.clear();
  const StepScope outer(tape);
  const Value<double> old = [&] {
    const StepScope inner(tape);
    return tape.leaf(99.);
  }();
  const auto live = tape.leaf(7.);
  const StepScope again(tape);
  REQUIRE_THROWS_AS(old.data(), TapeError);
  REQUIRE(live.data() == 7);
}

TEST_CASE("in any sequence of leaf, scope, keep and clear the stale handles and no others throw",
          "[autograd][handles]") {
  std::mt19937_64 bits(465);
  for (int sequence = 0; sequence < 3000; ++sequence) {
    Tape<double> tape;
    struct Node {
      std::optional<Value<double>> value;
      std::optional<Matrix<double>> matrix;
      double data;
    };
    std::vector<Node> live, dead;
    std::vector<std::unique_ptr<StepScope<double>>> scopes;
    std::vector<std::size_t> begins;
    std::size_t kept = 0;
    const auto drop = [&](std::size_t from) {
      dead.insert(dead.end(), live.begin() + static_cast<std::ptrdiff_t>(from), live.end());
      live.resize(from);
      kept = from;
    };
    for (int i = 0; i < 25; ++i) {
      const double data = 25 * sequence + i;
      switch (bits() % 7) {
        case 0:
        case 1:
          live.push_back({tape.leaf(data), {}, data});
          break;
        case 2: {
          const auto m = tape.matrix(1, 1 + bits() % 20);
          m(0, 0).set_data(data);
          live.push_back({{}, m, data});
          break;
        }
        case 3:
          scopes.push_back(std::make_unique<StepScope<double>>(tape));
          begins.push_back(kept = live.size());
          break;
        case 4:
          if (scopes.empty()) break;
          scopes.pop_back();
          drop(begins.back());
          begins.pop_back();
          break;
        case 5:
          tape.keep();
          kept = live.size();
          break;
        default:
          tape.clear();
          drop(kept);
      }
      for (const Node& node : live)
        REQUIRE((node.value ? node.value->data() : node.matrix->data(0, 0)) == node.data);
      for (const Node& node : dead) {
        if (node.value) REQUIRE_THROWS_AS(node.value->data(), TapeError);
        if (node.matrix) REQUIRE_THROWS_AS(node.matrix->data(0, 0), TapeError);
      }
    }
    while (!scopes.empty()) scopes.pop_back();
  }
}

TEST_CASE("scopes that end out of order revive nothing and a mark that is gone is refused",
          "[autograd][handles]") {
  Tape<double> tape, other;
  const auto first = tape.leaf(1);
  auto outer = std::make_unique<StepScope<double>>(tape);
  const auto second = tape.leaf(2);
  auto inner = std::make_unique<StepScope<double>>(tape);
  const auto inner_mark = tape.keep();
  const auto third = tape.leaf(3);
  outer.reset();
  REQUIRE(tape.size() == 1);
  const auto fourth = tape.leaf(4);
  inner.reset();
  REQUIRE(fourth.data() == 4);
  REQUIRE(first.data() == 1);
  REQUIRE_THROWS_AS(second.data(), TapeError);
  REQUIRE_THROWS_AS(third.data(), TapeError);
  REQUIRE_THAT(error_message<TapeError>([&] { tape.clear(inner_mark); }),
               text_contains("one that was cleared"));
  REQUIRE_THAT(error_message<TapeError>([&] { other.clear(tape.keep()); }),
               text_contains("one of another"));
}

TEST_CASE("after set_data what was computed from the leaf is out of date and says so",
          "[autograd][handles]") {
  Tape<double> tape;
  auto x = tape.leaf(3);
  const auto y = x * x;
  const auto later = tape.leaf(8);
  x.set_data(5);
  const auto message = text_contains("weights have moved");
  REQUIRE_THAT(error_message<TapeError>([&] { y.backward(); }), message);
  REQUIRE_THAT(error_message<TapeError>([&] { y.data(); }), message);
  REQUIRE_THAT(error_message<TapeError>([&] { y + 1; }), message);
  REQUIRE_THAT(error_message<TapeError>([&] { tape.backward(y.id()); }), message);
  tape.keep();
  REQUIRE_THAT(error_message<TapeError>([&] { y.data(); }), message);
  REQUIRE(x.data() == 5);
  REQUIRE(later.data() == 8);
  const auto z = x * x;
  z.backward();
  REQUIRE(x.grad() == 10);
}

TEST_CASE("backward from a node that is not on the tape is refused", "[autograd][handles]") {
  Tape<double> tape;
  tape.leaf(1);
  REQUIRE_THAT(error_message<TapeError>([&] { tape.backward(NodeId{1}); }),
               text_contains("expected a node below 1, found 1"));
}

TEST_CASE("a matrix that node ids cannot count is refused", "[autograd][handles]") {
  Tape<double> tape;
  constexpr std::size_t kHuge = std::size_t{1} << 60;
  for (const auto& [rows, cols] :
       std::vector<std::pair<std::size_t, std::size_t>>{{kHuge, 16},
                                                        {16, kHuge},
                                                        {kHuge, kHuge},
                                                        {SIZE_MAX, SIZE_MAX},
                                                        {1, 0xFFFFFFF0},
                                                        {std::size_t{1} << 32, 0},
                                                        {std::size_t{1} << 28, 16}}) {
    CAPTURE(rows, cols);
    REQUIRE_THROWS_AS(tape.matrix(rows, cols), TapeError);
  }
  REQUIRE(tape.size() == 0);
  REQUIRE(tape.matrix(2, 3).cols() == 3);
}

}  // namespace glassbox
