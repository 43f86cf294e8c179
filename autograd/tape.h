// The tape: every scalar of a computation, in the order in which it was made, and how to walk it
// back.
//
//   Tape<double> tape;
//   auto a = tape.leaf(2, "a"), b = tape.leaf(-3, "b");
//   auto y = tanh(a * b);
//   y.backward();          // a.grad(), b.grad()
//
// Records are of single scalars (what a user's operators make) or of matrices of scalars (what
// layers make: one record for a whole linear layer). Either way every scalar has its own data and
// gradient.
//
// Gradients. backward(root) sets d root / d x for every x that root depends on. A leaf's gradient
// adds up over calls until zero_grad(); every other node's is fresh in each call. Contributions are
// added in the reverse order of recording. A scalar whose gradient is 0 passes nothing on, whatever
// its local derivatives, and so does an element that an elementwise operation made: what the root
// does not depend on stays free of NaN. Any other operation on matrices (a product, attention)
// passes on as a whole as soon as the root depends on one of its outputs, and inside it 0 times
// infinity is NaN, as IEEE has it. The expansion of a tape follows the same rule.
//
// Memory. Two arrays, data and gradients, indexed by node; they double when full, see reserve().
// clear() drops a step's nodes by moving one mark, and their memory is used again. A record takes
// 16 bytes besides data and grad.
//
// A tape belongs to one thread.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "autograd/backward.h"
#include "autograd/lifetimes.h"
#include "kernels/scalar.h"

namespace glassbox {

template <class T>
class Value;
template <class T>
class Matrix;
template <class T>
class Expansion;

template <class T>
class Tape {
 public:
  using Seed = glassbox::Seed<T>;

  Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // A scalar that nothing computed. A label is for people: "a".
  Value<T> leaf(T data) { return {*this, next_scalar(data), Value<T>::Kind::leaf}; }
  Value<T> leaf(T data, std::string label);
  // rows x cols leaves, 0 at first; in memory each row is padded to a multiple of 16.
  Matrix<T> matrix(std::size_t rows, std::size_t cols, MatrixLabel label = {});

  // One operation on one or two scalars of this tape. Throws TapeError if one is stale.
  template <Op op>
  Value<T> record(const Value<T>& a, const Value<T>& b) {
    if (!a.is_at_hand() || !b.is_at_hand()) [[unlikely]]
      return record_old(op, a.id_, a.generation_, b.id_, b.generation_);
    return record(op, a.id_, b.id_,
                  kernels::forward_scalar<op>(forward1_, a.operand(), b.operand()));
  }
  // The same by nodes. Throws TapeError if there are no such nodes or if they are out of date.
  Value<T> record(Op op, NodeId a, NodeId b);
  // One operation on matrices. `ids` and `settings` mean what kernels/ says of the operation.
  // Throws TapeError if an operand is stale or of another tape, and if operands, shape, ids or
  // settings do not fit the operation; then nothing is recorded.
  Matrix<T> record(Op op, std::initializer_list<Matrix<T>> operands, std::size_t rows,
                   std::size_t cols, std::span<const std::uint32_t> ids = {},
                   const kernels::Settings& settings = {});

  // From one node or several, each with its own gradient to begin with. A hook is asked about
  // leaves, see autograd/backward.h. Throws TapeError for a node that is not on the tape or that
  // was computed from leaves that have changed since.
  void backward(NodeId root) { backward(std::array{Seed{root, T(1)}}); }
  void backward(std::span<const Seed> seeds, LeafHook<T>* hook = nullptr);
  // Every gradient becomes 0.
  void zero_grad() { backward_.zero_grad(); }

  // What is on the tape now stays: clear() goes back to here.
  struct Mark {
    typename Graph<T>::Size size;
    std::uint32_t generation = 0;
    const Tape* tape = nullptr;
  };
  Mark keep();
  // Drops all that was recorded since keep(). Handles to it are stale.
  void clear() { drop(kept_); }
  // The same from an earlier keep() on, which becomes the last one again. Throws TapeError if the
  // mark is another tape's, or was dropped itself.
  void clear(const Mark& mark);
  bool holds(const Mark& mark) const;

  // Leaves from node `begin` up to `end` have been changed through data_from(): what was computed
  // from them is no longer what a forward pass would give, so handles to it become stale. A matrix
  // is computed as a whole, from whole matrices. set_data() says so by itself.
  void weights_moved(std::size_t begin = 0, std::size_t end = kNoNode);

  // The arrays from node `id` on, for an optimiser or a loader of weights. A writer of data calls
  // weights_moved() afterwards. Valid until something is recorded.
  T* data_from(NodeId id) { return computed_data() + id; }
  const T* data_from(NodeId id) const { return computed_data() + id; }
  // Gradients of leaf matrices that nothing has written to are set to 0 first.
  T* grad_from(NodeId id);

  // Room for `more` scalars, made at once and not by doubling: for a step whose size is known.
  // Throws TapeError if nodes cannot be numbered so far.
  void reserve(std::size_t more) {
    graph_.arena.reserve_exactly(more);
    room_ = 0;
  }

  // Lets matrices be computed by several threads, the same bits for any number. Null: by the caller
  // alone. They must outlive the tape or be taken back.
  void set_threads(kernels::Threads* threads) { executor_.set_threads(threads); }

  // What is on it.
  std::size_t size() const { return graph_.arena.size(); }  // nodes, pads included
  std::size_t kept_size() const { return kept_.size.nodes; }
  std::size_t memory() const;  // bytes held
  std::span<const ScalarRecord> records() const { return graph_.records; }
  const std::vector<MatrixInfo>& matrices() const { return graph_.matrices; }
  const kernels::Table<T>& table() const { return graph_.table; }
  // Of a node by its number. These throw TapeError if there is none.
  T data(NodeId id) const {
    check_id(id);
    return computed_data()[id];
  }
  T grad(NodeId id) const;
  // Throws TapeError unless the node is a leaf.
  void set_data(NodeId id, T value);
  std::string label(NodeId id) const { return graph_.label(id); }
  void set_label(NodeId id, std::string label) {
    check_id(id);
    graph_.node_labels[id] = std::move(label);
  }
  // The record that made a node, or nullptr for a leaf; the matrix it lies in, or kNoMatrix.
  const ScalarRecord* maker(NodeId id) const { return graph_.maker(id); }
  MatrixId matrix_of(NodeId id) const { return graph_.matrix_of(id); }
  kernels::Args<T> args(const MatrixInfo& matrix) { return graph_.args(matrix); }

 private:
  friend class Value<T>;
  friend class Matrix<T>;
  friend class Expansion<T>;
  template <class U>
  friend class TapeEmitter;
  template <class U>
  friend class SentenceScope;

  void check_id(std::size_t id) const {
    if (id >= size()) [[unlikely]]
      throw_no_node(id);
  }
  void check_matrix_id(std::size_t id) const {
    if (id >= matrices().size()) [[unlikely]]
      throw_no_node(id);
  }
  [[noreturn]] void throw_no_node(std::size_t id) const;
  // The node of a matrix's element. Throws TapeError if it has no such element.
  NodeId element(MatrixId id, std::size_t row, std::size_t col) const;
  // Throw TapeError if a handle of that generation is stale.
  void check(NodeId id, std::uint32_t generation) const {
    if (!lifetimes_.node_is_good(id, generation)) [[unlikely]]
      check_old_node(id, generation);
  }
  void check_matrix(MatrixId id, std::uint32_t generation) const {
    if (!lifetimes_.matrix_is_good(id, generation)) [[unlikely]]
      check_old_matrix(id, generation);
  }
  void check_up_to_date(NodeId id) const;
  void check_old_node(NodeId id, std::uint32_t generation) const;
  void check_old_matrix(MatrixId id, std::uint32_t generation) const;
  // The data of a scalar that is to be an operand, wherever it lies.
  T operand(NodeId id);
  // The same of handles that may be stale, and of elements of matrices. One call out of line, which
  // takes no data: what lives on across a call that may happen would be stored and loaded each
  // time.
  Value<T> record_old(Op op, NodeId a, std::uint32_t generation_a, NodeId b,
                      std::uint32_t generation_b);
  // An operation on scalars whose value is known.
  Value<T> record(Op op, NodeId a, NodeId b, T value) {
    const NodeId out = next_scalar(value);
    graph_.records.push({op, false, 0, out, a, b});
    return Value<T>(*this, out, value);
  }
  void place(MatrixInfo& matrix, std::size_t rows, std::size_t cols,
             std::span<const std::uint32_t> ids);

  // A scalar's place, with room for its record. The value goes through make_room() and back so that
  // a chain keeps it in a register.
  NodeId next_scalar(T& value) {
    if (graph_.arena.size() >= room_) [[unlikely]]
      value = make_room(value);
    return graph_.arena.push(value);
  }
  T make_room(T value);
  void drop(const Mark& mark);

  // See SentenceScope. True if matrices wait from here on, for threads to take whole sentences.
  bool begin_section(std::span<const std::uint32_t> starts);
  void end_section();
  void compute_waiting() const;
  T* computed_data() const {
    if (waiting_ != 0) [[unlikely]]
      compute_waiting();
    return graph_.arena.data();
  }

  // The table's length-1 paths once more, side by side: plain scalar code looks one up for every
  // node.
  std::array<T (*)(T, T), kernels::kOpCount> forward1_;
  std::size_t room_ = 0;  // while size() is below, there is room for a scalar and for its record
  Graph<T> graph_;
  Lifetimes lifetimes_;
  Executor<T> executor_;
  Backward<T> backward_{graph_, executor_};
  Mark kept_{{}, 0, this};
  bool in_section_ = false;
  // The last so many records have yet to be computed: whoever reads computes them.
  mutable std::size_t waiting_ = 0;
  mutable std::vector<Task<T>> tasks_;  // memory for what is handed to executor_
  // See Graph::out_of_date(): worked out when somebody asks, for one generation.
  mutable std::vector<std::size_t> out_of_date_;
  mutable std::uint32_t out_of_date_generation_ = 0;
};

extern template class Tape<float>;
extern template class Tape<double>;

}  // namespace glassbox
