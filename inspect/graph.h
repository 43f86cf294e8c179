// The graph as data to draw: a scalar with what it was made from and what was made from it, a whole
// small tape, or a sentence's computation with every matrix as one row.
#pragma once

#include <string>
#include <vector>

#include "inspect/lookup.h"

namespace glassbox {

struct ScalarGraph {
  struct Node {
    std::string name, op;  // op is "leaf" for what nothing computed
    double data, grad;
    std::size_t left_out;  // neighbours that were not drawn
  };
  struct Edge {
    std::size_t child, parent;  // nodes
    double local;               // d parent / d child
  };
  std::vector<Node> nodes;  // the first is the one asked for
  std::vector<Edge> edges;
};

struct GraphLimits {
  std::size_t depth = 1;  // steps down to children, and up to parents
  std::size_t width = 8;  // neighbours of a node: those through which the most gradient flows
  bool parents = true;
};
ScalarGraph graph_around(const Value<double>& value, const GraphLimits& limits);

// A leaf, or a single operation and its result.
struct TapeRow {
  NodeId node;
  std::string name, op;
  std::vector<std::string> operands;
  double data, grad;
};
// All of a tape of single scalars, in order.
std::vector<TapeRow> tape_rows(Tape<double>& tape);
// The single operations behind one scalar of a matrix, in the order in which they are computed.
std::vector<TapeRow> plain_operations(const Value<double>& value);

// A matrix of scalars: a parameter or what one record made of it.
struct MatrixRow {
  std::string name, op;
  std::size_t rows, cols;
  std::size_t plain_nodes;  // of micrograd's graph: additions, products, ...; 0 for leaves
  std::vector<std::size_t> operands;  // rows of this table
};
std::vector<MatrixRow> matrix_rows(Inspection& inspection);

}  // namespace glassbox
