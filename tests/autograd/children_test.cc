// What a scalar inside a run says of the scalars that it was computed from.
#include <map>

#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/tape_matrices.h"

namespace glassbox {
namespace {

using Locals = std::map<NodeId, double>;

Locals locals(const Value<double>& y) {
  Locals found;
  for (const auto& child : y.children())
    REQUIRE(found.emplace(child.value.id(), child.local_grad).second);
  return found;
}

// Of a run whose operands are leaves: children are exactly what `y` depends on, and each local
// derivative is the gradient that backward() gives.
void require_children_of_leaf_graph(Value<double> y, std::size_t count) {
  Tape<double>& tape = y.tape();
  const Locals found = locals(y);
  REQUIRE(found.size() == count);
  tape.zero_grad();
  y.backward();
  for (const MatrixInfo& run : tape.matrices())
    if (run.op == Op::leaf)
      for (NodeId id = run.out; id < run.out + run.rows * run.pitch; ++id) {
        const auto child = found.find(id);
        REQUIRE(tape.grad(id) == Approx(child == found.end() ? 0 : child->second).epsilon(1e-14));
      }
}

}  // namespace

TEST_CASE("a linear output's children are its inputs and its weights", "[autograd][children]") {
  Tape<double> tape;
  std::mt19937_64 bits(401);
  const auto x = drawn_run(tape, bits, 3, 5), w = drawn_run(tape, bits, 5, 4), y = linear(x, w);
  Locals want;
  for (std::size_t k = 0; k < 5; ++k) {
    want[x.node(1, k)] = w.data(k, 2);
    want[w.node(k, 2)] = x.data(1, k);
  }
  REQUIRE(locals(y(1, 2)) == want);
}

TEST_CASE("an elementwise run's scalar has the children of the scalar operation",
          "[autograd][children]") {
  Tape<double> tape;
  std::mt19937_64 bits(402);
  const auto a = drawn_run(tape, bits, 2, 3), b = drawn_run(tape, bits, 2, 3), y = a * b;
  REQUIRE(locals(y(1, 2)) == Locals{{a.node(1, 2), b.data(1, 2)}, {b.node(1, 2), a.data(1, 2)}});
  REQUIRE(std::string(y(1, 2).op()) == "mul");
  const auto square = a * a;
  REQUIRE(locals(square(0, 1)) == Locals{{a.node(0, 1), 2 * a.data(0, 1)}});
}

TEST_CASE("an rmsnorm output depends on its whole row", "[autograd][children]") {
  Tape<double> tape;
  std::mt19937_64 bits(403);
  const auto y = rmsnorm(drawn_run(tape, bits, 3, 7), 1e-5);
  require_children_of_leaf_graph(y(1, 4), 7);
}

TEST_CASE("an attention output depends on its query and on no later position or other head",
          "[autograd][children]") {
  Tape<double> tape;
  std::mt19937_64 bits(404);
  const std::uint32_t starts[] = {0, 2, 6};
  const auto y = causal_self_attention(drawn_run(tape, bits, 6, 18), starts, 2);
  // Position 2 of the second sentence: 3 of the query, 3 keys of 3 each, one value channel of 3
  // positions.
  require_children_of_leaf_graph(y(4, 5), 3 + 3 * 3 + 3);
}

TEST_CASE("a loss depends on every logit of its row by probability less target",
          "[autograd][children]") {
  Tape<double> tape;
  std::mt19937_64 bits(405);
  const auto logits = drawn_run(tape, bits, 2, 5);
  const std::uint32_t targets[] = {3, 0};
  require_children_of_leaf_graph(cross_entropy(logits, targets)(0, 0), 5);
  double total = 0;
  for (std::size_t i = 0; i < 5; ++i) total += std::exp(logits.data(0, i));
  const Locals found = locals(cross_entropy(logits, targets)(0, 0));
  for (std::size_t i = 0; i < 5; ++i)
    REQUIRE(found.at(logits.node(0, i)) ==
            Approx(std::exp(logits.data(0, i)) / total - (i == 3)).epsilon(1e-14));
}

TEST_CASE("a child of a matrix's scalar can be used further and gets its gradient",
          "[autograd][children]") {
  Tape<double> tape;
  std::mt19937_64 bits(406);
  const auto w = drawn_run(tape, bits, 5, 4), y = linear(drawn_run(tape, bits, 3, 5), w);
  for (const auto& child : y(0, 0).children()) {
    tape.zero_grad();
    (child.value * 7).backward();
    REQUIRE(child.value.grad() == 7);
  }
}

}  // namespace glassbox
