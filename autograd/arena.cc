#include "autograd/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "autograd/errors.h"

namespace glassbox {

namespace {
constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kFirstCapacity = 1024;
constexpr std::size_t kMostNodes = 0xFFFFFFFF;
}  // namespace

template <class T>
Arena<T>::~Arena() {
  ::operator delete[](data_, kAlignment);
  ::operator delete[](grad_, kAlignment);
}

template <class T>
void Arena<T>::reserve(std::size_t more) {
  if (more <= capacity_ - size_) return;
  if (more > kMostNodes - size_)
    throw TapeError(
        fmt::format("tape: expected at most {} scalars, found {} and {} more; clear() it, or "
                    "record fewer",
                    kMostNodes, size_, more));
  const std::size_t capacity = std::max({kFirstCapacity, 2 * capacity_, size_ + more});
  for (T** array : {&data_, &grad_}) {
    T* larger = static_cast<T*>(::operator new[](capacity * sizeof(T), kAlignment));
    if (size_) std::memcpy(larger, *array, size_ * sizeof(T));
    std::fill(larger + size_, larger + capacity, T(0));
    ::operator delete[](*array, kAlignment);
    *array = larger;
  }
  capacity_ = capacity;
}

template <class T>
NodeId Arena<T>::push_block(std::size_t rows, std::size_t cols) {
  if (cols > kMostNodes - kernels::kLanes ||
      rows > kMostNodes / std::max<std::size_t>(kernels::padded(cols), 1))
    throw TapeError(fmt::format("tape: expected a matrix of at most {} scalars, found {} x {}",
                                kMostNodes, rows, cols));
  const std::size_t begin = kernels::padded(size_), size = rows * kernels::padded(cols);
  reserve(begin - size_ + size);
  size_ = begin + size;
  return static_cast<NodeId>(begin);
}

void RecordList::make_room() {
  const std::size_t count = size();
  if (count < capacity_) return;
  const std::size_t capacity = std::max(kFirstCapacity, 2 * capacity_);
  auto larger = std::make_unique_for_overwrite<ScalarRecord[]>(capacity);
  std::copy_n(records_.get(), count, larger.get());
  records_ = std::move(larger);
  capacity_ = capacity;
  end_ = records_.get() + count;
}

template class Arena<float>;
template class Arena<double>;

}  // namespace glassbox
