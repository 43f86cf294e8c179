#include "inspect/graph.h"

#include "inspect/expression.h"
#include "tests/catch_compat.hpp"
#include "tests/inspect/fixture.h"

namespace glassbox {

TEST_CASE("graph_around: a formula's graph has every node once and every local derivative",
          "[inspect][graph]") {
  Tape<double> tape;
  const auto y = evaluate_expression(tape, "a*b + a", {{"a", 2}, {"b", -3}});
  y.backward();
  const ScalarGraph graph = graph_around(y, {.depth = 9});
  REQUIRE(graph.nodes.size() == 4);
  REQUIRE(graph.edges.size() == 4);
  double local_of_b = 0;
  for (const auto& edge : graph.edges)
    if (graph.nodes[edge.child].name == "b") local_of_b = edge.local;
  REQUIRE(local_of_b == 2);
}

TEST_CASE("graph_around: the width keeps the strongest neighbours and counts the rest",
          "[inspect][graph]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto at = find_scalar(inspection, "loss@2").value;
  const ScalarGraph graph = graph_around(at, {.depth = 1, .width = 3, .parents = false});
  REQUIRE(graph.nodes.size() == 4);
  REQUIRE(graph.nodes[0].left_out == inspection.config().vocab_size - 3);
  bool target = false;  // its gradient is the largest of all logits'
  for (const auto& node : graph.nodes)
    target = target || node.name == "logits@2[" + inspection.target(2) + "]";
  REQUIRE(target);
}

TEST_CASE("run_rows: the operands of every run stand above it", "[inspect][graph]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto rows = matrix_rows(inspection);
  REQUIRE(rows.back().name == "loss");
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const std::size_t operand : rows[i].operands) REQUIRE(operand < i);
}

TEST_CASE("run_rows: a linear layer is two plain nodes a multiply-add", "[inspect][graph]") {
  Inspection inspection(inspected_model(), kSentence);
  for (const MatrixRow& row : matrix_rows(inspection))
    if (row.name == "layers.0.mlp.hidden" && row.op == "matmul")
      REQUIRE(row.plain_nodes == 2 * inspection.positions() * 8 * 32);
}

TEST_CASE("tape_rows: a formula's tape as it was recorded", "[inspect][graph]") {
  Tape<double> tape;
  evaluate_expression(tape, "a*b + 1", {{"a", 2}, {"b", -3}}).backward();
  const auto rows = tape_rows(tape);
  REQUIRE(rows.size() == 5);
  REQUIRE(rows[2].op == "mul");
  REQUIRE(rows[2].operands == std::vector<std::string>{"a", "b"});
  REQUIRE(rows[0].grad == -3);
}

}  // namespace glassbox
