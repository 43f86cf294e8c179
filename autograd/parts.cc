#include "autograd/parts.h"

#include <algorithm>

namespace glassbox {

using kernels::Args;
using kernels::Block;
using kernels::OpRow;
using kernels::Parts;
using kernels::Update;

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

}  // namespace

template <class T>
bool PartRunner<T>::pays(const OpRow<T>& row, const Args<T>& x) const {
  if (!threads_ || threads_->size() == 1 || row.parts == Parts::none || x.out.rows < 2) return false;
  const std::size_t inner = row.parts == Parts::product ? x.in[1].rows : 16;
  const std::size_t outputs = std::max(x.out.pitch, x.in[0].pitch);
  return std::size_t{x.out.rows} * outputs * inner >= kLeastWork;
}

template <class T>
template <class F>
void PartRunner<T>::in_rows(const OpRow<T>& row, const Args<T>& x, F f) const {
  const std::size_t parts = threads_->size();
  if (row.parts == Parts::sentences) {
    const std::size_t sentences = x.ids.size() - 1;
    threads_->parallel_for(parts, [&](std::size_t part) {
      Args<T> mine = x;
      mine.first_sentence = static_cast<std::uint32_t>(sentences * part / parts);
      mine.end_sentence = static_cast<std::uint32_t>(sentences * (part + 1) / parts);
      if (mine.first_sentence < mine.end_sentence) f(mine);
    });
    return;
  }
  const std::size_t rows = x.out.rows, saved = row.saved ? row.saved(x) / rows : 0;
  threads_->parallel_for(parts, [&](std::size_t part) {
    const std::size_t begin = rows * part / parts, end = rows * (part + 1) / parts;
    if (begin == end) return;
    Args<T> mine = x;
    take_rows(mine.out, begin, end);
    take_rows(mine.in[0], begin, end);
    if (row.operands == 2 && row.parts != Parts::product) take_rows(mine.in[1], begin, end);
    if (!x.ids.empty()) mine.ids = x.ids.subspan(begin, end - begin);
    mine.saved += begin * saved;
    f(mine);
  });
}

// Columns of a weight, in groups of two vectors; f also gets where they begin.
template <class T>
template <class F>
void PartRunner<T>::in_columns(const Args<T>& x, F f) const {
  constexpr std::size_t kGroup = 2 * kernels::kLanes;
  const std::size_t parts = threads_->size(), cols = x.out.cols;
  const std::size_t groups = (cols + kGroup - 1) / kGroup;
  threads_->parallel_for(parts, [&](std::size_t part) {
    const std::size_t begin = groups * part / parts * kGroup;
    const std::size_t end = std::min(groups * (part + 1) / parts * kGroup, cols);
    if (begin >= end) return;
    Args<T> mine = x;
    mine.in[0].grad = nullptr;
    for (Block<T>* block : {&mine.out, &mine.in[1]}) {
      block->data += begin;
      block->grad += begin;
      block->cols = static_cast<std::uint32_t>(end - begin);
    }
    f(mine, begin);
  });
}

template <class T>
void PartRunner<T>::forward(const OpRow<T>& row, const Args<T>& x) const {
  if (!pays(row, x)) return row.forward(x);
  in_rows(row, x, [&](const Args<T>& part) { row.forward(part); });
}

template <class T>
void PartRunner<T>::backward(const OpRow<T>& row, const Args<T>& x) const {
  if (!pays(row, x)) return row.backward(x);
  if (row.parts != Parts::product) return in_rows(row, x, [&](const Args<T>& part) { row.backward(part); });
  Args<T> inputs = x;  // of a product: the gradient of its input by rows, then that of its weight by columns
  inputs.in[1].grad = nullptr;
  in_rows(row, inputs, [&](const Args<T>& part) { row.backward(part); });
  in_columns(x, [&](const Args<T>& part, std::size_t) { row.backward(part); });
}

template <class T>
void PartRunner<T>::backward_update(const OpRow<T>& row, const Args<T>& x,
                                    const Update<T>& update) const {
  if (row.parts != Parts::product || !pays(row, x)) return row.backward_update(x, update);
  Args<T> inputs = x;
  inputs.in[1].grad = nullptr;
  in_rows(row, inputs, [&](const Args<T>& part) { row.backward(part); });
  in_columns(x, [&](const Args<T>& part, std::size_t begin) {
    Update<T> mine = update;
    mine.m[1] += begin;
    mine.v[1] += begin;
    row.backward_update(part, mine);
  });
}

template class PartRunner<float>;
template class PartRunner<double>;

}  // namespace glassbox
