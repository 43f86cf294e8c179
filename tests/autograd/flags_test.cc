// What a user's own flags may not change. This file is compiled with some that move the bits of
// plain arithmetic: products and sums made one rounding (GCC's default), sums taken in another
// order, x - x taken for 0.
#include <array>
#include <limits>
#include <vector>

#include "autograd/ops.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"

namespace glassbox {
namespace {

#ifdef __x86_64__
#define FOR_FMA [[gnu::target("fma")]]
bool has_fma() { return __builtin_cpu_supports("fma"); }
#else
#define FOR_FMA
bool has_fma() { return true; }
#endif

// Proof that the flags do what the test is about.
template <class T>
FOR_FMA [[gnu::noinline]] T fused(T a, T b, T c) {
  return a * b + c;
}
template <class T>
FOR_FMA [[gnu::noinline]] T there_and_back(T a, T b) {
  return a + b - b;
}

template <class T, class Step>
FOR_FMA std::vector<T> chain(std::array<T, 3> start, Step step) {
  Tape<T> tape;
  const auto a = tape.leaf(start[1]), b = tape.leaf(start[2]);
  auto y = tape.leaf(start[0]);
  std::vector<T> result;
  for (int i = 0; i < 100; ++i) {
    y = step(y, a, b);
    result.push_back(y.data());
  }
  y.backward();
  result.insert(result.end(), {a.grad(), b.grad()});
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("operators on values have the bits of the kernels whatever the user's flags",
                   "[autograd][ops]", float, double) {
  using T = TestType;
  if (!has_fma()) return;
  const T tiny = std::numeric_limits<T>::epsilon(), inf = std::numeric_limits<T>::infinity();
  volatile T one = 1, more = 1 + tiny, less = -1 - 2 * tiny, square = tiny * tiny;
  CHECK(fused<T>(more, more, less) == square);
  CHECK(there_and_back<T>(square, one) == square);

  const std::array<std::array<T, 3>, 6> starts = {
      {{T(0.3), T(0.99), T(0.7)},
       {T(-1.7), T(-1.01), T(0.1)},
       {T(0), T(-0.), T(-0.)},
       {inf, T(0.5), T(1)},
       {T(1), T(0), -inf},
       {std::numeric_limits<T>::denorm_min(), T(0.5), T(0)}}};
  for (const auto& start : starts) {
    CAPTURE(start[0], start[1], start[2]);
    const auto found = chain<T>(start, [](auto& y, auto& a, auto& b) FOR_FMA {
      const auto p = y * a + b, q = b - p * a, c = -b;
      return a * (q + c - c) - (p - p);
    });
    // Through the table, whose kernels were compiled with the project's flags.
    const auto want = chain<T>(start, [](auto& y, auto& a, auto& b) {
      const auto apply = [](Op op, const auto& p, const auto& q) {
        return p.tape().record(op, p.id(), q.id());
      };
      const auto p = apply(Op::add, apply(Op::mul, y, a), b),
                 q = apply(Op::sub, b, apply(Op::mul, p, a));
      const auto c = apply(Op::neg, b, b), r = apply(Op::sub, apply(Op::add, q, c), c);
      return apply(Op::sub, apply(Op::mul, a, r), apply(Op::sub, p, p));
    });
    REQUIRE(different_bits<T>(found, want) == 0);
  }
}

}  // namespace glassbox
