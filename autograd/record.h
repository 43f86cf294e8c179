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
inline constexpr NodeId kNoNode = 0xFFFFFFFF;
inline constexpr MatrixId kNoMatrix = 0xFFFFFFFF;

// One operation: over one scalar, or over a matrix at once. The tape holds data[id] and grad[id]
// for every scalar. No partial derivative is stored: backward() and children() compute it.
// Invariants:
// (1) A record's operands lie below its outputs, so the order of the records is a topological
//     order, and backward() is one loop over them, last to first.
// (2) Records and matrices are sorted by `out` and do not overlap: a binary search finds the record
//     that made a node; a node that none made is a leaf.
// (3) Nodes go only by clear(), which drops the step, keeps what was there before it and makes
//     handles to the step stale.
struct ScalarRecord {
  Op op;
  bool is_matrix;
  std::uint16_t unused;  // set with the others, so that the three are one store
  NodeId out;            // element (n, m) of a matrix is node out + n * pitch + m
  NodeId a;              // the operands of a scalar operation; a unary one has b = a
  NodeId b;              // of a matrix: its MatrixId
};
static_assert(sizeof(ScalarRecord) == 16);

// How the scalars of a matrix are called: format(context, tag, row, col). No text is stored or
// built until somebody asks.
struct MatrixLabel {
  std::string (*format)(const void* context, std::uint64_t tag, std::size_t row,
                        std::size_t col) = nullptr;
  const void* context = nullptr;
  std::uint64_t tag = 0;
};

// A matrix of scalars: the outputs of one record, or leaves (op == leaf) made together.
struct MatrixInfo {
  Op op = Op::leaf;
  bool has_elements = false;       // single scalars of it are operands: its gradients start at 0
  bool gradient_ready = false;     // its gradients hold something; else they count as 0
  bool is_used = false;            // an operation on matrices has passed gradients to it
  bool gradient_consumed = false;  // an update used its gradients without storing them
  std::uint32_t readers = 0;       // how many records read it whole
  std::uint32_t rows = 0, cols = 0, pitch = 0;
  NodeId out = 0;
  std::array<MatrixId, kernels::kMaxOperands> operands = {kNoMatrix, kNoMatrix, kNoMatrix};
  std::uint32_t ids_begin = 0, ids_count = 0;
  NodeId saved = 0;
  kernels::Settings settings;
  MatrixLabel label;

  bool covers(NodeId id) const { return id >= out && id - out < rows * pitch; }
  std::size_t size() const { return std::size_t{rows} * pitch; }
  // f(k, operand) for each of its operands.
  template <class F>
  void for_each_operand(F f) const {
    for (std::size_t k = 0; k < operands.size() && operands[k] != kNoMatrix; ++k) f(k, operands[k]);
  }
};

}  // namespace glassbox
