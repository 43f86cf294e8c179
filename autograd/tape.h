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
// adds up over calls until zero_grad(); every other node's is fresh in each call. A node whose
// gradient is 0 passes nothing on. Contributions are added in the reverse order of recording.
//
// Memory. Two arrays, data and gradients, indexed by node; they double when full. clear() drops a
// step's nodes by moving one mark, and their memory is used again. A record takes 16 bytes besides
// data and grad.
//
// A tape belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/executor.h"
#include "autograd/record.h"
#include "kernels/scalar.h"

namespace glassbox {

template <class T>
class Value;
template <class T>
class Matrix;

template <class T>
class Tape {
 public:
  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // A scalar that nothing computed. A label is for people: "a".
  Value<T> leaf(T data) { return Value<T>(*this, next_scalar(data)); }
  Value<T> leaf(T data, std::string label);
  // rows x cols leaves, 0 at first; in memory each row is padded to a multiple of 16.
  Matrix<T> matrix(std::size_t rows, std::size_t cols, MatrixLabel label = {});

  // One operation on one or two scalars of this tape.
  template <Op op>
  Value<T> record(const Value<T>& a, const Value<T>& b) {
    return record(op, a.id(), b.id(),
                  kernels::forward_scalar<op>(forward1_, a.operand(), b.operand()));
  }
  Value<T> record(Op op, NodeId a, NodeId b) {
    return record(op, a, b, forward1_[static_cast<std::size_t>(op)](data_[a], data_[b]));
  }
  // The same with its value given: what expand() needs for a node that rounds with another.
  Value<T> record(Op op, NodeId a, NodeId b, T value) {
    const NodeId out = next_scalar(value);
    *next_record_++ = {op, false, 0, out, a, b};
    return Value<T>(*this, out, value);
  }
  // One operation on matrices. `ids` and `number` mean what kernels/ says of the operation. Throws
  // TapeError if an operand is stale or of another tape.
  Matrix<T> record(Op op, std::initializer_list<Matrix<T>> operands, std::size_t rows,
                   std::size_t cols, std::span<const std::uint32_t> ids = {}, double number = 0);

  void backward(NodeId root);
  // From several nodes at once, each with its own gradient to begin with.
  struct Seed {
    NodeId node;
    T grad;
  };
  void backward(std::span<const Seed> seeds);
  // backward() and an optimiser's step over the first `size` nodes, which are leaf matrices: where
  // one operation alone reads a parameter, its kernel moves the weight as soon as the gradient is
  // there. The same bits as backward() and update() one after another. REQUIRES: zero_grad() since
  // the last step; m and v have `size` scalars.
  struct ParameterUpdate {
    T* m;
    T* v;
    std::size_t size;
    std::uint32_t *rest_since, *rest_awake,
        *rest_count;  // kernels::Rest, size / 16 each, 0 at first
    kernels::AdamSettings<T> settings;
    bool keep_gradients = true;  // false: a gradient that a kernel used at once is not stored, and
                                 // reading it throws TapeError; less memory to move
  };
  void fused_step(NodeId root, const ParameterUpdate& update);
  // The step alone, from the gradients that are there.
  void update(const ParameterUpdate& update);
  // Every gradient becomes 0.
  void zero_grad();

  // See SentenceScope. True if records wait from here on, for threads to take whole sentences.
  bool begin_sentences(std::span<const std::uint32_t> starts);
  void compute_waiting();
  void end_sentences();

  // How much is on the tape.
  struct Mark {
    std::size_t size = 0, records = 0, matrices = 0, ids = 0;
  };
  // What is on the tape now stays: clear() goes back to here.
  Mark keep();
  // Drops all that was recorded since keep(), in constant time for matrices and records. Handles to
  // it are stale.
  void clear() { clear(kept_); }
  // The same from an earlier keep() on, which becomes the last one again.
  void clear(const Mark& mark);
  // Leaves have been changed through data_from(): values computed from them are no longer those of
  // a forward pass, so handles to anything after keep() become stale. An update says so by itself.
  void weights_moved();

  // Lets matrices be computed by several threads, the same bits for any number. Null: by the caller
  // alone. They must outlive the tape or be taken back.
  void set_threads(kernels::Threads* threads) { executor_.set_threads(threads); }

  std::size_t size() const { return size_; }  // nodes, pads included
  std::size_t kept_size() const { return kept_.size; }
  std::size_t memory() const;  // bytes held
  std::span<const Record> records() const { return {records_.get(), next_record_}; }
  const std::vector<MatrixInfo>& matrices() const { return matrices_; }
  const kernels::Table<T>& table() const { return *table_; }

  T data(NodeId id) const { return data_[id]; }
  T grad(NodeId id) const;
  // Throws TapeError unless the node is a leaf.
  void set_data(NodeId id, T value);
  std::string label(NodeId id) const;
  void set_label(NodeId id, std::string label);
  // The record that made a node, or nullptr for a leaf.
  const Record* maker(NodeId id) const;
  // The run a node lies in, or kNoMatrix.
  MatrixId matrix_of(NodeId id) const;
  // A run's arrays as a kernel sees them.
  kernels::Args<T> args(const MatrixInfo& matrix);

  // The arrays from node `id` on, for an optimiser or a loader of weights. A writer of data calls
  // weights_moved() afterwards. Valid until something is recorded.
  T* data_from(NodeId id) { return data_ + id; }
  const T* data_from(NodeId id) const { return data_ + id; }
  // Gradients of leaf matrices that nothing has written to are set to 0 first.
  T* grad_from(NodeId id);

  // Throws TapeError if a handle of that generation to that node is stale.
  void check(NodeId id, std::uint32_t generation) const {
    if (generation != generation_ && id >= always_kept_.size &&
        (id >= kept_.size || generation < kept_since_))
      throw_stale();
  }
  void check_matrix(MatrixId id, std::uint32_t generation) const {
    if (generation != generation_ && id >= always_kept_.matrices &&
        (id >= kept_.matrices || generation < kept_since_))
      throw_stale();
  }
  std::uint32_t generation() const { return generation_; }
  void mark_elements(MatrixId matrix) { matrices_[matrix].has_elements = true; }
  void set_matrix_label(MatrixId matrix, MatrixLabel label) { matrices_[matrix].label = label; }

 private:
  [[noreturn]] void throw_stale() const;
  // A scalar's place, with room for its record. The value goes through make_room() and back so that
  // a chain keeps it in a register: what lives on across a call that may happen would be stored and
  // loaded each time.
  NodeId next_scalar(T& value) {
    if (size_ >= room_) [[unlikely]]
      value = make_room(value);
    data_[size_] = value;
    grad_[size_] = T(0);
    return static_cast<NodeId>(size_++);
  }
  T make_room(T value);
  void make_record_room();
  NodeId next_block(std::size_t size);
  void grow(std::size_t more);
  void begin_backward();
  void backward(std::span<const Seed> seeds, const ParameterUpdate* update);
  void walk_back(std::size_t from_record, const ParameterUpdate* update);
  void walk_records(std::size_t from, std::size_t to, const ParameterUpdate* update);
  Task<T> backward_task(const MatrixInfo& matrix, const ParameterUpdate* update);
  void wake(const ParameterUpdate& update, std::size_t begin, std::size_t end);
  bool updates_itself(const MatrixInfo& matrix, const ParameterUpdate* update) const;

  const kernels::Table<T>* table_;
  // The table's length-1 paths once more, side by side: plain scalar code looks one up for every
  // node.
  std::array<T (*)(T, T), kernels::kOpCount> forward1_;
  std::array<T (*)(T, T, T, T, T*, T*), kernels::kOpCount> backward1_;
  // Records made in one SentenceScope, and how its rows are cut.
  struct Sentences {
    std::size_t begin, end;
    std::vector<PartBegin> parts;
  };
  bool cut_as(const Sentences& s, const MatrixInfo& matrix) const;
  void walk_sentences(const Sentences& s, const ParameterUpdate* update);

  Executor<T> executor_;
  std::vector<Sentences> sentences_;
  bool in_sentences_ = false;
  std::size_t waiting_ = 0;     // the last so many records have yet to be computed
  std::vector<Task<T>> tasks_;  // memory for what is handed to executor_
  T* data_ = nullptr;
  T* grad_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  std::unique_ptr<Record[]> records_;
  Record* next_record_ = nullptr;
  std::size_t record_capacity_ = 0;
  std::size_t room_ = 0;  // while size_ is below, there is room for a scalar and for its record
  std::vector<MatrixInfo> matrices_;
  std::vector<std::uint32_t> ids_;
  std::map<NodeId, std::string> labels_;
  // What was kept before anything was dropped, then what is kept now. Of what lies between nothing
  // was made before the generation kept_since_: an older handle is to what lay there before a
  // clear().
  Mark always_kept_, kept_;
  std::uint32_t kept_since_ = 0,
                cleared_ = 0;      // cleared_: the generation that began with the last clear()
  std::size_t dirty_records_ = 0;  // records whose gradients an earlier backward() has set
  std::uint32_t generation_ = 0;
  std::vector<MatrixId> updated_;  // by their own operations, in this fused_step()
  bool moved_ = false;             // the last change of generation came from weights_moved()
};

extern template class Tape<float>;
extern template class Tape<double>;

}  // namespace glassbox
