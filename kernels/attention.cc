// Causal multi-head attention (Vaswani et al. 2017, arXiv:1706.03762, section 3.2), on stacked sentences,
// against a growing cache of the graph, and against inference's cache: one row function for all three.
//
// For a query at position i of its sentence, head h, D = C / H:
//   score_t  = (chain over j of q_j k_tj) * (1 / sqrt(D))    t = 0 .. i: later keys do not exist
//   e_t      = exp(score_t - max),  weight_t = e_t * (1 / sum of e_t)
//   out_j    = chain over t of weight_t v_tj
// Scores run with lanes over positions (keys turned round), outputs with lanes over a head's dimensions.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cc"
#include <hwy/foreach_target.h>

#include <limits>
#include <vector>

#include "kernels/exp-inl.h"
#include "kernels/expand-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE T score_scale(std::size_t head_dim) {
  const One<T> d;
  return hn::GetLane(
      hn::Div(hn::Set(d, 1), hn::Sqrt(hn::Set(d, static_cast<T>(head_dim)))));
}

constexpr std::size_t kHeads = 4;  // computed side by side

// Most sentences are short: up to so many positions take half the lanes, which costs half where a processor
// computes 16 lanes in two goes.
constexpr std::size_t kNarrow = 8;

// Calls f(d) with the widest vector that divides a head.
template <class T, class F>
HWY_INLINE void with_head_vector(std::size_t head_dim, F f) {
  if (head_dim % 16 == 0) return f(hn::CappedTag<T, 16>());
  if (head_dim % 8 == 0) return f(hn::CappedTag<T, 8>());
  if (head_dim % 4 == 0) return f(hn::CappedTag<T, 4>());
  f(One<T>());
}

// G heads of one query row side by side, from head `first` on: each is a handful of vectors that wait for one
// another, and the chains of one head run while another's wait. See AttendArgs.
template <std::size_t G, std::size_t Lanes, class T, class D>
HWY_INLINE void attend_heads(D dims, const AttendArgs<T>& x, std::size_t first) {
  const hn::CappedTag<T, Lanes> d;
  using V = hn::Vec<hn::CappedTag<T, Lanes>>;
  const std::size_t head_dim = x.head_dim, stride = padded(x.positions);
  const auto scale = hn::Set(d, score_scale<T>(head_dim));
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  T* e = x.exponentials + first * stride;
  T* p = x.weights + first * stride;
  V highest[G];
  for (auto& v : highest) v = lowest;
  for (std::size_t t = 0; t < x.positions; t += hn::MaxLanes(d)) {
    V sum[G];
    for (auto& v : sum) v = hn::Zero(d);
    for (std::size_t j = 0; j < head_dim; ++j)
      for (std::size_t g = 0; g < G; ++g) {
        const std::size_t c = (first + g) * head_dim + j;
        sum[g] = fma(hn::Set(d, x.query[c]), hn::LoadU(d, x.keys + c * x.keys_pitch + t), sum[g]);
      }
    const auto mask = hn::FirstN(d, x.positions - t);
    for (std::size_t g = 0; g < G; ++g) {
      const auto score = hn::Mul(sum[g], scale);
      highest[g] = hn::Max(highest[g], hn::IfThenElse(mask, score, lowest));
      hn::StoreU(score, d, e + g * stride + t);
    }
  }
  for (auto& v : highest) v = hn::MaxOfLanes(d, v);
  LaneSums<T, Lanes> sums[G];
  for (std::size_t t = 0; t < x.positions; t += hn::MaxLanes(d)) {
    const auto mask = hn::FirstN(d, x.positions - t);
    for (std::size_t g = 0; g < G; ++g) {
      T* at = e + g * stride + t;
      const auto v = hn::IfThenElseZero(mask, exp(d, hn::Sub(hn::LoadU(d, at), highest[g])));
      auto& part = sums[g].part[t / LaneSums<T, Lanes>::kWidth % LaneSums<T, Lanes>::kParts];
      part = hn::Add(part, v);
      hn::StoreU(v, d, at);
    }
  }
  for (std::size_t g = 0; g < G; ++g) x.inverse_sums[first + g] = T(1) / sums[g].total();
  for (std::size_t t = 0; t < x.positions; t += hn::MaxLanes(d))
    for (std::size_t g = 0; g < G; ++g)
      hn::StoreU(hn::Mul(hn::LoadU(d, e + g * stride + t), hn::Set(d, x.inverse_sums[first + g])), d,
                 p + g * stride + t);
  for (std::size_t j = 0; j < head_dim; j += hn::MaxLanes(dims)) {
    hn::Vec<D> sum[G];
    for (auto& v : sum) v = hn::Zero(dims);
    for (std::size_t t = 0; t < x.positions; ++t)
      for (std::size_t g = 0; g < G; ++g)
        sum[g] = fma(hn::Set(dims, p[g * stride + t]),
                     hn::LoadU(dims, x.values[t] + (first + g) * head_dim + j), sum[g]);
    for (std::size_t g = 0; g < G; ++g)
      hn::StoreU(sum[g], dims, x.out + (first + g) * head_dim + j);
  }
}

// One query row.
template <std::size_t Lanes, class T, class D>
HWY_INLINE void attend_row(D dims, const AttendArgs<T>& x) {
  std::size_t h = 0;
  for (; h + kHeads <= x.heads; h += kHeads) attend_heads<kHeads, Lanes>(dims, x, h);
  for (; h < x.heads; ++h) attend_heads<1, Lanes>(dims, x, h);
}

template <class T>
void attend(const AttendArgs<T>& x) {
  with_head_vector<T>(x.head_dim, [&](auto dims) {
    if (x.positions <= kNarrow) return attend_row<kNarrow>(dims, x);
    attend_row<kLanes>(dims, x);
  });
}

// The gradients that one query row passes on, given its d_out.
//   d weight_t = chain over j of d_out_j v_tj       d v_t += weight_t d_out
//   d e_t      = d weight_t r + d_z,  r = 1 / z, d_z = -(sum over t of d weight_t e_t) r^2
//   d score_t  = d e_t e_t * scale                  d q += score chain over t;  d k_t += d score_t q
template <class T>
struct RowGradient {
  const T* query;
  const T* d_out;
  const T* const* keys;    // keys[t] points at row t's keys (C)
  const T* values_turned;  // [C][pitch], pads 0
  std::size_t pitch;
  std::size_t positions, heads, head_dim;
  const T *exponentials, *weights, *inverse_sums;
  T* d_query;
  T* const* d_keys;
  T* const* d_values;
  T* scratch;  // (kHeads, padded(positions))
};

// G heads side by side, as in attend_heads().
template <std::size_t G, std::size_t Lanes, class T, class D>
HWY_INLINE void attend_heads_backward(D dims, const RowGradient<T>& x, std::size_t first) {
  const hn::CappedTag<T, Lanes> d;
  using V = hn::Vec<hn::CappedTag<T, Lanes>>;
  const std::size_t head_dim = x.head_dim, stride = padded(x.positions);
  const auto scale = hn::Set(d, score_scale<T>(head_dim));
  const T* e = x.exponentials + first * stride;
  const T* p = x.weights + first * stride;
  LaneSums<T, Lanes> sums[G];
  for (std::size_t t = 0; t < x.positions; t += hn::MaxLanes(d)) {
    V d_weight[G];
    for (auto& v : d_weight) v = hn::Zero(d);
    for (std::size_t j = 0; j < head_dim; ++j)
      for (std::size_t g = 0; g < G; ++g) {
        const std::size_t c = (first + g) * head_dim + j;
        d_weight[g] = fma(hn::Set(d, x.d_out[c]), hn::LoadU(d, x.values_turned + c * x.pitch + t), d_weight[g]);
      }
    for (std::size_t g = 0; g < G; ++g) {
      auto& part = sums[g].part[t / LaneSums<T, Lanes>::kWidth % LaneSums<T, Lanes>::kParts];
      part = fma(d_weight[g], hn::LoadU(d, e + g * stride + t), part);
      hn::StoreU(d_weight[g], d, x.scratch + g * stride + t);
    }
  }
  for (std::size_t g = 0; g < G; ++g) {
    const T r = x.inverse_sums[first + g];
    const auto d_z = hn::Set(d, -(sums[g].total() * (r * r)));
    for (std::size_t t = 0; t < x.positions; t += hn::MaxLanes(d)) {
      T* const d_score = x.scratch + g * stride + t;
      const auto d_e = hn::Add(hn::Mul(hn::LoadU(d, d_score), hn::Set(d, r)), d_z);
      hn::StoreU(hn::Mul(hn::Mul(d_e, hn::LoadU(d, e + g * stride + t)), scale), d, d_score);
    }
  }
  for (std::size_t j = 0; j < head_dim; j += hn::MaxLanes(dims)) {
    hn::Vec<D> q[G], d_out[G], d_q[G];
    for (std::size_t g = 0; g < G; ++g) {
      const std::size_t c = (first + g) * head_dim + j;
      q[g] = hn::LoadU(dims, x.query + c);
      d_out[g] = hn::LoadU(dims, x.d_out + c);
      d_q[g] = hn::LoadU(dims, x.d_query + c);
    }
    for (std::size_t t = 0; t < x.positions; ++t)
      for (std::size_t g = 0; g < G; ++g) {
        const std::size_t c = (first + g) * head_dim + j;
        const auto s = hn::Set(dims, x.scratch[g * stride + t]);
        d_q[g] = fma(s, hn::LoadU(dims, x.keys[t] + c), d_q[g]);
        hn::StoreU(fma(s, q[g], hn::LoadU(dims, x.d_keys[t] + c)), dims, x.d_keys[t] + c);
        hn::StoreU(fma(hn::Set(dims, p[g * stride + t]), d_out[g], hn::LoadU(dims, x.d_values[t] + c)), dims,
                   x.d_values[t] + c);
      }
    for (std::size_t g = 0; g < G; ++g) hn::StoreU(d_q[g], dims, x.d_query + (first + g) * head_dim + j);
  }
}

template <std::size_t Lanes, class T, class D>
HWY_INLINE void attend_row_backward(D dims, const RowGradient<T>& x) {
  std::size_t h = 0;
  for (; h + kHeads <= x.heads; h += kHeads) attend_heads_backward<kHeads, Lanes>(dims, x, h);
  for (; h < x.heads; ++h) attend_heads_backward<1, Lanes>(dims, x, h);
}

// Where the rows of one sentence lie: places of query-key-value rows in in[0].
template <class T>
struct Sentence {
  std::vector<std::size_t> row;         // of each position
  std::size_t first_query = 0;          // queries are those of positions first_query on
  std::size_t first_out = 0;            // output row of the first query
};

template <class T>
struct Scratch {
  std::vector<T> turned, row;
  std::vector<const T*> keys, values;
  std::vector<T*> d_keys, d_values;
};

// What forward keeps, row by row of the output: exponentials and weights (H, padded(longest)) each, then
// inverse sums (H).
template <class T>
struct SavedRow {
  T *exponentials, *weights, *inverse_sums;
};
template <class T>
std::size_t saved_row_size(std::size_t heads, std::size_t longest) {
  return 2 * heads * padded(longest) + padded(heads);
}
template <class T>
SavedRow<T> saved_row(T* saved, std::size_t n, std::size_t heads, std::size_t longest) {
  T* at = saved + n * saved_row_size<T>(heads, longest);
  const std::size_t size = heads * padded(longest);
  return {at, at + size, at + 2 * size};
}

// to[j][t] = column `first + j` of the sentence's row t; [C][pitch], pads 0.
template <class T>
void turn_round(const T* data, const std::vector<std::size_t>& row, std::size_t first,
                std::size_t width, std::vector<T>& to) {
  const std::size_t pitch = padded(row.size());
  to.assign(width * pitch, T(0));
  for (std::size_t t = 0; t < row.size(); ++t) {
    const T* from = data + row[t] + first;
    for (std::size_t j = 0; j < width; ++j) to[j * pitch + t] = from[j];
  }
}

template <class T>
HWY_NOINLINE void sentence_forward(const Args<T>& x, const Sentence<T>& s, std::size_t longest,
                                   Scratch<T>& scratch) {
  const std::size_t width = x.out.cols, heads = static_cast<std::size_t>(x.number);
  const T* data = x.in[0].data;
  turn_round(data, s.row, width, width, scratch.turned);
  scratch.values.clear();
  for (const std::size_t row : s.row) scratch.values.push_back(data + row + 2 * width);
  for (std::size_t i = s.first_query; i < s.row.size(); ++i) {
    const std::size_t n = s.first_out + i - s.first_query;
    const auto kept = saved_row(x.saved, n, heads, longest);
    attend<T>({.query = data + s.row[i], .keys = scratch.turned.data(),
               .keys_pitch = padded(s.row.size()), .values = scratch.values.data(),
               .positions = i + 1, .heads = heads, .head_dim = width / heads,
               .out = x.out.data + n * x.out.pitch, .exponentials = kept.exponentials,
               .weights = kept.weights, .inverse_sums = kept.inverse_sums});
  }
}

template <class T>
HWY_NOINLINE void sentence_backward(const Args<T>& x, const Sentence<T>& s, std::size_t longest,
                                    Scratch<T>& scratch) {
  const std::size_t width = x.out.cols, heads = static_cast<std::size_t>(x.number);
  const T* data = x.in[0].data;
  T* grad = x.in[0].grad;
  turn_round(data, s.row, 2 * width, width, scratch.turned);
  scratch.row.resize(kHeads * padded(s.row.size()));
  scratch.keys.clear();
  scratch.d_keys.clear();
  scratch.d_values.clear();
  for (const std::size_t row : s.row) {
    scratch.keys.push_back(data + row + width);
    scratch.d_keys.push_back(grad + row + width);
    scratch.d_values.push_back(grad + row + 2 * width);
  }
  with_head_vector<T>(width / heads, [&](auto dims) {
    for (std::size_t i = s.first_query; i < s.row.size(); ++i) {
      const std::size_t n = s.first_out + i - s.first_query;
      const auto kept = saved_row(x.saved, n, heads, longest);
      const RowGradient<T> row{
          .query = data + s.row[i], .d_out = x.out.grad + n * x.out.pitch, .keys = scratch.keys.data(),
          .values_turned = scratch.turned.data(), .pitch = padded(s.row.size()), .positions = i + 1, .heads = heads,
          .head_dim = width / heads, .exponentials = kept.exponentials, .weights = kept.weights,
          .inverse_sums = kept.inverse_sums, .d_query = grad + s.row[i], .d_keys = scratch.d_keys.data(),
          .d_values = scratch.d_values.data(), .scratch = scratch.row.data()};
      if (row.positions <= kNarrow)
        attend_row_backward<kNarrow>(dims, row);
      else
        attend_row_backward<kLanes>(dims, row);
    }
  });
}

// The row of query position i, as a graph.
template <class T>
void expand_query(const Args<T>& x, Emitter<T>& e, const Sentence<T>& s, std::size_t i) {
  const One<T> d;
  const std::size_t width = x.out.cols, heads = static_cast<std::size_t>(x.number);
  const std::size_t head_dim = width / heads, positions = i + 1;
  const T scale_value = score_scale<T>(head_dim);
  const auto zero = e.constant(0), one = e.constant(1), scale = e.constant(scale_value);
  for (std::size_t h = heads; h-- > 0;) {
    std::vector<Node<T>> score(positions), exponential(positions), weight(positions);
    T highest = -std::numeric_limits<T>::infinity();
    for (std::size_t t = positions; t-- > 0;) {  // falling: d_q is then summed with t rising
      auto sum = zero;
      auto value = hn::Zero(d);
      for (std::size_t j = h * head_dim; j < (h + 1) * head_dim; ++j) {
        const std::size_t q = s.row[i] + j, k = s.row[t] + width + j;
        sum = e.multiply_add(e.operand(0, q), e.operand(0, k), sum);
        value = fma(hn::Set(d, x.in[0].data[q]), hn::Set(d, x.in[0].data[k]), value);
      }
      score[t] = e.apply(Op::fused_mul, sum, scale);
      e.name(score[t], "scores", h, t);
      highest = std::max(highest, hn::GetLane(value) * scale_value);
    }
    const auto most = e.constant(highest);
    LaneNodes<T> sums(e);
    for (std::size_t t = 0; t < positions; ++t) {
      exponential[t] = e.apply(Op::exp, e.apply(Op::sub, score[t], most));
      sums.add(t, exponential[t]);
    }
    const auto lanes = fan_out(e, e.apply(Op::div, one, sums.total()), positions);
    for (std::size_t t = positions; t-- > 0;) {
      weight[t] = e.apply(Op::fused_mul, exponential[t], lanes[t % kLanes]);
      e.name(weight[t], "weights", h, t);
    }
    for (std::size_t j = (h + 1) * head_dim; j-- > h * head_dim;) {
      auto sum = zero;
      for (std::size_t t = 0; t < positions; ++t)
        sum = e.multiply_add(weight[t], e.operand(0, s.row[t] + 2 * width + j), sum);
      e.output(j, sum);
    }
  }
}

// attention: out (N, C) of in[0] = query, key, value side by side (N, 3C). number = H; ids = first row of
// each sentence, then N.
template <class T>
std::size_t longest_sentence(const Args<T>& x) {
  std::size_t longest = 0;
  for (std::size_t b = 0; b + 1 < x.ids.size(); ++b)
    longest = std::max<std::size_t>(longest, x.ids[b + 1] - x.ids[b]);
  return longest;
}
template <class T>
void locate_sentence(const Args<T>& x, std::size_t b, Sentence<T>& s) {
  s.row.clear();
  for (std::size_t n = x.ids[b]; n < x.ids[b + 1]; ++n) s.row.push_back(n * x.in[0].pitch);
  s.first_out = x.ids[b];
}
template <class T>
std::size_t end_of_sentences(const Args<T>& x) {
  return std::min<std::size_t>(x.end_sentence, x.ids.size() - 1);
}
template <class T>
std::size_t attention_saved(const Args<T>& x) {
  return x.out.rows *
         saved_row_size<T>(static_cast<std::size_t>(x.number), longest_sentence(x));
}
template <class T>
void attention_forward(const Args<T>& x) {
  thread_local Scratch<T> scratch;
  thread_local Sentence<T> s;
  const std::size_t longest = longest_sentence(x);
  for (std::size_t b = x.first_sentence; b < end_of_sentences(x); ++b) {
    locate_sentence(x, b, s);
    sentence_forward(x, s, longest, scratch);
  }
}
template <class T>
void attention_backward(const Args<T>& x) {
  if (!x.in[0].grad) return;
  thread_local Scratch<T> scratch;
  thread_local Sentence<T> s;
  const std::size_t longest = longest_sentence(x), end = end_of_sentences(x);
  if (x.in[0].first_writer)
    std::fill(x.in[0].grad + std::size_t{x.ids[x.first_sentence]} * x.in[0].pitch,
              x.in[0].grad + std::size_t{x.ids[end]} * x.in[0].pitch, T(0));
  for (std::size_t b = x.first_sentence; b < end; ++b) {
    locate_sentence(x, b, s);
    sentence_backward(x, s, longest, scratch);
  }
}
template <class T>
void expand_attention(const Args<T>& x, Emitter<T>& e, std::size_t n) {
  std::size_t b = 0;
  while (x.ids[b + 1] <= n) ++b;
  Sentence<T> s;
  locate_sentence(x, b, s);
  expand_query(x, e, s, n - x.ids[b]);
}

// cached_attention: out (1, C), the newest position against all the positions so far. in[0] is the arena;
// ids = where each position's query-key-value row begins, the newest last. number = H.
template <class T>
Sentence<T> cached_sentence(const Args<T>& x) {
  return {.row = {x.ids.begin(), x.ids.end()}, .first_query = x.ids.size() - 1};
}
template <class T>
std::size_t cached_attention_saved(const Args<T>& x) {
  return saved_row_size<T>(static_cast<std::size_t>(x.number), x.ids.size());
}
template <class T>
void cached_attention_forward(const Args<T>& x) {
  Scratch<T> scratch;
  sentence_forward(x, cached_sentence(x), x.ids.size(), scratch);
}
template <class T>
void cached_attention_backward(const Args<T>& x) {
  Scratch<T> scratch;
  sentence_backward(x, cached_sentence(x), x.ids.size(), scratch);
}
template <class T>
void expand_cached_attention(const Args<T>& x, Emitter<T>& e, std::size_t) {
  expand_query(x, e, cached_sentence(x), x.ids.size() - 1);
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::attention)] = {
      .name = "attention", .symbol = "attention", .operands = 1,
      .forward = attention_forward<T>, .backward = attention_backward<T>,
      .expand = expand_attention<T>, .saved = attention_saved<T>,
      .parts = Parts::sentences};
  t.ops[static_cast<std::size_t>(Op::cached_attention)] = {
      .name = "cached_attention", .symbol = "attention", .operands = 1,
      .forward = cached_attention_forward<T>, .backward = cached_attention_backward<T>,
      .expand = expand_cached_attention<T>, .saved = cached_attention_saved<T>,
      .reads_anywhere = true};
  t.attend = attend<T>;
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(attention_family)
}  // namespace glassbox::kernels
#endif
