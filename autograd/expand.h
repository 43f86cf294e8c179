// The plain graph behind the matrices: micrograd's own, one node an addition or a product, in a
// tape of its own. Its values and gradients are those of the matrices, bit for bit. One exception:
// where a matrix is multiplied by itself, or one table embeds both token and position, a scalar's
// two sums of contributions come one after the other in the record and interleaved here, so the
// gradient's last bits may differ.
//
// A product and the sum that takes it up are rounded together: the sum's op is "fused_add", the
// product shown is "fused_mul". Both have micrograd's local derivatives.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "autograd/value.h"

namespace glassbox {

template <class T>
class Expansion {
 public:
  // Everything that is on a tape. backward() from the image of a root then gives every node's
  // gradient.
  static Expansion of_tape(Tape<T>& tape);
  // What makes one node: for a scalar inside a matrix its row's whole formula, or of a product its
  // own, with the operands as leaves. The gradients of its outputs are handed down, so that inner
  // nodes have theirs.
  static Expansion of_node(Tape<T>& tape, NodeId node);

  Tape<T>& tape() const { return *tape_; }
  // The plain node of an original one. Throws TapeError if it is no part of the expansion.
  Value<T> at(NodeId original) const;
  bool contains(NodeId original) const;
  // For of_node: that node's image.
  Value<T> root() const { return at(root_); }
  // The original node that a leaf of the expansion stands for, or kNone.
  static constexpr NodeId kNone = 0xFFFFFFFF;
  NodeId original(NodeId leaf) const;

  // An inner node of attention or of a norm by its name: what = "scores", "weights" (head,
  // position), "scale". kNone if there is none.
  struct InnerNode {
    NodeId row_output;  // the first output of the row it belongs to
    std::string what;
    std::size_t i, j;
    NodeId node;
  };
  const std::vector<InnerNode>& inner_nodes() const { return inner_nodes_; }

 private:
  template <class U>
  friend class TapeEmitter;
  Expansion() : tape_(std::make_unique<Tape<T>>()) {}

  std::unique_ptr<Tape<T>> tape_;
  std::unordered_map<NodeId, NodeId> image_;  // of original nodes
  std::vector<NodeId> original_;              // of each node of tape_, kNone if it is new
  std::vector<InnerNode> inner_nodes_;
  NodeId root_ = kNone;
};

}  // namespace glassbox
