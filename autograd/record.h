// What the tape keeps of an operation.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/op.h"

namespace glassbox {

using kernels::Op;
using NodeId = std::uint32_t;
using MatrixId = std::uint32_t;

// One operation: over one scalar, or over a run of scalars at once. The tape holds data[id] and
// grad[id] for every scalar. No partial derivative is stored: backward() and children() compute it.
// Invariants:
// (1) A record's operands lie below its outputs, so record order is a topological order and
// backward()
//     is one loop over the records, last to first.
// (2) Records and runs are sorted by `out` and do not overlap: binary search finds a node's maker;
// none
//     means leaf.
// (3) Nodes go only by clear(), which drops the step, keeps what was there before it and makes old
// handles
//     stale.
struct Record {
  Op op;
  bool is_matrix;
  std::uint16_t unused;  // set with the others, so that the three are one store
  NodeId out;            // element (n, m) of a run is node out + n * pitch + m
  NodeId a;              // the operands of a scalar operation; a unary one has b = a
  NodeId b;              // of a run: its MatrixId
};
static_assert(sizeof(Record) == 16);

// How the scalars of a run are called: format(context, tag, row, col). Nothing is stored or built
// until somebody asks.
struct MatrixLabel {
  std::string (*format)(const void* context, std::uint32_t tag, std::size_t row,
                        std::size_t col) = nullptr;
  const void* context = nullptr;
  std::uint32_t tag = 0;
};

inline constexpr MatrixId kNoMatrix = 0xFFFFFFFF;

// A contiguous run of scalars: the outputs of one record, or leaves (op == leaf) made together.
struct MatrixInfo {
  Op op = Op::leaf;
  bool has_elements =
      false;  // single scalars of it are operands elsewhere: its gradients start at 0
  bool gradient_ready = false;  // its gradients hold something; else they count as 0
  bool may_rest = false;  // an embedding has left moments of its scalars at rest, see kernels::Rest
  bool gradient_consumed = false;  // an update took its gradients without keeping them
  std::uint32_t readers = 0;       // of leaves: how many records read it
  std::uint32_t rows = 0, cols = 0, pitch = 0;
  NodeId out = 0;
  std::array<MatrixId, kernels::kMaxOperands> operands = {kNoMatrix, kNoMatrix, kNoMatrix};
  std::uint32_t ids_begin = 0, ids_count = 0;
  NodeId saved = 0;
  double number = 0;
  MatrixLabel label;

  bool covers(NodeId id) const { return id >= out && id - out < rows * pitch; }
};

}  // namespace glassbox
