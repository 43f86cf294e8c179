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

template <class T>
void take_rows(MatrixView<T>& matrix, const Chunk& chunk) {
  matrix.data += std::size_t{chunk.first_row} * matrix.pitch;
  if (matrix.grad) matrix.grad += std::size_t{chunk.first_row} * matrix.pitch;
  matrix.rows = chunk.end_row - chunk.first_row;
}

template <class T>
Args<T> slice(const OpRow<T>& row, const Args<T>& x, const Chunk& chunk) {
  Args<T> mine = x;
  if (row.partition == Partition::sentences) {
    mine.first_sentence = chunk.first_sentence;
    mine.end_sentence = chunk.end_sentence;
    return mine;
  }
  take_rows(mine.out, chunk);
  take_rows(mine.in[0], chunk);
  if (row.operands == 2 && row.partition != Partition::product) take_rows(mine.in[1], chunk);
  if (!x.ids.empty()) mine.ids = x.ids.subspan(chunk.first_row, mine.out.rows);
  if (row.saved) mine.saved += chunk.first_row * (row.saved(x) / x.out.rows);
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
bool Executor<T>::worth_threads(std::span<const Task<T>> tasks) const {
  if (!threads_ || threads_->size() == 1) return false;
  std::size_t sum = 0;
  for (const Task<T>& task : tasks) sum += amount(task);
  return sum >= kLeastWork;
}

template <class T>
template <class F>
void Executor<T>::for_each_chunk(const Task<T>& task, F f) const {
  const std::size_t chunks = threads_->size(), rows = task.args.out.rows;
  const std::size_t sentences =
      task.row->partition == Partition::sentences ? task.args.ids.size() - 1 : 0;
  threads_->parallel_for(chunks, [&](std::size_t i) {
    const auto share = [&](std::size_t of, std::size_t at) {
      return static_cast<std::uint32_t>(of * at / chunks);
    };
    const Chunk chunk{share(rows, i), share(rows, i + 1), share(sentences, i),
                      share(sentences, i + 1)};
    if (chunk.first_row < chunk.end_row &&
        (!sentences || chunk.first_sentence < chunk.end_sentence))
      f(chunk);
  });
}

template <class T>
void Executor<T>::forward(const Task<T>& task) const {
  const OpRow<T>& row = *task.row;
  if (row.partition == Partition::none || !worth_threads({&task, 1})) return row.forward(task.args);
  for_each_chunk(task, [&](const Chunk& chunk) { row.forward(slice(row, task.args, chunk)); });
}

template <class T>
void Executor<T>::backward(const Task<T>& task) const {
  const OpRow<T>& row = *task.row;
  if (row.partition == Partition::none || !worth_threads({&task, 1})) return backward_here(task);
  const Args<T> x = without_weight(task);
  for_each_chunk(task, [&](const Chunk& chunk) { row.backward(slice(row, x, chunk)); });
  weights_backward({&task, 1});
}

template <class T>
std::vector<Chunk> Executor<T>::cut(std::span<const std::uint32_t> starts) const {
  constexpr std::size_t kSentencesAThread = 4;
  if (!threads_ || threads_->size() == 1 || starts.size() <= kSentencesAThread * threads_->size())
    return {};
  const std::size_t count = threads_->size(), rows = starts.back();
  std::vector<Chunk> chunks;
  Chunk chunk{0, 0, 0, 0};
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t want = rows * i / count;
    auto at = std::lower_bound(starts.begin(), starts.end(), want);
    if (at != starts.begin() && *at - want > want - *(at - 1)) --at;
    chunk = {chunk.end_row, *at, chunk.end_sentence,
             static_cast<std::uint32_t>(at - starts.begin())};
    chunks.push_back(chunk);
  }
  return chunks;
}

template <class T>
void Executor<T>::forward(std::span<const Task<T>> tasks, std::span<const Chunk> chunks) const {
  if (!worth_threads(tasks)) {
    for (const Task<T>& task : tasks) task.row->forward(task.args);
    return;
  }
  threads_->parallel_for(chunks.size(), [&](std::size_t i) {
    if (chunks[i].first_row == chunks[i].end_row) return;
    for (const Task<T>& task : tasks) task.row->forward(slice(*task.row, task.args, chunks[i]));
  });
}

template <class T>
void Executor<T>::backward(std::span<const Task<T>> tasks, std::span<const Chunk> chunks) const {
  if (!worth_threads(tasks)) {
    for (const Task<T>& task : tasks) backward_here(task);
    return;
  }
  threads_->parallel_for(chunks.size(), [&](std::size_t i) {
    if (chunks[i].first_row == chunks[i].end_row) return;
    for (const Task<T>& task : tasks)
      if (!task.whole) task.row->backward(slice(*task.row, without_weight(task), chunks[i]));
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
  const std::size_t threads = threads_->size();
  threads_->parallel_for(threads, [&](std::size_t thread) {
    std::size_t before = 0;
    for (const Piece& piece : line) {
      const auto first_of = [&](std::size_t t) {
        const std::size_t at = total * t / threads;
        return at <= before
                   ? 0
                   : std::min(piece.count, (at - before + piece.length / 2) / piece.length);
      };
      const std::size_t first = first_of(thread), last = first_of(thread + 1);
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
      for (MatrixView<T>* matrix : {&mine.args.out, &mine.args.in[1]}) {
        matrix->data += begin;
        matrix->grad += begin;
        matrix->cols = static_cast<std::uint32_t>(end - begin);
      }
      mine.update.skip_columns(1, begin);
      backward_here(mine);
    }
  });
}

template class Executor<float>;
template class Executor<double>;

}  // namespace glassbox
