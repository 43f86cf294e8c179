// The commonest operations on single scalars, compiled into whoever calls them: in a chain of plain
// scalars a call costs as much as all the rest of recording a node.
//
// These lines are compiled with a user's flags, not ours, and bits may not depend on those: by
// default GCC makes one rounding of a product and the sum it meets wherever the processor can. So
// every operation stands alone between barriers that no optimisation looks through; that costs no
// instruction.
#pragma once

#include "kernels/op.h"

namespace glassbox::kernels {

// Elsewhere (a processor whose registers the barrier does not name, arithmetic in more precision
// than the type has) the table is all there is.
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 0 && defined(__x86_64__)
#define GLASSBOX_REGISTER "+x"
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 0 && defined(__aarch64__)
#define GLASSBOX_REGISTER "+w"
#endif

#ifdef GLASSBOX_REGISTER
namespace in_place {

// f(a, b), of which the compiler knows neither what a and b are (nor that they are the same) nor
// what becomes of it.
template <class T, class F>
inline T alone(T a, T b, F f) {
  asm("" : GLASSBOX_REGISTER(a), GLASSBOX_REGISTER(b));
  T y = f(a, b);
  asm("" : GLASSBOX_REGISTER(y));
  return y;
}
#undef GLASSBOX_REGISTER

// Highway's names, for a vector of one.
template <class T>
struct One {};
template <class T>
inline T Set(One<T>, T x) {
  return x;
}
template <class T>
inline T GetLane(T x) {
  return x;
}
template <class T>
inline T Add(T a, T b) {
  return alone(a, b, [](T x, T y) { return x + y; });
}
template <class T>
inline T Sub(T a, T b) {
  return alone(a, b, [](T x, T y) { return x - y; });
}
template <class T>
inline T Mul(T a, T b) {
  return alone(a, b, [](T x, T y) { return x * y; });
}
template <class T>
inline T Neg(T a) {
  return alone(a, a, [](T x, T) { return -x; });
}

#include "kernels/scalar-inl.h"

}  // namespace in_place
#define GLASSBOX_IN_PLACE(X) X(add) X(sub) X(mul) X(neg)
#else
#define GLASSBOX_IN_PLACE(X)
#endif

// OpRow::forward1 of an operation known when compiling. `forward1` is the table's, op by op.
template <Op op, class T, class Forward1>
inline T forward_scalar(const Forward1& forward1, T a, T b) {
#define GLASSBOX_OP(name)       \
  if constexpr (op == Op::name) \
    return in_place::scalar_forward<in_place::One<T>, in_place::name##_formula>(a, b);
  GLASSBOX_IN_PLACE(GLASSBOX_OP)
#undef GLASSBOX_OP
  return forward1[static_cast<std::size_t>(op)](a, b);
}

// OpRow::backward1 of any operation. A branch to the right lines costs less than a call through the
// table.
template <class T, class Backward1>
inline T backward_scalar(const Backward1& backward1, Op op, T out, T g, T a, T b, T* d_a, T* d_b) {
  switch (op) {
#define GLASSBOX_OP(name)                                                                      \
  case Op::name:                                                                               \
    return in_place::scalar_backward<in_place::One<T>, in_place::name##_formula>(out, g, a, b, \
                                                                                 d_a, d_b);
    GLASSBOX_IN_PLACE(GLASSBOX_OP)
#undef GLASSBOX_OP
    default:
      return backward1[static_cast<std::size_t>(op)](out, g, a, b, d_a, d_b);
  }
}
#undef GLASSBOX_IN_PLACE

}  // namespace glassbox::kernels
