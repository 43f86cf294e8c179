// Sums over a whole matrix: sum, mean, dot. One output.
//
// Sixteen virtual lanes, lane j for the columns that are j modulo 16, rows and columns rising; then
// a fixed tree. A running sum of very many numbers drifts, so lanes start anew after a block of
// 512, and the sums of blocks are added in pairs, pairs of pairs and so on. The order is the same
// on every target, and expand() shows it.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "kernels/expand-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kBlock = 512;  // elements; longer ones only where a row begins within

// Calls add(n, begin, end) for pieces of rows, and end_block() wherever a block ends.
template <class AddPiece, class EndBlock>
HWY_INLINE void for_each_piece(std::size_t rows, std::size_t cols, AddPiece add,
                               EndBlock end_block) {
  std::size_t filled = 0;
  for (std::size_t n = 0; n < rows; ++n)
    for (std::size_t begin = 0; begin < cols; begin += kBlock) {
      if (filled >= kBlock) {
        end_block();
        filled = 0;
      }
      const std::size_t end = std::min(cols, begin + kBlock);
      add(n, begin, end);
      filled += end - begin;
    }
  end_block();
}

// Adds sums in pairs of neighbours, their sums in pairs, and so on; what has no partner waits.
template <class S, class Add>
class PairSums {
 public:
  explicit PairSums(Add add) : add_(add) {}
  void add(S s) {
    for (std::size_t n = count_++; n & 1; n >>= 1) s = add_(waiting_[--size_], s);
    waiting_[size_++] = s;
  }
  // REQUIRES: something was added.
  S total() {
    while (size_ > 1) {
      --size_;
      waiting_[size_ - 1] = add_(waiting_[size_ - 1], waiting_[size_]);
    }
    return waiting_[0];
  }

 private:
  Add add_;
  std::array<S, 64> waiting_;  // one for each bit of count_ that is set
  std::size_t count_ = 0, size_ = 0;
};

// term(sums, n, m, lanes) adds `lanes` elements from column m of row n on to a part of the sums.
template <class T, class Term>
T reduce(const MatrixView<T>& a, Term term) {
  LaneSums<T> sums;
  PairSums<T, std::plus<T>> blocks{std::plus<T>()};
  for_each_piece(
      a.rows, a.cols,
      [&](std::size_t n, std::size_t begin, std::size_t end) {
        for_each_vector<T>(end - begin, [&](std::size_t i, std::size_t lanes) {
          auto& part = sums.at(i);
          part = term(part, n, begin + i, lanes);
        });
      },
      [&] {
        blocks.add(sums.total());
        sums = LaneSums<T>();
      });
  return blocks.total();
}

// The same as nodes: term(sums, n, m) adds one element.
template <class T, class Term>
Node<T> expand_reduce(const MatrixView<T>& a, Emitter<T>& e, Term term) {
  const auto add = [&e](Node<T> x, Node<T> y) { return e.apply(Op::add, x, y); };
  PairSums<Node<T>, decltype(add)> blocks(add);
  std::optional<LaneNodes<T>> sums(e);
  for_each_piece(
      a.rows, a.cols,
      [&](std::size_t n, std::size_t begin, std::size_t end) {
        for (std::size_t m = begin; m < end; ++m) term(*sums, n, m);
      },
      [&] {
        blocks.add(sums->total());
        sums.emplace(e);
      });
  return blocks.total();
}

template <class T>
T plain_sum(const MatrixView<T>& a) {
  const Full<T> d;
  return reduce(a, [&](auto part, std::size_t n, std::size_t m, std::size_t lanes) {
    return hn::Add(part, load_first(d, a.data + n * a.pitch + m, lanes));
  });
}

template <class T>
void add_to_all(const MatrixView<T>& a, T gain) {
  const Full<T> d;
  for (std::size_t n = 0; n < a.rows; ++n)
    for (std::size_t m = 0; m < a.pitch; m += hn::MaxLanes(d)) {
      T* grad = a.grad + n * a.pitch + m;
      hn::StoreU(hn::Add(a.first_writer ? hn::Zero(d) : hn::LoadU(d, grad),
                         hn::IfThenElseZero(visible(d, a.cols, m), hn::Set(d, gain))),
                 d, grad);
    }
}

template <class T>
T reciprocal_count(const MatrixView<T>& a) {
  return T(1) / static_cast<T>(std::size_t{a.rows} * a.cols);
}

template <class T>
Node<T> expand_plain_sum(const Args<T>& x, Emitter<T>& e) {
  return expand_reduce(x.in[0], e, [&](LaneNodes<T>& sums, std::size_t n, std::size_t m) {
    sums.add(m, e.operand(0, n * x.in[0].pitch + m));
  });
}

// d sum = sum of da
template <class T>
void sum_forward(const Args<T>& x) {
  x.out.data[0] = plain_sum(x.in[0]);
}
template <class T>
void sum_backward(const Args<T>& x) {
  if (x.in[0].grad) add_to_all(x.in[0], x.out.grad[0]);
}
template <class T>
void expand_sum(const Args<T>& x, Emitter<T>& e, std::size_t) {
  e.output(0, expand_plain_sum(x, e));
}

// mean = sum * (1 / count)
template <class T>
void mean_forward(const Args<T>& x) {
  x.out.data[0] = plain_sum(x.in[0]) * reciprocal_count<T>(x.in[0]);
}
template <class T>
void mean_backward(const Args<T>& x) {
  if (x.in[0].grad) add_to_all(x.in[0], x.out.grad[0] * reciprocal_count<T>(x.in[0]));
}
template <class T>
void expand_mean(const Args<T>& x, Emitter<T>& e, std::size_t) {
  const auto total = expand_plain_sum(x, e);
  e.output(0, e.apply(Op::fused_mul, total, e.constant(reciprocal_count<T>(x.in[0]))));
}

// dot = sum of a b, each product fused with its addition. REQUIRES: equal shapes.
template <class T>
void dot_forward(const Args<T>& x) {
  const Full<T> d;
  const auto &a = x.in[0], &b = x.in[1];
  x.out.data[0] = reduce(a, [&](auto part, std::size_t n, std::size_t m, std::size_t lanes) {
    return fma(load_first(d, a.data + n * a.pitch + m, lanes),
               load_first(d, b.data + n * b.pitch + m, lanes), part);
  });
}
// d_a += d_out b, d_b += d_out a
template <class T>
void dot_backward(const Args<T>& x) {
  const Full<T> d;
  const auto &a = x.in[0], &b = x.in[1];
  const auto g = hn::Set(d, x.out.grad[0]);
  const auto add = [&](const MatrixView<T>& to, const MatrixView<T>& other, std::size_t n,
                       std::size_t m) {
    if (!to.grad) return;
    T* grad = to.grad + n * to.pitch + m;
    const auto before = to.first_writer ? hn::Zero(d) : hn::LoadU(d, grad);
    const auto v = hn::LoadU(d, other.data + n * other.pitch + m);
    hn::StoreU(fma(g, hn::IfThenElseZero(visible(d, other.cols, m), v), before), d, grad);
  };
  for (std::size_t n = 0; n < a.rows; ++n)
    for (std::size_t m = 0; m < a.pitch; m += hn::MaxLanes(d)) {
      add(a, b, n, m);
      add(b, a, n, m);
    }
}
template <class T>
void expand_dot(const Args<T>& x, Emitter<T>& e, std::size_t) {
  const auto &a = x.in[0], &b = x.in[1];
  e.output(0, expand_reduce(a, e, [&](LaneNodes<T>& sums, std::size_t n, std::size_t m) {
             sums.multiply_add(m, e.operand(0, n * a.pitch + m), e.operand(1, n * b.pitch + m));
           }));
}

template <class T>
std::string reduce_mismatch(const Args<T>& x) {
  if (x.out.rows == 1 && x.out.cols == 1) return {};
  return "expected one output, found " + std::to_string(std::size_t{x.out.rows} * x.out.cols);
}
template <class T>
std::string dot_mismatch(const Args<T>& x) {
  if (x.in[0].rows == x.in[1].rows && x.in[0].cols == x.in[1].cols) return reduce_mismatch(x);
  return "expected operands of one shape, found two";
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::sum)] = {.name = "sum",
                                              .symbol = "sum",
                                              .operands = 1,
                                              .mismatch = reduce_mismatch<T>,
                                              .forward = sum_forward<T>,
                                              .backward = sum_backward<T>,
                                              .expand = expand_sum<T>};
  t.ops[static_cast<std::size_t>(Op::mean)] = {.name = "mean",
                                               .symbol = "mean",
                                               .operands = 1,
                                               .mismatch = reduce_mismatch<T>,
                                               .forward = mean_forward<T>,
                                               .backward = mean_backward<T>,
                                               .expand = expand_mean<T>};
  t.ops[static_cast<std::size_t>(Op::dot)] = {.name = "dot",
                                              .symbol = "dot",
                                              .operands = 2,
                                              .mismatch = dot_mismatch<T>,
                                              .forward = dot_forward<T>,
                                              .backward = dot_backward<T>,
                                              .expand = expand_dot<T>};
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(reduce_family)
}  // namespace glassbox::kernels
#endif
