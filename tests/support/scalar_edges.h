// A table of a scalar operation's values and derivatives at given points, held on every SIMD
// target.
#pragma once

#include "tests/support/kernel_call.h"

namespace glassbox::reference {

template <class T>
struct Edge {
  Op op;
  T a, b, value, d_a, d_b = 0;  // a unary operation ignores b and d_b
};

template <class T>
void require_edges(const std::vector<Edge<T>>& edges) {
  const auto same = [](T x, T y) {
    return bits_of(x) == bits_of(y) || (std::isnan(x) && std::isnan(y));
  };
  for_each_simd_target([&](const std::string&) {
    for (const Edge<T>& e : edges) {
      const auto& row = kernels::table<T>()[e.op];
      const T value = row.forward1(e.a, e.b);
      T d_a = 0, d_b = 0;
      row.backward1(value, 1, e.a, e.b, &d_a, &d_b);
      CAPTURE(row.name, e.a, e.b, value, e.value, d_a, e.d_a, d_b, e.d_b);
      REQUIRE(same(value, e.value));
      REQUIRE((d_a == e.d_a || same(d_a, e.d_a)));  // a derivative of 0 may be -0
      if (row.operands == 2) REQUIRE((d_b == e.d_b || same(d_b, e.d_b)));
    }
  });
}

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNotANumber = std::numeric_limits<T>::quiet_NaN();

}  // namespace glassbox::reference
