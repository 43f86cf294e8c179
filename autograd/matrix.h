// A matrix of scalars that one record made, or that are leaves together; each of them is a Value.
// Layers take and return matrices. A handle, as a Value is: it throws TapeError if it is stale.
#pragma once

#include "autograd/value.h"

namespace glassbox {

template <class T>
class Matrix {
 public:
  // Throws TapeError if the tape has no such matrix.
  Matrix(Tape<T>& tape, MatrixId id)
      : tape_(&tape), id_(id), generation_(tape.lifetimes_.generation()) {
    tape.check_matrix_id(id);
  }

  std::size_t rows() const { return info().rows; }
  std::size_t cols() const { return info().cols; }
  // The scalar in row n, column m. Throws TapeError if there is none.
  Value<T> operator()(std::size_t n, std::size_t m) const { return Value<T>(*tape_, node(n, m)); }
  T data(std::size_t n, std::size_t m) const { return tape_->data(node(n, m)); }
  T grad(std::size_t n, std::size_t m) const { return tape_->grad(node(n, m)); }
  // Gives its scalars names.
  Matrix with_label(MatrixLabel label) const {
    check();
    tape_->graph_.matrices[id_].label = label;
    return *this;
  }

  Tape<T>& tape() const { return *tape_; }
  MatrixId id() const { return id_; }
  NodeId node(std::size_t n, std::size_t m) const {
    check();
    return tape_->element(id_, n, m);
  }
  // Throws TapeError if stale.
  void check() const { tape_->check_matrix(id_, generation_); }

 private:
  const MatrixInfo& info() const {
    check();
    return tape_->matrices()[id_];
  }
  Tape<T>* tape_;
  MatrixId id_;
  std::uint32_t generation_;
};

}  // namespace glassbox
