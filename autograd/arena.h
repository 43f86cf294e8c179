// The memory of a tape: data and gradients of every scalar, and a list of records. Both double when
// they are full, and dropping what lies at the end is moving one mark: memory is kept for the next
// step.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "autograd/record.h"

namespace glassbox {

// Two arrays of equal length, indexed by node.
template <class T>
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  T* data() const { return data_; }
  T* grad() const { return grad_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }

  // One scalar more, its gradient 0. REQUIRES: size() < capacity().
  NodeId push(T value) {
    data_[size_] = value;
    grad_[size_] = T(0);
    return static_cast<NodeId>(size_++);
  }
  // `rows` rows of padded(cols) scalars that begin at a multiple of 16, with whatever was there.
  // Throws TapeError if node ids, which have 32 bits, cannot count them.
  NodeId push_block(std::size_t rows, std::size_t cols);
  // Room for `more` scalars. Throws TapeError likewise.
  void reserve(std::size_t more);
  void truncate(std::size_t size) { size_ = size; }

 private:
  T* data_ = nullptr;
  T* grad_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

// A vector of records whose push() is two instructions.
class RecordList {
 public:
  // REQUIRES: room() > 0.
  void push(const ScalarRecord& record) { *end_++ = record; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - records_.get()); }
  std::size_t capacity() const { return capacity_; }
  std::size_t room() const { return capacity_ - size(); }
  void make_room();
  void truncate(std::size_t size) { end_ = records_.get() + size; }
  operator std::span<const ScalarRecord>() const { return {records_.get(), size()}; }
  const ScalarRecord& operator[](std::size_t i) const { return records_[i]; }

 private:
  std::unique_ptr<ScalarRecord[]> records_;
  ScalarRecord* end_ = nullptr;
  std::size_t capacity_ = 0;
};

extern template class Arena<float>;
extern template class Arena<double>;

}  // namespace glassbox
