#include "autograd/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "autograd/errors.h"

namespace glassbox {

namespace {
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kFirstCapacity = 1024;
constexpr std::size_t kMostNodes = 0xFFFFFFFF;

// A first touch of each of its pages costs a large array more than the step that it is made for:
// pages of 2 MB, where the system has them, are 512 times fewer. Small arrays stay on small pages,
// since those of one offset would meet in the same sets of a cache.
void ask_for_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::size_t kPage = std::size_t{1} << 21, kLeastPages = 16;
  std::size_t left = bytes;
  if (bytes >= kLeastPages * kPage && std::align(kPage, kPage, begin, left))
    madvise(begin, left / kPage * kPage, MADV_HUGEPAGE);  // may be refused: then it is slower
#endif
}

// Into zeros. Pages that nobody has touched stay so: gradients of weights that an optimiser uses up
// as they are made.
void copy_what_is_not_zero(const void* from, std::size_t bytes, void* to) {
  constexpr std::size_t kPage = 4096;
  static constexpr std::byte kZeros[kPage] = {};
  for (std::size_t at = 0; at < bytes; at += kPage) {
    const std::size_t size = std::min(kPage, bytes - at);
    const auto* const page = static_cast<const std::byte*>(from) + at;
    if (std::memcmp(page, kZeros, size) != 0)
      std::memcpy(static_cast<std::byte*>(to) + at, page, size);
  }
}

}  // namespace

// From calloc(), which knows that the system's fresh pages are 0 already and does not touch them.
template <class T>
typename Arena<T>::Array Arena<T>::zeros(std::size_t size) {
  std::size_t bytes = size * sizeof(T) + kAlignment;
  Array array;
  array.memory.reset(std::calloc(bytes, 1));
  if (!array.memory) throw std::bad_alloc();
  void* begin = array.memory.get();
  std::align(kAlignment, size * sizeof(T), begin, bytes);
  ask_for_large_pages(begin, size * sizeof(T));
  array.begin = static_cast<T*>(begin);
  return array;
}

template <class T>
void Arena<T>::reserve(std::size_t more, std::size_t at_least) {
  if (more <= capacity_ - size_) return;
  if (more > kMostNodes - size_)
    throw TapeError(
        fmt::format("tape: expected at most {} scalars, found {} and {} more; clear() it, or "
                    "record fewer",
                    kMostNodes, size_, more));
  const std::size_t capacity = std::max({kFirstCapacity, at_least, size_ + more});
  for (Array* array : {&data_, &grad_}) {
    Array larger = zeros(capacity);
    copy_what_is_not_zero(array->begin, size_ * sizeof(T), larger.begin);
    *array = std::move(larger);
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
