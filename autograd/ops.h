// The operators and functions that users write, on Values and Matrices. No arithmetic happens here.
//
// Operators on single Values never fuse: a * b + c rounds twice, as written. dot(), linear layers
// and the like round once a term; expand() shows it.
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "autograd/matrix.h"
#include "autograd/value.h"

namespace glassbox {

namespace detail {

[[noreturn]] void throw_two_tapes();
// Throws TapeError unless both handles are good and of one tape.
template <class T>
[[gnu::always_inline]] inline void check_operands(const Value<T>& a, const Value<T>& b) {
  a.check();
  b.check();
  if (&a.tape() != &b.tape()) throw_two_tapes();
}

// Inlined, and its callers too, so that a Value that a formula makes lives in registers: as an
// argument or a result of a call it goes through memory, and each operation of a chain waits for
// that.
template <Op op, class T>
[[gnu::always_inline]] inline Value<T> apply(const Value<T>& a, const Value<T>& b) {
  if (&a.tape() != &b.tape()) throw_two_tapes();
  return a.tape().template record<op>(a, b);
}
template <Op op, class T>
[[gnu::always_inline]] inline Value<T> apply(const Value<T>& a) {
  return apply<op>(a, a);
}
// A number in a formula is a leaf of its own.
template <class T, class N>
Value<T> constant(const Value<T>& like, N number) {
  return like.tape().leaf(static_cast<T>(number));
}
template <Op op, class T>
Matrix<T> apply(const Matrix<T>& a) {
  return a.tape().record(op, {a}, a.rows(), a.cols());
}
template <Op op, class T>
Matrix<T> apply(const Matrix<T>& a, const Matrix<T>& b) {
  return a.tape().record(op, {a, b}, a.rows(), a.cols());
}

}  // namespace detail

template <class N>
concept Number = std::integral<N> || std::floating_point<N>;

#define GLASSBOX_BINARY(name, op)                                                     \
  template <class T>                                                                  \
  [[gnu::always_inline]] inline Value<T> name(const Value<T>& a, const Value<T>& b) { \
    return detail::apply<op>(a, b);                                                   \
  }                                                                                   \
  template <class T, Number N>                                                        \
  [[gnu::always_inline]] inline Value<T> name(const Value<T>& a, N b) {               \
    return detail::apply<op>(a, detail::constant(a, b));                              \
  }                                                                                   \
  template <class T, Number N>                                                        \
  [[gnu::always_inline]] inline Value<T> name(N a, const Value<T>& b) {               \
    return detail::apply<op>(detail::constant(b, a), b);                              \
  }                                                                                   \
  template <class T>                                                                  \
  Matrix<T> name(const Matrix<T>& a, const Matrix<T>& b) {                            \
    return detail::apply<op>(a, b);                                                   \
  }
GLASSBOX_BINARY(operator+, Op::add)
GLASSBOX_BINARY(operator-, Op::sub)
GLASSBOX_BINARY(operator*, Op::mul)
GLASSBOX_BINARY(operator/, Op::div)
GLASSBOX_BINARY(pow, Op::pow)
GLASSBOX_BINARY(max, Op::max)  // at a tie a takes the gradient
GLASSBOX_BINARY(min, Op::min)
#undef GLASSBOX_BINARY

#define GLASSBOX_UNARY(name, op)                                   \
  template <class T>                                               \
  [[gnu::always_inline]] inline Value<T> name(const Value<T>& a) { \
    return detail::apply<op>(a);                                   \
  }                                                                \
  template <class T>                                               \
  Matrix<T> name(const Matrix<T>& a) {                             \
    return detail::apply<op>(a);                                   \
  }
GLASSBOX_UNARY(operator-, Op::neg)
GLASSBOX_UNARY(sqrt, Op::sqrt)
GLASSBOX_UNARY(rsqrt, Op::rsqrt)
GLASSBOX_UNARY(abs, Op::abs)
GLASSBOX_UNARY(exp, Op::exp)
GLASSBOX_UNARY(log, Op::log)
GLASSBOX_UNARY(tanh, Op::tanh)
GLASSBOX_UNARY(sigmoid, Op::sigmoid)
GLASSBOX_UNARY(relu, Op::relu)
GLASSBOX_UNARY(gelu, Op::gelu)
GLASSBOX_UNARY(silu, Op::silu)
#undef GLASSBOX_UNARY

// a += b and the like make a a handle of the new node; the old node stays on the tape.
template <class T, class B>
Value<T>& operator+=(Value<T>& a, const B& b) {
  return a = a + b;
}
template <class T, class B>
Value<T>& operator-=(Value<T>& a, const B& b) {
  return a = a - b;
}
template <class T, class B>
Value<T>& operator*=(Value<T>& a, const B& b) {
  return a = a * b;
}
template <class T, class B>
Value<T>& operator/=(Value<T>& a, const B& b) {
  return a = a / b;
}

// Values from anywhere on one tape, side by side: (1, n). Throws TapeError for none.
template <class T>
Matrix<T> gather(std::span<const Value<T>> values);

// Over all scalars of a matrix.
template <class T>
Value<T> sum(const Matrix<T>& a);
template <class T>
Value<T> mean(const Matrix<T>& a);
template <class T>
Value<T> dot(const Matrix<T>& a, const Matrix<T>& b);

template <class T>
Value<T> sum(const std::vector<Value<T>>& values) {
  return sum(gather<T>(values));
}
template <class T>
Value<T> mean(const std::vector<Value<T>>& values) {
  return mean(gather<T>(values));
}
template <class T>
Value<T> dot(const std::vector<Value<T>>& a, const std::vector<Value<T>>& b) {
  return dot(gather<T>(a), gather<T>(b));
}

}  // namespace glassbox
