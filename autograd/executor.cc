#include "autograd/executor.h"

#include <algorithm>

namespace glassbox {

using kernels::Args;
using kernels::MatrixView;
using kernels::OpRow;
using kernels::Partition;

namespace {

// Scalar operations that take about as long as waking the threads and waiting for them.
constexpr std::size_t kLeastWork = 150'000;

// Rows [begin, end) of a block.
template <class T>
void take_rows(MatrixView<T>& block, std::size_t begin, std::size_t end) {
  block.data += begin * block.pitch;
  if (block.grad) block.grad += begin * block.pitch;
  block.rows = static_cast<std::uint32_t>(end - begin);
}

template <class T>
Args<T> part_of(const OpRow<T>& row, const Args<T>& x, const PartBegin& begin,
                const PartBegin& end) {
  Args<T> mine = x;
  if (row.partition == Partition::sentences) {
    mine.first_sentence = begin.sentence;
    mine.end_sentence = end.sentence;
    return mine;
  }
  take_rows(mine.out, begin.row, end.row);
  take_rows(mine.in[0], begin.row, end.row);
  if (row.operands == 2 && row.partition != Partition::product)
    take_rows(mine.in[1], begin.row, end.row);
  if (!x.ids.empty()) mine.ids = x.ids.subspan(begin.row, end.row - begin.row);
  if (row.saved) mine.saved += begin.row * (row.saved(x) / x.out.rows);
  return mine;
}

template <class T>
std::size_t amount(const Task<T>& task) {
  const Args<T>& x = task.args;
  const std::size_t inner = task.row->partition == Partition::product ? x.in[1].rows : 16;
  return std::size_t{x.out.rows} * std::max(x.out.pitch, x.in[0].pitch) * inner;
}

template <class T>
void backward_here(const Task<T>& task) {
  if (task.updates) return task.row->fused_step(task.args, task.update);
  task.row->backward(task.args);
}

// What of a product's backward pass is cut by rows.
template <class T>
Args<T> without_weight(const Task<T>& task) {
  Args<T> x = task.args;
  if (task.row->partition == Partition::product) x.in[1].grad = nullptr;
  return x;
}

}  // namespace

template <class T>
bool Executor<T>::pays(std::span<const Task<T>> tasks) const {
  if (!threads_ || threads_->size() == 1) return false;
  std::size_t sum = 0;
  for (const Task<T>& task : tasks) sum += amount(task);
  return sum >= kLeastWork;
}

template <class T>
template <class F>
void Executor<T>::in_parts(const Task<T>& task, F f) const {
  const std::size_t parts = threads_->size(), rows = task.args.out.rows;
  const std::size_t sentences =
      task.row->partition == Partition::sentences ? task.args.ids.size() - 1 : 0;
  const auto begin = [&](std::size_t part) {
    return PartBegin{static_cast<std::uint32_t>(rows * part / parts),
                     static_cast<std::uint32_t>(sentences * part / parts)};
  };
  threads_->parallel_for(parts, [&](std::size_t part) {
    const PartBegin from = begin(part), to = begin(part + 1);
    if (from.row < to.row && (!sentences || from.sentence < to.sentence)) f(from, to);
  });
}

template <class T>
void Executor<T>::forward(const Task<T>& task) const {
  const OpRow<T>& row = *task.row;
  if (row.partition == Partition::none || !pays({&task, 1})) return row.forward(task.args);
  in_parts(task, [&](const PartBegin& from, const PartBegin& to) {
    row.forward(part_of(row, task.args, from, to));
  });
}

template <class T>
void Executor<T>::backward(const Task<T>& task) const {
  const OpRow<T>& row = *task.row;
  if (row.partition == Partition::none || !pays({&task, 1})) return backward_here(task);
  const Args<T> x = without_weight(task);
  in_parts(task, [&](const PartBegin& from, const PartBegin& to) {
    row.backward(part_of(row, x, from, to));
  });
  weights_backward({&task, 1});
}

template <class T>
std::vector<PartBegin> Executor<T>::cut(std::span<const std::uint32_t> starts) const {
  constexpr std::size_t kSentencesAPart = 4;
  if (!threads_ || threads_->size() == 1 || starts.size() <= kSentencesAPart * threads_->size())
    return {};
  const std::size_t parts = threads_->size(), rows = starts.back();
  std::vector<PartBegin> begins;
  for (std::size_t part = 0; part <= parts; ++part) {
    const std::size_t want = rows * part / parts;
    auto at = std::lower_bound(starts.begin(), starts.end(), want);
    if (at != starts.begin() && *at - want > want - *(at - 1)) --at;
    begins.push_back({*at, static_cast<std::uint32_t>(at - starts.begin())});
  }
  return begins;
}

template <class T>
void Executor<T>::forward(std::span<const Task<T>> tasks, std::span<const PartBegin> parts) const {
  if (!pays(tasks)) {
    for (const Task<T>& task : tasks) task.row->forward(task.args);
    return;
  }
  threads_->parallel_for(parts.size() - 1, [&](std::size_t part) {
    if (parts[part].row == parts[part + 1].row) return;
    for (const Task<T>& task : tasks)
      task.row->forward(part_of(*task.row, task.args, parts[part], parts[part + 1]));
  });
}

template <class T>
void Executor<T>::backward(std::span<const Task<T>> tasks, std::span<const PartBegin> parts) const {
  if (!pays(tasks)) {
    for (const Task<T>& task : tasks) backward_here(task);
    return;
  }
  threads_->parallel_for(parts.size() - 1, [&](std::size_t part) {
    if (parts[part].row == parts[part + 1].row) return;
    for (const Task<T>& task : tasks)
      if (!task.whole)
        task.row->backward(part_of(*task.row, without_weight(task), parts[part], parts[part + 1]));
  });
  weights_backward(tasks);
}

// What is left of the tasks in one line, each as long as it takes: a weight's columns in groups of
// two vectors, an operation that is not cut whole. Each thread takes as much of the line as the
// others.
template <class T>
void Executor<T>::weights_backward(std::span<const Task<T>> tasks) const {
  constexpr std::size_t kGroup = 2 * kernels::kLanes;
  struct Piece {
    const Task<T>* task;
    std::size_t count, length;  // groups, and the time each takes
  };
  // In scalar multiply-adds, as measured: a step of a weight is worth 24 of them, of a table's
  // scalar 32.
  std::vector<Piece> line;
  std::size_t total = 0;
  for (const Task<T>& task : tasks) {
    const Args<T>& x = task.args;
    if (task.whole)
      line.push_back({&task, 1, 32 * x.in[0].rows * x.in[0].pitch});
    else if (task.row->partition == Partition::product && x.in[1].grad)
      line.push_back({&task, (x.out.cols + kGroup - 1) / kGroup,
                      x.in[1].rows * kGroup * (x.out.rows + (task.updates ? 24 : 0))});
    else
      continue;
    total += line.back().count * line.back().length;
  }
  if (line.empty()) return;
  const std::size_t parts = threads_->size();
  threads_->parallel_for(parts, [&](std::size_t part) {
    std::size_t before = 0;
    for (const Piece& piece : line) {
      const auto first_of = [&](std::size_t p) {
        const std::size_t at = total * p / parts;
        return at <= before
                   ? 0
                   : std::min(piece.count, (at - before + piece.length / 2) / piece.length);
      };
      const std::size_t first = first_of(part), last = first_of(part + 1);
      before += piece.count * piece.length;
      if (first == last) continue;
      Task<T> mine = *piece.task;
      if (mine.whole) {
        backward_here(mine);
        continue;
      }
      const std::size_t begin = first * kGroup,
                        end = std::min<std::size_t>(last * kGroup, mine.args.out.cols);
      mine.args.in[0].grad = nullptr;
      for (MatrixView<T>* block : {&mine.args.out, &mine.args.in[1]}) {
        block->data += begin;
        block->grad += begin;
        block->cols = static_cast<std::uint32_t>(end - begin);
      }
      if (mine.updates) {
        mine.update.m[1] += begin;
        mine.update.v[1] += begin;
      }
      backward_here(mine);
    }
  });
}

template class Executor<float>;
template class Executor<double>;

}  // namespace glassbox
