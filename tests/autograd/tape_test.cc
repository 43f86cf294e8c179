#include "autograd/tape.h"

#include "autograd/errors.h"
#include "autograd/scope.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/tape_matrices.h"

namespace glassbox {
namespace {

constexpr const char* kCleared = "its step was cleared";
constexpr const char* kMoved = "the weights have moved";

template <class F>
void require_tape_error(F f, const std::string& part) {
  try {
    f();
  } catch (const TapeError& e) {
    REQUIRE_THAT(e.what(), text_contains(part));
    return;
  }
  FAIL("no TapeError");
}

}  // namespace

TEST_CASE("a second backward finds inner gradients fresh and adds to those of leaves",
          "[autograd][tape]") {
  Tape<double> tape;
  const auto x = tape.leaf(3), y = x * x * x;
  y.backward();
  y.backward();
  REQUIRE(x.grad() == 54);
  tape.zero_grad();
  REQUIRE(x.grad() == 0);
  y.backward();
  REQUIRE(x.grad() == 27);
  tape.clear();
  const auto a = tape.leaf(3), b = tape.leaf(2), c = a + b, d = tape.leaf(1), e = c * d;
  for (int i = 0; i < 2; ++i) {
    tape.zero_grad();
    e.backward();
    REQUIRE(std::vector{a.grad(), b.grad(), c.grad(), d.grad()} == std::vector<double>{1, 1, 1, 5});
  }
}

TEST_CASE("gradients of a matrix of leaves add up until zero_grad", "[autograd][tape]") {
  Tape<double> tape;
  std::mt19937_64 bits(419);
  const auto x = drawn_run(tape, bits, 2, 3);
  const auto y = sum(x);
  y.backward();
  y.backward();
  REQUIRE(x.grad(1, 2) == 2);
  tape.zero_grad();
  REQUIRE(x.grad(1, 2) == 0);
  y.backward();
  REQUIRE(x.grad(1, 2) == 1);
}

TEST_CASE("a run that nothing uses passes nothing on even where an earlier step left gradients",
          "[autograd][tape]") {
  Tape<double> tape;
  std::mt19937_64 bits(420);
  const auto x = drawn_run(tape, bits, 2, 3);
  for (const bool used : {true, false}) {
    const StepScope scope(tape);
    tape.zero_grad();
    const auto y = tanh(exp(x));
    (used ? sum(y) : sum(x)).backward();
    REQUIRE((x.grad(1, 2) == 1) == !used);
  }
}

TEST_CASE("backward from another root leaves nothing of the first in inner nodes",
          "[autograd][tape]") {
  Tape<double> tape;
  std::mt19937_64 bits(411);
  const auto x = drawn_run(tape, bits, 2, 5), w = drawn_run(tape, bits, 5, 5);
  const auto h = linear(x, w), inner = tanh(h), other = exp(x);
  const auto scalar = inner(1, 1) * 2;
  (sum(inner) + scalar).backward();
  REQUIRE(inner.grad(1, 1) == 3);
  REQUIRE(scalar.grad() == 1);
  sum(other).backward();
  REQUIRE(inner.grad(1, 1) == 0);
  REQUIRE(h.grad(0, 0) == 0);
  REQUIRE(scalar.grad() == 0);
  REQUIRE(other.grad(1, 2) == 1);
  tape.zero_grad();
  tape.backward(h.node(1, 2));  // not the last record
  REQUIRE(inner.grad(1, 1) == 0);
  REQUIRE(h.grad(1, 2) == 1);
  REQUIRE(h.grad(1, 1) == 0);
  for (std::size_t k = 0; k < 5; ++k) REQUIRE(x.grad(1, k) == w.data(k, 2));
}

TEST_CASE("elements used by scalar operators count beside their matrices", "[autograd][tape]") {
  Tape<double> tape;
  std::mt19937_64 bits(412);
  const auto a = drawn_run(tape, bits, 2, 3);
  const auto square = a * a;
  const auto picked = square(0, 1) * a(1, 2) + a(0, 1);
  (sum(square) + sum(square + a) + picked).backward();
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t m = 0; m < 3; ++m) {
      double want = 4 * a.data(n, m) + 1;
      if (n == 0 && m == 1) want += 2 * a.data(0, 1) * a.data(1, 2) + 1;
      if (n == 1 && m == 2) want += square.data(0, 1);
      REQUIRE(a.grad(n, m) == Approx(want).epsilon(1e-14));
    }
}

TEST_CASE("a run that three operations use gets the sum of their gradients", "[autograd][tape]") {
  Tape<double> tape;
  std::mt19937_64 bits(413);
  const auto x = drawn_run(tape, bits, 3, 7), w = drawn_run(tape, bits, 7, 7);
  const auto residual = x + linear(rmsnorm(x, 1e-5), w) + x * x;
  const auto g = drawn_run(tape, bits, 3, 7);
  dot(residual, g).backward();
  constexpr double h = 1e-6;
  for (std::size_t m = 0; m < 7; ++m) {
    const auto value = [&](double step) {
      const StepScope scope(tape);
      const auto moved = tape.matrix(3, 7);
      std::copy_n(tape.data_from(x.node(0, 0)), 48, tape.data_from(moved.node(0, 0)));
      *tape.data_from(moved.node(1, m)) += step;
      return dot(moved + linear(rmsnorm(moved, 1e-5), w) + moved * moved, g).data();
    };
    REQUIRE(x.grad(1, m) == Approx((value(h) - value(-h)) / (2 * h)).epsilon(1e-8));
  }
}

TEST_CASE("gather takes scalars from anywhere, one of them twice", "[autograd][tape]") {
  Tape<double> tape;
  std::mt19937_64 bits(414);
  const auto a = drawn_run(tape, bits, 2, 3), doubled = a + a;
  const auto b = tape.leaf(5);
  const auto y = gather<double>(std::vector{b, doubled(1, 0), a(0, 2), doubled(1, 0), b * b});
  REQUIRE(y.data(0, 1) == doubled.data(1, 0));
  sum(y * y).backward();
  REQUIRE(b.grad() == 2 * 5 + 4 * 125);
  REQUIRE(a.grad(1, 0) == Approx(16 * a.data(1, 0)).epsilon(1e-14));
  REQUIRE(a.grad(0, 2) == Approx(2 * a.data(0, 2)).epsilon(1e-14));
  REQUIRE(a.grad(0, 0) == 0);
}

TEST_CASE("a scalar used by a run and afterwards by a scalar operation gets both gradients",
          "[autograd][tape]") {
  Tape<double> tape;
  const auto a = tape.leaf(3), b = a * 5;
  const auto by_run = sum(gather<double>(std::vector{b, b}));
  const auto by_scalar = b * 7;  // the walk back meets this, then the run, then b
  (by_scalar + by_run).backward();
  REQUIRE(b.grad() == 9);
  REQUIRE(a.grad() == 45);
}

TEST_CASE("clear drops what was recorded after keep and nothing else", "[autograd][tape]") {
  Tape<double> tape;
  auto w = tape.leaf(2, "w");
  tape.keep();
  const std::size_t size = tape.size();
  auto y = w * 3;
  y.set_label("y");
  y.backward();
  tape.clear();
  REQUIRE(tape.size() == size);
  REQUIRE(tape.records().empty());
  REQUIRE(w.data() == 2);
  REQUIRE(w.grad() == 3);
  REQUIRE(w.label() == "w");
  REQUIRE((w * 5).label().empty());  // not the old node's
}

TEST_CASE("a handle from before clear is stale in every use", "[autograd][tape]") {
  Tape<double> tape;
  const auto w = tape.leaf(2);
  tape.keep();
  auto y = w * 3;
  const auto run = exp(tape.matrix(2, 3));
  tape.clear();
  const auto again = w * 4;  // where y was
  require_tape_error([&] { y.data(); }, kCleared);
  require_tape_error([&] { y.grad(); }, kCleared);
  require_tape_error([&] { y.op(); }, kCleared);
  require_tape_error([&] { y.label(); }, kCleared);
  require_tape_error([&] { y.children(); }, kCleared);
  require_tape_error([&] { y.expand(); }, kCleared);
  require_tape_error([&] { y.backward(); }, kCleared);
  require_tape_error([&] { w + y; }, kCleared);
  require_tape_error([&] { y += 1; }, kCleared);
  require_tape_error([&] { run.rows(); }, kCleared);
  require_tape_error([&] { run(0, 0); }, kCleared);
  require_tape_error([&] { run.data(1, 1); }, kCleared);
  require_tape_error([&] { run + run; }, kCleared);
  require_tape_error([&] { sum(run); }, kCleared);
  REQUIRE(again.data() == 8);
}

TEST_CASE("a handle from before clear stays stale when what took its place is kept",
          "[autograd][tape]") {
  Tape<double> tape;
  const auto a = tape.leaf(2);
  const auto run = tape.matrix(2, 3);
  tape.keep();
  const auto old = a * a;
  const auto old_run = tanh(run);
  tape.clear();
  const auto sum = a + 3.0;
  const auto first = tape.matrix(2, 3), second = tape.matrix(2, 3);
  const auto outer = tape.keep();
  const auto product = sum * a;
  {
    const StepScope<double> step(tape);
    const auto both = product * sum;
    REQUIRE(both.data() == 50);
    REQUIRE_THROWS_AS(old.data(), TapeError);
    REQUIRE_THROWS_AS(old + a, TapeError);
    REQUIRE_THROWS_AS(old_run.rows(), TapeError);
  }
  for (const auto& good : {a, sum, product}) REQUIRE(good.data() > 1);
  REQUIRE((run.rows() == 2 && first.rows() == 2 && second.cols() == 3));
  REQUIRE_THROWS_AS(old.data(), TapeError);
  tape.clear(outer);
  for (const auto& good : {a, sum}) REQUIRE(good.data() > 1);
  REQUIRE_THROWS_AS(product.data(), TapeError);
  REQUIRE_THROWS_AS(old.data(), TapeError);
}

TEST_CASE("a handle from before the weights moved is stale and says so", "[autograd][tape]") {
  Tape<double> tape;
  const auto w = tape.leaf(2);
  tape.keep();
  const auto y = w * 3;
  const auto run = exp(tape.matrix(2, 3));
  *tape.data_from(w.id()) = 4;
  tape.weights_moved();
  require_tape_error([&] { y.data(); }, kMoved);
  require_tape_error([&] { run.data(0, 0); }, kMoved);
  REQUIRE(w.data() == 4);
  REQUIRE((w * 3).data() == 12);
  tape.clear();
  require_tape_error([&] { y.data(); }, kCleared);
}

TEST_CASE("a step scope drops its step at its end and on a throw and an inner one its own alone",
          "[autograd][tape]") {
  Tape<double> tape;
  const auto w = tape.leaf(2);
  const std::size_t size = tape.size();
  {
    const StepScope outer(tape);
    const auto y = w * 3;
    try {
      const StepScope inner(tape);
      const auto z = y * 5;
      REQUIRE(z.data() == 30);
      throw std::runtime_error("a step that fails");
    } catch (const std::runtime_error&) {
    }
    REQUIRE(y.data() == 6);
    const auto z = y * 7;
    z.backward();
    REQUIRE(w.grad() == 21);
  }
  REQUIRE(tape.size() == size);
  REQUIRE(w.data() == 2);
}

TEST_CASE("misuse of the tape throws and says what was expected", "[autograd][tape]") {
  Tape<double> tape, other;
  std::mt19937_64 bits(415);
  auto a = tape.leaf(1);
  const auto b = other.leaf(2);
  const auto x = drawn_run(tape, bits, 2, 3), y = drawn_run(tape, bits, 3, 3),
             z = drawn_run(other, bits, 2, 3);
  require_tape_error([&] { a + b; }, "expected operands of one tape");
  require_tape_error([&] { x + z; }, "expected operands of one tape");
  require_tape_error([&] { x + y; }, "expected operands of shape (2, 3), found (3, 3)");
  require_tape_error([&] { linear(x, x); }, "expected as many inputs");
  require_tape_error([&] { gather<double>({}); }, "found none");
  require_tape_error([&] { (a * 2).set_data(1); }, "expected a leaf, found the result of mul");
  a.set_data(4);
  REQUIRE((a * 2).data() == 8);
}

TEST_CASE("a weight set by hand is the weight that gradients are made with", "[autograd][tape]") {
  Tape<double> tape;
  std::mt19937_64 bits(416);
  const auto x = drawn_run(tape, bits, 1, 3), w = drawn_run(tape, bits, 3, 2);
  tape.keep();
  sum(linear(x, w)).backward();
  w(1, 0).set_data(9);
  tape.zero_grad();
  sum(linear(x, w)).backward();
  REQUIRE(x.grad(0, 1) == 9 + w.data(1, 1));
}

TEST_CASE("gradients of parameters that no step reached are 0", "[autograd][tape]") {
  Tape<double> tape;
  std::mt19937_64 bits(417);
  const auto used = drawn_run(tape, bits, 1, 3), unused = drawn_run(tape, bits, 2, 3);
  {
    const StepScope scope(tape);
    sum(unused * unused).backward();
  }
  tape.zero_grad();
  sum(used).backward();
  REQUIRE(unused.grad(1, 2) == 0);
  REQUIRE(*tape.grad_from(unused.node(1, 2)) == 0);
  REQUIRE(used.grad(0, 2) == 1);
}

TEST_CASE("memory does not grow over 10000 steps", "[autograd][tape]") {
  Tape<float> tape;
  std::mt19937_64 bits(418);
  const auto w = drawn_run(tape, bits, 9, 9), x = drawn_run(tape, bits, 4, 9);
  std::size_t after_first = 0;
  for (int step = 0; step < 10000; ++step) {
    const StepScope scope(tape);
    auto y = linear(x, w);
    auto loss = sum(y * y) + y(0, 0) * 2;
    loss.set_label("loss");
    loss.backward();
    if (step == 0) after_first = tape.memory();
  }
  REQUIRE(tape.memory() == after_first);
}

}  // namespace glassbox
