#include "autograd/ops.h"

#include <fmt/format.h>

#include "autograd/errors.h"

namespace glassbox {

namespace detail {

void throw_two_tapes() { throw TapeError("value: expected operands of one tape, found two tapes"); }

}  // namespace detail

template <class T>
Matrix<T> gather(std::span<const Value<T>> values) {
  if (values.empty()) throw TapeError("gather: expected at least one value, found none");
  std::vector<NodeId> ids;
  ids.reserve(values.size());
  for (const Value<T>& value : values) {
    detail::check_operands(values.front(), value);
    ids.push_back(value.id());
  }
  return values.front().tape().record(Op::gather, {}, 1, ids.size(), ids);
}

template <class T>
Value<T> sum(const Matrix<T>& a) {
  return a.tape().record(Op::sum, {a}, 1, 1)(0, 0);
}
template <class T>
Value<T> mean(const Matrix<T>& a) {
  return a.tape().record(Op::mean, {a}, 1, 1)(0, 0);
}
template <class T>
Value<T> dot(const Matrix<T>& a, const Matrix<T>& b) {
  return a.tape().record(Op::dot, {a, b}, 1, 1)(0, 0);
}

#define GLASSBOX_INSTANTIATE(T)                         \
  template Matrix<T> gather(std::span<const Value<T>>); \
  template Value<T> sum(const Matrix<T>&);              \
  template Value<T> mean(const Matrix<T>&);             \
  template Value<T> dot(const Matrix<T>&, const Matrix<T>&);
GLASSBOX_INSTANTIATE(float)
GLASSBOX_INSTANTIATE(double)
#undef GLASSBOX_INSTANTIATE

}  // namespace glassbox
