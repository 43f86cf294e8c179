#include "autograd/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "autograd/errors.h"
#include "autograd/matrix.h"
#include "autograd/value.h"

namespace glassbox {

template <class T>
Tape<T>::Tape() {
  for (std::size_t op = 0; op < kernels::kOpCount; ++op)
    forward1_[op] = graph_.table.ops[op].forward1;
}

template <class T>
T Tape<T>::make_room(T value) {
  compute_waiting();  // a scalar does not wait, and those that do are the last records
  graph_.arena.reserve(1);
  graph_.records.make_room();
  room_ = std::min(graph_.arena.capacity(), size() + graph_.records.room());
  return value;
}

template <class T>
Value<T> Tape<T>::leaf(T data, std::string label) {
  const Value<T> value = leaf(data);
  if (!label.empty()) set_label(value.id(), std::move(label));
  return value;
}

template <class T>
Matrix<T> Tape<T>::matrix(std::size_t rows, std::size_t cols, MatrixLabel label) {
  MatrixInfo matrix;
  matrix.out = graph_.arena.push_block(rows, cols);
  matrix.rows = static_cast<std::uint32_t>(rows);
  matrix.cols = static_cast<std::uint32_t>(cols);
  matrix.pitch = static_cast<std::uint32_t>(kernels::padded(cols));
  matrix.label = label;
  std::fill_n(graph_.arena.data() + matrix.out, matrix.size(), T(0));
  graph_.matrices.push_back(matrix);
  return Matrix<T>(*this, static_cast<MatrixId>(graph_.matrices.size() - 1));
}

template <class T>
T Tape<T>::operand(NodeId id) {
  if (const MatrixId matrix = matrix_of(id); matrix != kNoMatrix) graph_.use_elements(matrix);
  return data(id);
}

template <class T>
Value<T> Tape<T>::record(Op op, NodeId a, NodeId b) {
  for (const NodeId id : {a, b}) {
    check_id(id);
    check_up_to_date(id);
  }
  const auto forward = forward1_[static_cast<std::size_t>(op)];
  if (!forward)
    throw TapeError(
        fmt::format("record: expected an operation on scalars, found {}", table()[op].name));
  const T x = operand(a), y = operand(b);
  return record(op, a, b, forward(x, y));
}

template <class T>
Value<T> Tape<T>::record_old(Op op, NodeId a, std::uint32_t generation_a, NodeId b,
                             std::uint32_t generation_b) {
  check(a, generation_a);
  check(b, generation_b);
  const T x = operand(a), y = operand(b);
  return record(op, a, b, forward1_[static_cast<std::size_t>(op)](x, y));
}

// Gives the output its place, unless what the caller gives does not fit the operation.
template <class T>
void Tape<T>::place(MatrixInfo& matrix, std::size_t rows, std::size_t cols,
                    std::span<const std::uint32_t> ids) {
  const auto& row = table()[matrix.op];
  const std::size_t size_before = size();
  matrix.out = graph_.arena.push_block(rows, cols);
  matrix.rows = static_cast<std::uint32_t>(rows);
  matrix.cols = static_cast<std::uint32_t>(cols);
  matrix.pitch = static_cast<std::uint32_t>(kernels::padded(cols));
  matrix.ids_begin = static_cast<std::uint32_t>(graph_.ids.size());
  matrix.ids_count = static_cast<std::uint32_t>(ids.size());
  graph_.ids.insert(graph_.ids.end(), ids.begin(), ids.end());
  kernels::Args<T> x = graph_.args(matrix);
  if (row.reads_anywhere) x.in[0].rows = static_cast<std::uint32_t>(size_before);
  std::string mismatch;
  if (row.mismatch)
    mismatch = row.mismatch(x);
  else
    matrix.for_each_operand([&](std::size_t k, MatrixId) {
      if (x.in[k].rows != rows || x.in[k].cols != cols)
        mismatch = fmt::format("expected operands of shape ({}, {}), found ({}, {})", rows, cols,
                               x.in[k].rows, x.in[k].cols);
    });
  if (!mismatch.empty()) throw TapeError(fmt::format("{}: {}", row.name, mismatch));
  if (row.reads_anywhere)
    for (const NodeId id : ids) check_up_to_date(id);
  if (row.saved) matrix.saved = graph_.arena.push_block(1, row.saved(x));
}

template <class T>
Matrix<T> Tape<T>::record(Op op, std::initializer_list<Matrix<T>> operands, std::size_t rows,
                          std::size_t cols, std::span<const std::uint32_t> ids,
                          const kernels::Settings& settings) {
  const auto& row = table()[op];
  if (!row.forward ||
      operands.size() != static_cast<std::size_t>(row.reads_anywhere ? 0 : row.operands))
    throw TapeError(
        fmt::format("{}: expected {} operands, found {}", row.name, row.operands, operands.size()));
  MatrixInfo matrix;
  matrix.op = op;
  matrix.settings = settings;
  std::size_t k = 0;
  for (const Matrix<T>& operand : operands) {
    operand.check();
    if (&operand.tape() != this)
      throw TapeError(fmt::format("{}: expected operands of one tape, found two tapes", row.name));
    matrix.operands[k++] = operand.id();
  }
  const auto before = graph_.size();
  try {
    place(matrix, rows, cols, ids);
  } catch (...) {
    graph_.truncate(before);
    throw;
  }
  const bool waits = in_section_ && graph_.fits(graph_.sections.back(), matrix);
  if (!waits) compute_waiting();
  graph_.records.make_room();
  if (row.reads_anywhere)
    for (const NodeId id : ids) operand(id);
  matrix.for_each_operand([&](std::size_t, MatrixId in) { ++graph_.matrices[in].readers; });
  const auto id = static_cast<MatrixId>(graph_.matrices.size());
  graph_.matrices.push_back(matrix);
  graph_.records.push({op, true, 0, matrix.out, 0, id});
  room_ = 0;
  if (waits)
    ++waiting_;
  else
    executor_.forward(row, graph_.args(matrix));
  return Matrix<T>(*this, id);
}

template <class T>
void Tape<T>::backward(std::span<const Seed> seeds, LeafHook<T>* hook) {
  compute_waiting();
  for (const Seed& seed : seeds) {
    check_id(seed.node);
    check_up_to_date(seed.node);
  }
  backward_.run(seeds, hook);
}

template <class T>
bool Tape<T>::begin_section(std::span<const std::uint32_t> starts) {
  if (!starts.empty() && (starts[0] != 0 || !std::is_sorted(starts.begin(), starts.end())))
    throw TapeError("sentences: expected them to begin at row 0, one after the other");
  if (in_section_) return false;
  std::vector<Chunk> chunks = executor_.cut(starts);
  if (chunks.empty()) return false;
  compute_waiting();
  graph_.sections.push_back({records().size(), records().size(), std::move(chunks)});
  in_section_ = true;
  return true;
}

template <class T>
void Tape<T>::end_section() {
  if (!in_section_) return;  // clear() has gone back to before it
  graph_.sections.back().end = records().size();
  in_section_ = false;
}

template <class T>
void Tape<T>::compute_waiting() const {
  if (waiting_ == 0) return;
  tasks_.clear();
  for (std::size_t r = records().size() - std::exchange(waiting_, 0); r < records().size(); ++r) {
    const MatrixInfo& matrix = matrices()[records()[r].b];
    tasks_.push_back({&table()[matrix.op], graph_.args(matrix)});
  }
  executor_.forward(tasks_, graph_.sections.back().chunks);
}

template <class T>
typename Tape<T>::Mark Tape<T>::keep() {
  return kept_ = {graph_.size(), lifetimes_.generation(), this};
}

template <class T>
bool Tape<T>::holds(const Mark& mark) const {
  return mark.size.nodes == 0 ||
         !lifetimes_.node_was_dropped(static_cast<NodeId>(mark.size.nodes - 1), mark.generation);
}

template <class T>
void Tape<T>::clear(const Mark& mark) {
  if (mark.tape != this)
    throw TapeError("clear: expected a mark of this tape, found one of another");
  if (!holds(mark))
    throw TapeError("clear: expected a mark that is on the tape, found one that was cleared");
  drop(mark);
}

template <class T>
void Tape<T>::drop(const Mark& mark) {
  waiting_ -= std::min(waiting_, records().size() - mark.size.records);
  kept_ = mark;
  const std::size_t sections = graph_.sections.size();
  graph_.truncate(mark.size);
  in_section_ = in_section_ && graph_.sections.size() == sections;
  backward_.truncate(mark.size.records);
  lifetimes_.drop(mark.size.nodes, mark.size.matrices);
  room_ = 0;
}

template <class T>
void Tape<T>::weights_moved(std::size_t begin, std::size_t end) {
  if (records().empty()) return lifetimes_.forget_changes();
  const NodeId first = records()[0].out;
  const auto matrix = std::lower_bound(matrices().begin(), matrices().end(), first,
                                       [](const MatrixInfo& m, NodeId id) { return m.out < id; });
  lifetimes_.change(begin, end, size(), first,
                    static_cast<std::size_t>(matrix - matrices().begin()));
}

namespace {
[[noreturn]] void throw_cleared() {
  throw TapeError("value: its step was cleared from the tape; read it before, or record it again");
}
}  // namespace

template <class T>
void Tape<T>::throw_no_node(std::size_t id) const {
  throw TapeError(fmt::format("tape: expected a node below {}, found {}", size(), id));
}

template <class T>
NodeId Tape<T>::element(MatrixId id, std::size_t row, std::size_t col) const {
  const MatrixInfo& matrix = matrices()[id];
  if (row >= matrix.rows || col >= matrix.cols)
    throw TapeError(fmt::format("matrix: expected an element of ({}, {}), found ({}, {})",
                                matrix.rows, matrix.cols, row, col));
  return static_cast<NodeId>(matrix.out + row * matrix.pitch + col);
}

template <class T>
void Tape<T>::check_up_to_date(NodeId id) const {
  if (id >= lifetimes_.computed() || !maker(id)) return;
  if (std::exchange(out_of_date_generation_, lifetimes_.generation()) != lifetimes_.generation())
    out_of_date_ = graph_.out_of_date(lifetimes_.changes(), lifetimes_.computed());
  if (id < out_of_date_[id])
    throw TapeError(
        "value: the weights have moved since it was computed; read it before the optimiser's step, "
        "or record it again");
}

template <class T>
void Tape<T>::check_old_node(NodeId id, std::uint32_t generation) const {
  if (lifetimes_.node_was_dropped(id, generation)) throw_cleared();
  check_up_to_date(id);
}

template <class T>
void Tape<T>::check_old_matrix(MatrixId id, std::uint32_t generation) const {
  if (lifetimes_.matrix_was_dropped(id, generation)) throw_cleared();
  check_up_to_date(matrices()[id].out);
}

template <class T>
std::size_t Tape<T>::memory() const {
  return 2 * graph_.arena.capacity() * sizeof(T) +
         graph_.records.capacity() * sizeof(ScalarRecord) +
         graph_.matrices.capacity() * sizeof(MatrixInfo) +
         graph_.ids.capacity() * sizeof(std::uint32_t);
}

template <class T>
T Tape<T>::grad(NodeId id) const {
  check_id(id);
  const T grad = graph_.arena.grad()[id];
  const MatrixId at = matrix_of(id);
  if (at == kNoMatrix) return grad;
  if (matrices()[at].gradient_consumed)
    throw TapeError(
        "grad: the optimiser's step used this gradient up; ask for the step that keeps gradients");
  return matrices()[at].gradient_ready ? grad : T(0);
}

template <class T>
T* Tape<T>::grad_from(NodeId id) {
  graph_.clear_unwritten_gradients(id);
  return graph_.arena.grad() + id;
}

template <class T>
void Tape<T>::set_data(NodeId id, T value) {
  check_id(id);
  if (const ScalarRecord* const record = maker(id))
    throw TapeError(
        fmt::format("set_data: expected a leaf, found the result of {}; set the leaves it "
                    "comes from",
                    table()[record->op].name));
  *data_from(id) = value;
  weights_moved(id, id + std::size_t{1});
}

template class Tape<float>;
template class Tape<double>;

}  // namespace glassbox
