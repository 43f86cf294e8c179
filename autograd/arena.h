// The memory of a tape: data and gradients of every scalar, and a list of records. Both double when
// they are full, unless somebody has said beforehand how much there will be; dropping what lies at
// the end is moving one mark: memory is kept for the next step.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

#include "autograd/record.h"

namespace glassbox {

// Two arrays of equal length, indexed by node.
template <class T>
class Arena {
 public:
  T* data() const { return data_.begin; }
  T* grad() const { return grad_.begin; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }

  // One scalar more, its gradient 0. REQUIRES: size() < capacity().
  NodeId push(T value) {
    data_.begin[size_] = value;
    grad_.begin[size_] = T(0);
    return static_cast<NodeId>(size_++);
  }
  // `rows` rows of padded(cols) scalars that begin at a multiple of 16, with whatever was there.
  // Throws TapeError if node ids, which have 32 bits, cannot count them.
  NodeId push_block(std::size_t rows, std::size_t cols);
  // Room for `more` scalars. Throws TapeError likewise.
  void reserve(std::size_t more) { reserve(more, 2 * capacity_); }
  // The same, and where there is none for room for exactly so many: what will be needed is known.
  // Memory that nothing touches is only promised by the system, and costs nothing.
  void reserve_exactly(std::size_t more) { reserve(more, 0); }
  void truncate(std::size_t size) { size_ = size; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Array {
    std::unique_ptr<void, Free> memory;
    T* begin = nullptr;  // in it, on a cache line
  };
  static Array zeros(std::size_t size);
  void reserve(std::size_t more, std::size_t at_least);

  Array data_, grad_;
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
