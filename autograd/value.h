// One scalar of a tape: its data, gradient, operation, children and name. A Value is a handle; the
// tape owns the scalar, so no expression points at a temporary.
#pragma once

#include <string>
#include <vector>

#include "autograd/tape.h"

namespace glassbox {

template <class T>
struct Child;
template <class T>
class Expansion;

template <class T>
class Value {
 public:
  // A handle of any node. Throws TapeError if the tape has none of that number, or if leaves that
  // it was computed from have changed since.
  Value(Tape<T>& tape, NodeId id) : Value(tape, id, Kind::any) {
    tape.check_id(id);
    tape.check_up_to_date(id);
  }

  // Each of these throws TapeError if the handle is stale: its step was cleared, or the weights it
  // was computed from have moved.
  T data() const { return checked().data(id_); }
  // The adjoint: d root / d this, of the last backward(); a leaf's adds up until Tape::zero_grad().
  T grad() const { return checked().grad(id_); }
  // The operation's name, "leaf" if there is none.
  const char* op() const;
  std::string label() const { return checked().label(id_); }
  void set_label(std::string label) { checked().set_label(id_, std::move(label)); }
  // Of a leaf only.
  void set_data(T value) { checked().set_data(id_, value); }

  // The scalars it was computed from, each with d this / d child. A scalar inside a matrix (one of
  // a linear layer's outputs, say) names every scalar that its own formula reads, products and sums
  // left out.
  std::vector<Child<T>> children() const;
  // The plain graph of single operations behind it, in a tape of its own: products and partial sums
  // of a matrix become nodes. See autograd/expand.h.
  Expansion<T> expand() const;

  void backward() const { checked().backward(id_); }

  // Throws TapeError if stale.
  void check() const { tape_->check(id_, generation_); }
  Tape<T>& tape() const { return *tape_; }
  NodeId id() const { return id_; }

 private:
  friend class Tape<T>;
  // What is known of the node when the handle is made, so that plain scalar code need not ask.
  enum class Kind : std::uint8_t {
    any,
    leaf,     // a single one, in no matrix
    computed  // a single result
  };
  Value(Tape<T>& tape, NodeId id, Kind kind)
      : tape_(&tape), id_(id), generation_(tape.lifetimes_.generation()), kind_(kind) {}
  // Of a node that has just been computed. It keeps its value at hand: a chain of operations would
  // else wait for each result to come back from memory.
  Value(Tape<T>& tape, NodeId id, T computed) : Value(tape, id, Kind::computed) {
    computed_ = computed;
  }
  // Whether it is clear at a glance that the handle is good and where its data is.
  bool is_at_hand() const {
    return kind_ != Kind::any && tape_->lifetimes_.node_is_good(id_, generation_);
  }
  // Its data as the operand of an operation. REQUIRES: is_at_hand().
  T operand() const {
    return kind_ == Kind::computed ? computed_ : tape_->graph_.arena.data()[id_];
  }
  Tape<T>& checked() const {
    tape_->check(id_, generation_);
    return *tape_;
  }
  Tape<T>* tape_;
  NodeId id_;
  std::uint32_t generation_;
  T computed_{};
  Kind kind_;
};

template <class T>
struct Child {
  Value<T> value;
  T local_grad;
};

}  // namespace glassbox

#include "autograd/expand.h"
#include "autograd/ops.h"
