#include "inspect/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace glassbox {

namespace {

// The `width` neighbours that matter the most to the gradient, in their own order.
std::size_t keep_strongest(std::vector<GraphNeighbour>& neighbours, std::size_t width) {
  if (neighbours.size() <= width) return 0;
  std::vector<std::size_t> order(neighbours.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    return std::abs(neighbours[i].local * neighbours[i].grad);
  });
  order.resize(width);
  std::sort(order.begin(), order.end());
  std::vector<GraphNeighbour> kept;
  for (const std::size_t i : order) kept.push_back(neighbours[i]);
  const std::size_t left_out = neighbours.size() - width;
  neighbours = std::move(kept);
  return left_out;
}

class GraphBuilder {
 public:
  explicit GraphBuilder(const GraphLimits& limits) : limits_(limits) {}

  ScalarGraph around(const Value<double>& value) {
    node(value);
    for (const bool up : {false, true}) {
      if (up && !limits_.parents) break;
      std::vector<Value<double>> level = {value};
      for (std::size_t depth = 0; depth < limits_.depth && !level.empty(); ++depth) {
        std::vector<Value<double>> next;
        for (const auto& at : level) step(at, up, next);
        level = std::move(next);
      }
    }
    return std::move(graph_);
  }

 private:
  std::size_t node(const Value<double>& value) {
    const auto [at, added] = places_.emplace(value.id(), graph_.nodes.size());
    if (added)
      graph_.nodes.push_back({scalar_name(value), value.op(), value.data(), value.grad(), 0});
    return at->second;
  }
  void step(const Value<double>& at, bool up, std::vector<Value<double>>& next) {
    auto neighbours = up ? parents_of(at) : children_of(at);
    const std::size_t here = node(at);
    graph_.nodes[here].left_out += keep_strongest(neighbours, limits_.width);
    for (const auto& n : neighbours) {
      const bool known = places_.contains(n.value.id());
      const std::size_t there = node(n.value);
      graph_.edges.push_back({up ? here : there, up ? there : here, n.local});
      if (!known) next.push_back(n.value);
    }
  }

  GraphLimits limits_;
  ScalarGraph graph_;
  std::map<NodeId, std::size_t> places_;
};

std::string matrix_name(Tape<double>& tape, const MatrixInfo& matrix) {
  const auto name = parse_scalar_name(tape.label(matrix.out));
  if (!name)
    return matrix.op == kernels::Op::leaf ? "weights of the positions"
                                          : tape.table()[matrix.op].name;
  const std::string::size_type dot = name->name.rfind('.');
  if (name->name.ends_with(".attention.query"))
    return name->name.substr(0, dot) + ".query, key, value";
  if (name->name.ends_with(".attention.q")) return name->name.substr(0, dot) + ".q, k, v";
  return name->name;
}

TapeRow tape_row(const Value<double>& value) {
  TapeRow row{value.id(), value.label(), value.op(), {}, value.data(), value.grad()};
  for (const auto& child : value.children()) row.operands.push_back(scalar_name(child.value));
  return row;
}

}  // namespace

ScalarGraph graph_around(const Value<double>& value, const GraphLimits& limits) {
  return GraphBuilder(limits).around(value);
}

std::vector<TapeRow> tape_rows(Tape<double>& tape) {
  std::vector<TapeRow> rows;
  for (NodeId id = 0; id < tape.size(); ++id) rows.push_back(tape_row(Value<double>(tape, id)));
  return rows;
}

std::vector<TapeRow> plain_operations(const Value<double>& value) {
  const auto row = expand_named(value);
  Tape<double>& plain = row->tape();
  std::vector<bool> needed(plain.size());
  needed[row->root().id()] = true;
  for (auto record = plain.records().rbegin(); record != plain.records().rend(); ++record)
    if (needed[record->out]) needed[record->a] = needed[record->b] = true;
  std::vector<TapeRow> rows;
  for (const ScalarRecord& record : plain.records()) {
    if (!needed[record.out]) continue;
    const Value<double> result(plain, record.out);
    rows.push_back(tape_row(result));
    rows.back().name = scalar_name(result);
  }
  return rows;
}

std::vector<MatrixRow> matrix_rows(Inspection& inspection) {
  Tape<double>& tape = inspection.tape();
  std::vector<MatrixRow> rows;
  for (const MatrixInfo& matrix : tape.matrices()) {
    MatrixRow& row = rows.emplace_back(MatrixRow{
        matrix_name(tape, matrix), tape.table()[matrix.op].name, matrix.rows, matrix.cols, 0, {}});
    for (const MatrixId operand : matrix.operands)
      if (operand != kNoMatrix) row.operands.push_back(operand);
    if (matrix.op == kernels::Op::leaf) continue;
    // Of a product each column takes as many as the first.
    const bool is_product = tape.table()[matrix.op].partition == kernels::Partition::product;
    for (std::size_t n = 0; n < matrix.rows; ++n)
      row.plain_nodes +=
          Expansion<double>::of_node(tape, static_cast<NodeId>(matrix.out + n * matrix.pitch))
              .tape()
              .records()
              .size() *
          (is_product ? matrix.cols : 1);
  }
  return rows;
}

}  // namespace glassbox
