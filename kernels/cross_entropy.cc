// Softmax with cross-entropy: the loss of each row in nats, by log-sum-exp, never as the log of a
// probability, so that any finite logits give a finite loss.
//
//   in[0] = z (N, V), out (N, 1); ids = the target of each row
//   saved, row by row: exponentials (pitch) of a small vocabulary, then largest logit and sum
//   loss = log(sum of exp(z_i - max)) + max - z_target
//   d_z_i = exp(z_i - max) * (d_loss * (1 / sum)), less d_loss at the target
//
// Where the target's probability p nears 1 the loss nears 0 as a difference of numbers that do not:
// nn/layers.h says how many digits are left. A logarithm of 1 + the others' sum would keep them
// all, and change the last bits of losses that are promised.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cross_entropy.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>

#include "kernels/exp-inl.h"
#include "kernels/expand-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE T row_max(const T* z, std::size_t cols) {
  const Full<T> d;
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto max_logit = lowest;
  for_each_vector<T>(cols, [&](std::size_t i, std::size_t lanes) {
    max_logit =
        hn::Max(max_logit, hn::IfThenElse(hn::FirstN(d, lanes), hn::LoadU(d, z + i), lowest));
  });
  return hn::GetLane(hn::MaxOfLanes(d, max_logit));
}

// A large vocabulary's exponentials would be the logits' memory once more, and to fetch them takes
// as long as to compute them again, with the same bits.
template <class T>
HWY_INLINE bool keeps_exponentials(const Args<T>& x) {
  return x.in[0].pitch <= 1024;
}
template <class T>
HWY_INLINE std::size_t saved_row_size(const Args<T>& x) {
  return keeps_exponentials(x) ? x.in[0].pitch + kLanes : kLanes;
}

// exp(z_i - max) of the vector from column i on, of which the first `lanes` are columns.
template <class T, class D = Full<T>>
HWY_INLINE hn::Vec<D> exponential(const T* z, std::size_t i, std::size_t lanes, T max_logit) {
  const D d;
  return hn::IfThenElseZero(hn::FirstN(d, lanes),
                            exp(d, hn::Sub(hn::LoadU(d, z + i), hn::Set(d, max_logit))));
}

template <class T>
void cross_entropy_forward(const Args<T>& x) {
  const Full<T> d;
  const One<T> one;
  const std::size_t pitch = x.in[0].pitch, cols = x.in[0].cols, saved_size = saved_row_size(x);
  const bool keeps = keeps_exponentials(x);
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const T* z = x.in[0].data + n * pitch;
    T *e = x.saved + n * saved_size, *last = e + saved_size - kLanes;
    const T max_logit = row_max(z, cols);
    LaneSums<T> sums;
    for_each_vector<T>(cols, [&](std::size_t i, std::size_t lanes) {
      const auto v = exponential(z, i, lanes, max_logit);
      auto& part = sums.at(i);
      part = hn::Add(part, v);
      if (keeps) hn::StoreU(v, d, e + i);
    });
    if (keeps) std::fill_n(e + cols, pitch - cols, T(0));  // the gradients of pads are 0
    const T sum = sums.total();
    last[0] = sum;
    last[1] = max_logit;
    const T log_sum = hn::GetLane(log(one, hn::Set(one, sum)));
    x.out.data[n * x.out.pitch] = log_sum + max_logit - z[x.ids[n]];
  }
}

template <class T>
void cross_entropy_backward(const Args<T>& x) {
  if (!x.in[0].grad) return;
  const Full<T> d;
  const std::size_t pitch = x.in[0].pitch, cols = x.in[0].cols, saved_size = saved_row_size(x);
  for (std::size_t n = 0; n < x.out.rows; ++n) {
    const T* z = x.in[0].data + n * pitch;
    const T *e = x.saved + n * saved_size, *last = e + saved_size - kLanes;
    T* d_z = x.in[0].grad + n * pitch;
    const T g = x.out.grad[n * x.out.pitch];
    const T scale = g * (T(1) / last[0]);
    const std::size_t target = x.ids[n];
    const T before = x.in[0].first_writer ? T(0) : d_z[target];
    T at_target(0);
    const auto add = [&](std::size_t i, auto v) {
      const auto start = x.in[0].first_writer ? hn::Zero(d) : hn::LoadU(d, d_z + i);
      hn::StoreU(hn::Add(start, hn::Mul(v, hn::Set(d, scale))), d, d_z + i);
    };
    if (keeps_exponentials(x)) {
      for (std::size_t i = 0; i < pitch; i += hn::MaxLanes(d)) add(i, hn::LoadU(d, e + i));
      at_target = e[target];
    } else {
      for (std::size_t i = 0; i < pitch; i += hn::MaxLanes(d))
        add(i, exponential(z, i, i < cols ? cols - i : 0, last[1]));
      const One<T> one;
      at_target = hn::GetLane(exp(one, hn::Sub(hn::Set(one, z[target]), hn::Set(one, last[1]))));
    }
    d_z[target] = (before - g) + at_target * scale;
  }
}

template <class T>
void expand_cross_entropy(const Args<T>& x, Emitter<T>& e, std::size_t n) {
  const std::size_t start = n * x.in[0].pitch;
  const auto max_logit = e.constant(row_max(x.in[0].data + start, x.in[0].cols));
  LaneNodes<T> sums(e);
  for (std::size_t i = 0; i < x.in[0].cols; ++i)
    sums.add(i, e.apply(Op::exp, e.apply(Op::sub, e.operand(0, start + i), max_logit)));
  const auto log_sum = e.apply(Op::add, e.apply(Op::log, sums.total()), max_logit);
  e.output(0, e.apply(Op::sub, log_sum, e.operand(0, start + x.ids[n])));
}

template <class T>
std::string cross_entropy_mismatch(const Args<T>& x) {
  if (x.ids.size() != x.in[0].rows || x.out.rows != x.in[0].rows || x.out.cols != 1)
    return "expected a target for each of " + std::to_string(x.in[0].rows) + " rows, found " +
           std::to_string(x.ids.size());
  const std::uint32_t tokens = x.in[0].cols;
  const auto bad = std::find_if(x.ids.begin(), x.ids.end(), [&](auto id) { return id >= tokens; });
  if (bad == x.ids.end()) return {};
  return "expected targets below " + std::to_string(tokens) + ", found " + std::to_string(*bad);
}

template <class T>
std::size_t cross_entropy_saved(const Args<T>& x) {
  return x.out.rows * saved_row_size(x);
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::cross_entropy)] = {.name = "cross_entropy",
                                                        .symbol = "cross_entropy",
                                                        .operands = 1,
                                                        .mismatch = cross_entropy_mismatch<T>,
                                                        .forward = cross_entropy_forward<T>,
                                                        .backward = cross_entropy_backward<T>,
                                                        .expand = expand_cross_entropy<T>,
                                                        .saved = cross_entropy_saved<T>,
                                                        .partition = Partition::rows};
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(cross_entropy_family)
}  // namespace glassbox::kernels
#endif
