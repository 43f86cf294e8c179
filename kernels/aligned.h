// Arrays that begin on a cache line: a vector of 64 bytes that straddles two lines costs two
// accesses.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace glassbox::kernels {

inline constexpr std::align_val_t kCacheLine{64};

template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kCacheLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kCacheLine); }
  bool operator==(const AlignedAllocator&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace glassbox::kernels
