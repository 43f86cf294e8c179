#include "autograd/parts.h"

#include <algorithm>

namespace glassbox {

using kernels::Args;
using kernels::Block;
using kernels::OpRow;
using kernels::Parts;

namespace {

// Scalar operations that take about as long as waking the threads and waiting for them.
constexpr std::size_t kLeastWork = 150'000;

// Rows [begin, end) of a block.
template <class T>
void take_rows(Block<T>& block, std::size_t begin, std::size_t end) {
  block.data += begin * block.pitch;
  if (block.grad) block.grad += begin * block.pitch;
  block.rows = static_cast<std::uint32_t>(end - begin);
}

template <class T>
Args<T> part_of(const OpRow<T>& row, const Args<T>& x, const PartBegin& begin, const PartBegin& end) {
  Args<T> mine = x;
  if (row.parts == Parts::sentences) {
    mine.first_sentence = begin.sentence;
    mine.end_sentence = end.sentence;
    return mine;
  }
  take_rows(mine.out, begin.row, end.row);
  take_rows(mine.in[0], begin.row, end.row);
  if (row.operands == 2 && row.parts != Parts::product) take_rows(mine.in[1], begin.row, end.row);
  if (!x.ids.empty()) mine.ids = x.ids.subspan(begin.row, end.row - begin.row);
  if (row.saved) mine.saved += begin.row * (row.saved(x) / x.out.rows);
  return mine;
}

template <class T>
std::size_t amount(const Work<T>& work) {
  const Args<T>& x = work.args;
  const std::size_t inner = work.row->parts == Parts::product ? x.in[1].rows : 16;
  return std::size_t{x.out.rows} * std::max(x.out.pitch, x.in[0].pitch) * inner;
}

template <class T>
void backward_here(const Work<T>& work) {
  if (work.updates) return work.row->backward_update(work.args, work.update);
  work.row->backward(work.args);
}

// What of a product's backward pass is cut by rows.
template <class T>
Args<T> without_weight(const Work<T>& work) {
  Args<T> x = work.args;
  if (work.row->parts == Parts::product) x.in[1].grad = nullptr;
  return x;
}

}  // namespace

template <class T>
bool PartRunner<T>::pays(std::span<const Work<T>> works) const {
  if (!threads_ || threads_->size() == 1) return false;
  std::size_t sum = 0;
  for (const Work<T>& work : works) sum += amount(work);
  return sum >= kLeastWork;
}

template <class T>
template <class F>
void PartRunner<T>::in_parts(const Work<T>& work, F f) const {
  const std::size_t parts = threads_->size(), rows = work.args.out.rows;
  const std::size_t sentences = work.row->parts == Parts::sentences ? work.args.ids.size() - 1 : 0;
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
void PartRunner<T>::forward(const Work<T>& work) const {
  const OpRow<T>& row = *work.row;
  if (row.parts == Parts::none || !pays({&work, 1})) return row.forward(work.args);
  in_parts(work, [&](const PartBegin& from, const PartBegin& to) {
    row.forward(part_of(row, work.args, from, to));
  });
}

template <class T>
void PartRunner<T>::backward(const Work<T>& work) const {
  const OpRow<T>& row = *work.row;
  if (row.parts == Parts::none || !pays({&work, 1})) return backward_here(work);
  const Args<T> x = without_weight(work);
  in_parts(work, [&](const PartBegin& from, const PartBegin& to) {
    row.backward(part_of(row, x, from, to));
  });
  weights_backward({&work, 1});
}

template <class T>
std::vector<PartBegin> PartRunner<T>::cut(std::span<const std::uint32_t> starts) const {
  constexpr std::size_t kSentencesAPart = 4;
  if (!threads_ || threads_->size() == 1 || starts.size() <= kSentencesAPart * threads_->size()) return {};
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
void PartRunner<T>::forward(std::span<const Work<T>> works, std::span<const PartBegin> parts) const {
  if (!pays(works)) {
    for (const Work<T>& work : works) work.row->forward(work.args);
    return;
  }
  threads_->parallel_for(parts.size() - 1, [&](std::size_t part) {
    if (parts[part].row == parts[part + 1].row) return;
    for (const Work<T>& work : works)
      work.row->forward(part_of(*work.row, work.args, parts[part], parts[part + 1]));
  });
}

template <class T>
void PartRunner<T>::backward(std::span<const Work<T>> works, std::span<const PartBegin> parts) const {
  if (!pays(works)) {
    for (const Work<T>& work : works) backward_here(work);
    return;
  }
  threads_->parallel_for(parts.size() - 1, [&](std::size_t part) {
    if (parts[part].row == parts[part + 1].row) return;
    for (const Work<T>& work : works)
      if (!work.whole)
        work.row->backward(part_of(*work.row, without_weight(work), parts[part], parts[part + 1]));
  });
  weights_backward(works);
}

// What is left of the works in one line, each as long as it takes: a weight's columns in groups of two vectors, an
// operation that is not cut whole. Each thread takes as much of the line as the others.
template <class T>
void PartRunner<T>::weights_backward(std::span<const Work<T>> works) const {
  constexpr std::size_t kGroup = 2 * kernels::kLanes;
  struct Piece {
    const Work<T>* work;
    std::size_t count, length;  // groups, and the time each takes
  };
  // In scalar multiply-adds, as measured: a step of a weight is worth 24 of them, of a table's scalar 32.
  std::vector<Piece> line;
  std::size_t total = 0;
  for (const Work<T>& work : works) {
    const Args<T>& x = work.args;
    if (work.whole)
      line.push_back({&work, 1, 32 * x.in[0].rows * x.in[0].pitch});
    else if (work.row->parts == Parts::product && x.in[1].grad)
      line.push_back({&work, (x.out.cols + kGroup - 1) / kGroup,
                      x.in[1].rows * kGroup * (x.out.rows + (work.updates ? 24 : 0))});
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
        return at <= before ? 0 : std::min(piece.count, (at - before + piece.length / 2) / piece.length);
      };
      const std::size_t first = first_of(part), last = first_of(part + 1);
      before += piece.count * piece.length;
      if (first == last) continue;
      Work<T> mine = *piece.work;
      if (mine.whole) {
        backward_here(mine);
        continue;
      }
      const std::size_t begin = first * kGroup, end = std::min<std::size_t>(last * kGroup, mine.args.out.cols);
      mine.args.in[0].grad = nullptr;
      for (Block<T>* block : {&mine.args.out, &mine.args.in[1]}) {
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

template class PartRunner<float>;
template class PartRunner<double>;

}  // namespace glassbox
