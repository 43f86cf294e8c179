// The computation graph as a tape holds it: every scalar, the records that made them, and their
// names. The tape appends to it and drops from its end, the walk back fills in gradients; everybody
// else reads.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "autograd/arena.h"
#include "autograd/executor.h"
#include "autograd/lifetimes.h"

namespace glassbox {

// Records made in one SentenceScope, and how threads share their rows.
struct Section {
  std::size_t begin, end;
  std::vector<Chunk> chunks;
};

// In the tape of an expansion: records of single scalars that are the inside of one operation on
// matrices. They are walked back as that operation is.
struct Group {
  std::size_t begin, end;
  bool is_elementwise;
  std::vector<std::size_t> operands;  // the groups that made what it reads
};

template <class T>
struct Graph {
  Arena<T> arena;
  RecordList records;
  std::vector<MatrixInfo> matrices;
  std::vector<std::uint32_t> ids;             // of all matrices, see MatrixInfo::ids_begin
  std::map<NodeId, std::string> node_labels;  // of single scalars
  std::vector<Section> sections;
  std::vector<Group> groups;
  const kernels::Table<T>& table = kernels::table<T>();

  // The record that made a node, or nullptr for a leaf.
  const ScalarRecord* maker(NodeId id) const;
  // The matrix a node lies in, or kNoMatrix.
  MatrixId matrix_of(NodeId id) const;
  std::string label(NodeId id) const;
  // A matrix's arrays as a kernel sees them.
  kernels::Args<T> args(const MatrixInfo& matrix) const;

  // Whether a matrix can be computed in a section's chunks, from operands that are computed in them
  // or before.
  bool fits(const Section& section, const MatrixInfo& matrix) const;

  // For each node below `size`: if it was computed and lies below this, it was so from leaves that
  // have changed since. A matrix is computed as a whole, from whole matrices.
  std::vector<std::size_t> out_of_date(std::span<const Lifetimes::Change> changes,
                                       std::size_t size) const;

  // Gradients of leaf matrices that nothing has written to become 0 in memory, too, from the matrix
  // that holds node `id` on.
  void clear_unwritten_gradients(NodeId id);

  struct Size {
    std::size_t nodes = 0, records = 0, matrices = 0, ids = 0;
  };
  Size size() const { return {arena.size(), records.size(), matrices.size(), ids.size()}; }
  // Drops what was recorded beyond that size, and with it what it did to the matrices it read.
  void truncate(const Size& size);
  // Until the next record is dropped, single scalars of this matrix are operands.
  void use_elements(MatrixId id);

 private:
  struct ElementUse {
    std::size_t record;
    MatrixId matrix;
  };
  std::vector<ElementUse> element_uses_;  // one for each matrix that has_elements
};

extern template struct Graph<float>;
extern template struct Graph<double>;

}  // namespace glassbox
