// Equal bits: stricter than ==, which takes 0 for -0.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

namespace glassbox {

template <class T>
auto bits_of(T x) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(x);
}

// How many of the numbers differ; all of them if the lengths do.
template <class T>
std::size_t different_bits(std::span<const T> a, std::span<const T> b) {
  if (a.size() != b.size()) return a.size() + b.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += bits_of(a[i]) != bits_of(b[i]);
  return count;
}

}  // namespace glassbox
