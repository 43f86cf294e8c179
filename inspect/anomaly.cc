#include "inspect/anomaly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "autograd/scope.h"

namespace glassbox {

namespace {

using kernels::Op;

// The first scalar of a matrix whose number, data or gradient, is not finite.
template <class Read>
std::optional<NodeId> first_bad(const MatrixInfo& matrix, Read read) {
  for (std::size_t n = 0; n < matrix.rows; ++n)
    for (std::size_t m = 0; m < matrix.cols; ++m) {
      const auto id = static_cast<NodeId>(matrix.out + n * matrix.pitch + m);
      if (!std::isfinite(static_cast<double>(read(id)))) return id;
    }
  return {};
}

template <class T>
Anomaly describe(Gpt<T>& model, const Batch& batch, const MatrixInfo& matrix, NodeId id,
                 bool backward) {
  Tape<T>& tape = model.tape();
  const Value<T> value(tape, id);
  Anomaly result{backward,   value.label(),
                 value.op(), static_cast<double>(backward ? tape.grad(id) : tape.data(id)),
                 {},         "",
                 {}};
  if (result.name.empty()) result.name = fmt::format("node {}", id);
  if (matrix.op != Op::leaf) {
    for (const auto& child : value.children())
      result.operands.push_back({child.value.label(), static_cast<double>(child.value.data())});
    std::ranges::stable_sort(result.operands, std::greater(), [](const Anomaly::Operand& operand) {
      return std::isfinite(operand.data) ? std::abs(operand.data) : HUGE_VAL;
    });
    if (result.operands.size() > 4) result.operands.resize(4);
    const std::size_t row = (id - matrix.out) / matrix.pitch;
    for (std::size_t b = 0; matrix.rows == batch.rows() && b < batch.sentences(); ++b)
      if (row >= batch.starts[b] && row < batch.starts[b + 1]) result.sentence = b;
  }
  return result;
}

// The operation and the name of the last matrix that reads this one: it was the first to pass a
// gradient back.
template <class T>
std::string passed_by(const Tape<T>& tape, const MatrixInfo& matrix) {
  for (auto user = tape.matrices().rbegin(); user != tape.matrices().rend(); ++user)
    for (const MatrixId operand : user->operands)
      if (operand != kNoMatrix && &tape.matrices()[operand] == &matrix) {
        const std::string label = tape.label(user->out);
        return fmt::format("{} {}", tape.table()[user->op].name, label.substr(0, label.find('@')));
      }
  return {};
}

}  // namespace

template <class T>
std::optional<Anomaly> find_anomaly(Gpt<T>& model, const Batch& batch) {
  Tape<T>& tape = model.tape();
  const StepScope<T> scope(tape);
  tape.zero_grad();
  const auto loss = model.loss(batch);
  // The matrices are in the order in which they were computed, the weights first.
  for (const MatrixInfo& matrix : tape.matrices())
    if (const auto id = first_bad(matrix, [&](NodeId i) { return tape.data(i); }))
      return describe(model, batch, matrix, *id, false);
  loss.mean.backward();
  for (auto matrix = tape.matrices().rbegin(); matrix != tape.matrices().rend(); ++matrix)
    if (const auto id = first_bad(*matrix, [&](NodeId i) { return tape.grad(i); })) {
      Anomaly result = describe(model, batch, *matrix, *id, true);
      result.from = passed_by(tape, *matrix);
      return result;
    }
  return {};
}

std::string Anomaly::text() const {
  std::string line = fmt::format("the {} of {} is {}", backward ? "gradient" : "value", name,
                                 std::isnan(value) ? "nan" : fmt::format("{}", value));
  if (op != "leaf") line += fmt::format(", computed by {} from", op);
  for (std::size_t i = 0; i < operands.size(); ++i)
    line += fmt::format("{} {} = {:g}", i == 0 ? "" : ",", operands[i].name, operands[i].data);
  if (!from.empty()) line += fmt::format("; it came back through {}", from);
  return line;
}

template std::optional<Anomaly> find_anomaly(Gpt<float>&, const Batch&);
template std::optional<Anomaly> find_anomaly(Gpt<double>&, const Batch&);

}  // namespace glassbox
