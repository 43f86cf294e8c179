#include "autograd/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "autograd/errors.h"
#include "autograd/matrix.h"
#include "autograd/value.h"

namespace glassbox {

namespace {
using kernels::Partition;
constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kFirstCapacity = 1024;
constexpr std::size_t kMostNodes = 0xFFFFFFFF;  // node ids have 32 bits
}  // namespace

template <class T>
Tape<T>::Tape() : table_(&kernels::table<T>()) {
  for (std::size_t op = 0; op < kernels::kOpCount; ++op) {
    forward1_[op] = table_->ops[op].forward1;
    backward1_[op] = table_->ops[op].backward1;
  }
}

template <class T>
Tape<T>::~Tape() {
  ::operator delete[](data_, kAlignment);
  ::operator delete[](grad_, kAlignment);
}

template <class T>
void Tape<T>::grow(std::size_t more) {
  const std::size_t capacity = std::max({kFirstCapacity, 2 * capacity_, size_ + more});
  if (size_ + more > kMostNodes)
    throw TapeError(
        fmt::format("tape: expected at most {} scalars, found {} more; clear() it, or record fewer",
                    kMostNodes, size_ + more - kMostNodes));
  for (T** array : {&data_, &grad_}) {
    T* larger = static_cast<T*>(::operator new[](capacity * sizeof(T), kAlignment));
    if (size_) std::memcpy(larger, *array, size_ * sizeof(T));
    std::fill(larger + size_, larger + capacity, T(0));
    ::operator delete[](*array, kAlignment);
    *array = larger;
  }
  capacity_ = capacity;
}

template <class T>
void Tape<T>::make_record_room() {
  const std::size_t count = records().size();
  if (count < record_capacity_) return;
  const std::size_t capacity = std::max(kFirstCapacity, 2 * record_capacity_);
  auto larger = std::make_unique_for_overwrite<Record[]>(capacity);
  std::copy_n(records_.get(), count, larger.get());
  records_ = std::move(larger);
  record_capacity_ = capacity;
  next_record_ = records_.get() + count;
}

template <class T>
T Tape<T>::make_room(T value) {
  compute_waiting();  // a scalar does not wait, and those that do are the last records
  if (size_ == capacity_) grow(1);
  make_record_room();
  room_ = std::min(capacity_, size_ + record_capacity_ - records().size());
  return value;
}

template <class T>
NodeId Tape<T>::next_block(std::size_t size) {
  const std::size_t begin = kernels::padded(size_);
  if (begin + size > capacity_) grow(begin + size - size_);
  size_ = begin + size;
  return static_cast<NodeId>(begin);
}

template <class T>
Value<T> Tape<T>::leaf(T data, std::string label) {
  const NodeId id = next_scalar(data);
  if (!label.empty()) set_label(id, std::move(label));
  return Value<T>(*this, id);
}

template <class T>
Matrix<T> Tape<T>::matrix(std::size_t rows, std::size_t cols, MatrixLabel label) {
  const std::size_t pitch = kernels::padded(cols);
  const NodeId out = next_block(rows * pitch);
  std::fill_n(data_ + out, rows * pitch, T(0));
  MatrixInfo matrix;
  matrix.rows = static_cast<std::uint32_t>(rows);
  matrix.cols = static_cast<std::uint32_t>(cols);
  matrix.pitch = static_cast<std::uint32_t>(pitch);
  matrix.out = out;
  matrix.label = label;
  matrices_.push_back(matrix);
  return Matrix<T>(*this, static_cast<MatrixId>(matrices_.size() - 1));
}

template <class T>
kernels::Args<T> Tape<T>::args(const MatrixInfo& matrix) {
  kernels::Args<T> x;
  x.out = {.data = data_ + matrix.out,
           .grad = grad_ + matrix.out,
           .rows = matrix.rows,
           .cols = matrix.cols,
           .pitch = matrix.pitch};
  if ((*table_)[matrix.op].reads_anywhere) {
    x.in[0] = {.data = data_, .grad = grad_};
  } else {
    for (std::size_t k = 0; k < kernels::kMaxOperands && matrix.operands[k] != kNoMatrix; ++k) {
      const MatrixInfo& in = matrices_[matrix.operands[k]];
      x.in[k] = {.data = data_ + in.out,
                 .grad = grad_ + in.out,
                 .rows = in.rows,
                 .cols = in.cols,
                 .pitch = in.pitch};
    }
  }
  x.ids = {ids_.data() + matrix.ids_begin, matrix.ids_count};
  x.saved = data_ + matrix.saved;
  x.number = matrix.number;
  return x;
}

template <class T>
Matrix<T> Tape<T>::record(Op op, std::initializer_list<Matrix<T>> operands, std::size_t rows,
                          std::size_t cols, std::span<const std::uint32_t> ids, double number) {
  const auto& row = (*table_)[op];
  MatrixInfo matrix;
  matrix.op = op;
  matrix.rows = static_cast<std::uint32_t>(rows);
  matrix.cols = static_cast<std::uint32_t>(cols);
  matrix.pitch = static_cast<std::uint32_t>(kernels::padded(cols));
  matrix.ids_begin = static_cast<std::uint32_t>(ids_.size());
  matrix.ids_count = static_cast<std::uint32_t>(ids.size());
  matrix.number = number;
  std::size_t k = 0;
  for (const Matrix<T>& operand : operands) {
    operand.check();
    if (&operand.tape() != this)
      throw TapeError(fmt::format("{}: expected operands of one tape, found two tapes", row.name));
    matrix.operands[k++] = operand.id();
    ++matrices_[operand.id()].readers;
  }
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  if (row.reads_anywhere)
    for (const NodeId id : ids)
      if (const MatrixId touched = matrix_of(id); touched != kNoMatrix) mark_elements(touched);
  matrix.out = next_block(rows * matrix.pitch);
  if (row.saved) matrix.saved = next_block(row.saved(args(matrix)));
  matrices_.push_back(matrix);
  const bool waits = in_sentences_ && cut_as(sentences_.back(), matrix);
  if (!waits) compute_waiting();
  make_record_room();
  *next_record_++ = {op, true, 0, matrix.out, 0, static_cast<MatrixId>(matrices_.size() - 1)};
  room_ = 0;
  if (waits)
    ++waiting_;
  else
    executor_.forward(row, args(matrix));
  return Matrix<T>(*this, static_cast<MatrixId>(matrices_.size() - 1));
}

template <class T>
bool Tape<T>::begin_sentences(std::span<const std::uint32_t> starts) {
  if (in_sentences_) return false;
  std::vector<PartBegin> parts = executor_.cut(starts);
  if (parts.empty()) return false;
  sentences_.push_back({records().size(), records().size(), std::move(parts)});
  in_sentences_ = true;
  return true;
}

template <class T>
void Tape<T>::end_sentences() {
  if (!in_sentences_) return;  // clear() has gone back to before it
  sentences_.back().end = records().size();
  in_sentences_ = false;
  waiting_ = 0;  // some are left if the caller threw
}

template <class T>
void Tape<T>::compute_waiting() {
  if (waiting_ == 0) return;
  tasks_.clear();
  for (std::size_t r = records().size() - std::exchange(waiting_, 0); r < records().size(); ++r) {
    const MatrixInfo& matrix = matrices_[records_[r].b];
    tasks_.push_back({&(*table_)[matrix.op], args(matrix)});
  }
  executor_.forward(tasks_, sentences_.back().parts);
}

// Whether an operation can be computed in those parts, from operands that are computed in them or
// before.
template <class T>
bool Tape<T>::cut_as(const Sentences& s, const MatrixInfo& matrix) const {
  if (matrix.rows != s.parts.back().row) return false;
  const Partition partition = (*table_)[matrix.op].partition;
  if (partition == Partition::product) return matrices_[matrix.operands[1]].op == Op::leaf;
  if (partition != Partition::sentences) return partition == Partition::rows;
  const std::uint32_t* const starts = ids_.data() + matrix.ids_begin;
  return std::all_of(s.parts.begin(), s.parts.end(), [&](const PartBegin& part) {
    return part.sentence < matrix.ids_count && starts[part.sentence] == part.row;
  });
}

template <class T>
typename Tape<T>::Mark Tape<T>::keep() {
  if (kept_.size <= always_kept_.size) kept_since_ = cleared_;
  kept_ = {size_, records().size(), matrices_.size(), ids_.size()};
  if (cleared_ == 0) always_kept_ = kept_;
  return kept_;
}

template <class T>
void Tape<T>::clear(const Mark& mark) {
  waiting_ -= std::min(waiting_, records().size() - mark.records);
  kept_ = mark;
  size_ = mark.size;
  next_record_ = records_.get() + mark.records;
  room_ = 0;
  matrices_.resize(mark.matrices);
  ids_.resize(mark.ids);
  if (!labels_.empty())
    labels_.erase(labels_.lower_bound(static_cast<NodeId>(mark.size)), labels_.end());
  for (; !sentences_.empty() && sentences_.back().end > mark.records; in_sentences_ = false)
    sentences_.pop_back();
  dirty_records_ = std::min(dirty_records_, mark.records);
  if (mark.records == 0)  // what is kept are leaves alone, and no record reads them any more
    for (MatrixInfo& matrix : matrices_) matrix.readers = 0;
  if (mark.size < always_kept_.size) always_kept_ = mark;
  cleared_ = ++generation_;
  moved_ = false;
}

template <class T>
void Tape<T>::weights_moved() {
  ++generation_;
  moved_ = true;
}

template <class T>
void Tape<T>::throw_stale() const {
  throw TapeError(
      moved_ ? "value: the weights have moved since it was computed; read it before the "
               "optimiser's step, or record it again"
             : "value: its step was cleared from the tape; read it before, or record it again");
}

template <class T>
std::size_t Tape<T>::memory() const {
  return 2 * capacity_ * sizeof(T) + record_capacity_ * sizeof(Record) +
         matrices_.capacity() * sizeof(MatrixInfo) + ids_.capacity() * sizeof(std::uint32_t);
}

template <class T>
T Tape<T>::grad(NodeId id) const {
  const MatrixId at = matrix_of(id);
  if (at == kNoMatrix) return grad_[id];
  if (matrices_[at].gradient_consumed)
    throw TapeError(
        "grad: the optimiser's step used this gradient up; ask for the step that keeps gradients");
  return matrices_[at].gradient_ready ? grad_[id] : T(0);
}

template <class T>
T* Tape<T>::grad_from(NodeId id) {
  for (MatrixInfo& matrix : matrices_) {
    const std::size_t size = std::size_t{matrix.rows} * matrix.pitch;
    if (matrix.op != Op::leaf || matrix.out + size <= id || matrix.gradient_ready) continue;
    std::fill_n(grad_ + matrix.out, size, T(0));
    matrix.gradient_ready = true;
  }
  return grad_ + id;
}

template <class T>
void Tape<T>::set_data(NodeId id, T value) {
  if (maker(id))
    throw TapeError(
        fmt::format("set_data: expected a leaf, found the result of {}; set the leaves it "
                    "comes from",
                    (*table_)[maker(id)->op].name));
  data_[id] = value;
}

template <class T>
const Record* Tape<T>::maker(NodeId id) const {
  const auto all = records();
  const auto after = std::upper_bound(all.begin(), all.end(), id,
                                      [](NodeId x, const Record& r) { return x < r.out; });
  if (after == all.begin()) return nullptr;
  const Record& record = *(after - 1);
  const bool made = record.is_matrix ? matrices_[record.b].covers(id) : record.out == id;
  return made ? &record : nullptr;
}

template <class T>
MatrixId Tape<T>::matrix_of(NodeId id) const {
  const auto after = std::upper_bound(matrices_.begin(), matrices_.end(), id,
                                      [](NodeId x, const MatrixInfo& r) { return x < r.out; });
  if (after == matrices_.begin() || !(after - 1)->covers(id)) return kNoMatrix;
  return static_cast<MatrixId>(after - 1 - matrices_.begin());
}

template <class T>
std::string Tape<T>::label(NodeId id) const {
  if (const auto found = labels_.find(id); found != labels_.end()) return found->second;
  const MatrixId at = matrix_of(id);
  if (at == kNoMatrix || !matrices_[at].label.format) return {};
  const MatrixInfo& matrix = matrices_[at];
  const std::size_t row = (id - matrix.out) / matrix.pitch, col = (id - matrix.out) % matrix.pitch;
  return matrix.label.format(matrix.label.context, matrix.label.tag, row, col);
}

template <class T>
void Tape<T>::set_label(NodeId id, std::string label) {
  labels_[id] = std::move(label);
}

template class Tape<float>;
template class Tape<double>;

}  // namespace glassbox
