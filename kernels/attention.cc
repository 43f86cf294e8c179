// Causal multi-head attention (Vaswani et al. 2017, arXiv:1706.03762, section 3.2), on stacked
// sentences, against a growing cache of the graph, and against inference's cache: one row function
// for all three.
//
// For a query at position i of its sentence, head h, D = C / H:
//   score_t  = (chain over j of q_j k_tj) * (1 / sqrt(D))    t = 0 .. i: later keys do not exist
//   e_t      = exp(score_t - max),  weight_t = e_t * (1 / sum of e_t)
//   out_j    = chain over t of weight_t v_tj
// Scores run with lanes over positions (keys transposed), outputs with lanes over a head's
// dimensions.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/attention_row-inl.h"
#include "kernels/expand-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

// Where the rows of one sentence lie: places of query-key-value rows in in[0].
template <class T>
struct Sentence {
  std::vector<std::size_t> row;  // of each position
  std::size_t first_query = 0;   // queries are those of positions first_query on
  std::size_t first_out = 0;     // output row of the first query
};

template <class T>
struct Scratch {
  std::vector<T> transposed_keys, transposed_values, row, weights;
  std::vector<const T*> keys, values;
  std::vector<T*> d_keys, d_values;
};

// A row of weights: exponentials and weights (H, padded(longest)) each, then inverse sums (H).
template <class T>
struct WeightsRow {
  T *exponentials, *weights, *inverse_sums;
};
inline std::size_t weights_row_size(std::size_t heads, std::size_t longest) {
  return 2 * heads * padded(longest) + padded(heads);
}
template <class T>
WeightsRow<T> weights_row(T* at, std::size_t heads, std::size_t longest) {
  const std::size_t size = heads * padded(longest);
  return {at, at + size, at + 2 * size};
}

// Forward keeps the weights of short sentences, row by row of the output. Those of a long one,
// which would grow as the square of its length, backward computes once more: the same bits.
constexpr std::size_t kLongestKept = 64;
inline std::size_t saved_row_size(std::size_t heads, std::size_t longest) {
  return longest <= kLongestKept ? weights_row_size(heads, longest) : 0;
}
// Where row n's weights go: to what is kept, or to a row that is used again and again.
template <class T>
WeightsRow<T> place_of_weights(const Args<T>& x, std::size_t n, std::size_t longest,
                               std::vector<T>& once) {
  const std::size_t heads = x.settings.heads;
  if (longest <= kLongestKept)
    return weights_row(x.saved + n * saved_row_size(heads, longest), heads, longest);
  once.resize(weights_row_size(heads, longest));
  return weights_row(once.data(), heads, longest);
}

// to[j][t] = column `first + j` of the sentence's row t; [C][pitch], pads 0.
template <class T>
void transpose_tile(const T* data, const std::vector<std::size_t>& row, std::size_t first,
                    std::size_t width, std::vector<T>& to) {
  const std::size_t pitch = padded(row.size());
  to.assign(width * pitch, T(0));
  for (std::size_t t = 0; t < row.size(); ++t) {
    const T* from = data + row[t] + first;
    for (std::size_t j = 0; j < width; ++j) to[j * pitch + t] = from[j];
  }
}

// What attend() needs for the query of row `i` of the sentence, whose keys are transposed.
template <class T>
AttendArgs<T> query_args(const Args<T>& x, const Sentence<T>& s, std::size_t i,
                         const WeightsRow<T>& weights, const Scratch<T>& scratch) {
  const std::size_t width = x.out.cols, heads = x.settings.heads;
  return {.query = x.in[0].data + s.row[i],
          .keys = scratch.transposed_keys.data(),
          .keys_pitch = padded(s.row.size()),
          .values = scratch.values.data(),
          .positions = i + 1,
          .heads = heads,
          .head_dim = width / heads,
          .out = nullptr,
          .exponentials = weights.exponentials,
          .weights = weights.weights,
          .inverse_sums = weights.inverse_sums};
}

template <class T>
HWY_NOINLINE void sentence_forward(const Args<T>& x, const Sentence<T>& s, std::size_t longest,
                                   Scratch<T>& scratch) {
  const std::size_t width = x.out.cols;
  const T* data = x.in[0].data;
  transpose_tile(data, s.row, width, width, scratch.transposed_keys);
  scratch.values.clear();
  for (const std::size_t row : s.row) scratch.values.push_back(data + row + 2 * width);
  for (std::size_t i = s.first_query; i < s.row.size(); ++i) {
    const std::size_t n = s.first_out + i - s.first_query;
    auto query = query_args(x, s, i, place_of_weights(x, n, longest, scratch.weights), scratch);
    query.out = x.out.data + n * x.out.pitch;
    attend(query);
  }
}

template <class T>
HWY_NOINLINE void sentence_backward(const Args<T>& x, const Sentence<T>& s, std::size_t longest,
                                    Scratch<T>& scratch) {
  const std::size_t width = x.out.cols, heads = x.settings.heads;
  const bool is_kept = longest <= kLongestKept;
  const T* data = x.in[0].data;
  T* grad = x.in[0].grad;
  if (!is_kept) transpose_tile(data, s.row, width, width, scratch.transposed_keys);
  transpose_tile(data, s.row, 2 * width, width, scratch.transposed_values);
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
      const auto weights = place_of_weights(x, n, longest, scratch.weights);
      if (!is_kept) attend(query_args(x, s, i, weights, scratch));
      attend_backward<T>(dims, {.query = data + s.row[i],
                                .d_out = x.out.grad + n * x.out.pitch,
                                .keys = scratch.keys.data(),
                                .values_transposed = scratch.transposed_values.data(),
                                .pitch = padded(s.row.size()),
                                .positions = i + 1,
                                .heads = heads,
                                .head_dim = width / heads,
                                .exponentials = weights.exponentials,
                                .weights = weights.weights,
                                .inverse_sums = weights.inverse_sums,
                                .d_query = grad + s.row[i],
                                .d_keys = scratch.d_keys.data(),
                                .d_values = scratch.d_values.data(),
                                .scratch = scratch.row.data()});
    }
  });
}

// The row of query position i, as a graph.
template <class T>
void expand_query(const Args<T>& x, Emitter<T>& e, const Sentence<T>& s, std::size_t i) {
  const One<T> d;
  const std::size_t width = x.out.cols, heads = x.settings.heads;
  const std::size_t head_dim = width / heads, positions = i + 1;
  const T scale_value = score_scale<T>(head_dim);
  const auto zero = e.constant(0), one = e.constant(1), scale = e.constant(scale_value);
  for (std::size_t h = heads; h-- > 0;) {
    std::vector<Node<T>> score(positions), exponential(positions), weight(positions);
    T max_score = -std::numeric_limits<T>::infinity();
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
      max_score = std::max(max_score, hn::GetLane(value) * scale_value);
    }
    const auto most = e.constant(max_score);
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

// attention: out (N, C) of in[0] = query, key, value side by side (N, 3C). number = H; ids = first
// row of each sentence, then N.
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
  return x.out.rows * saved_row_size(x.settings.heads, longest_sentence(x));
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

// cached_attention: out (1, C), the newest position against all the positions so far. in[0] is the
// arena; ids = where each position's query-key-value row begins, the newest last. number = H.
template <class T>
Sentence<T> cached_sentence(const Args<T>& x) {
  return {.row = {x.ids.begin(), x.ids.end()}, .first_query = x.ids.size() - 1};
}
template <class T>
std::size_t cached_attention_saved(const Args<T>& x) {
  return saved_row_size(x.settings.heads, x.ids.size());
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
std::string heads_mismatch(const Args<T>& x) {
  const std::size_t width = x.out.cols, heads = x.settings.heads;
  if (width > 0 && heads > 0 && width % heads == 0) return {};
  return "expected heads that divide their width " + std::to_string(width) + ", found " +
         std::to_string(heads);
}
template <class T>
std::string attention_mismatch(const Args<T>& x) {
  if (x.in[0].cols != 3 * std::size_t{x.out.cols} || x.out.rows != x.in[0].rows)
    return "expected query, key and value side by side, found " + std::to_string(x.in[0].cols) +
           " columns";
  if (std::string heads = heads_mismatch(x); !heads.empty()) return heads;
  if (x.ids.size() >= 2 && x.ids.front() == 0 && x.ids.back() == x.in[0].rows &&
      std::is_sorted(x.ids.begin(), x.ids.end()))
    return {};
  return "expected sentences that begin at row 0 and end at row " + std::to_string(x.in[0].rows) +
         ", one after the other";
}
template <class T>
std::string cached_attention_mismatch(const Args<T>& x) {
  if (std::string heads = heads_mismatch(x); !heads.empty()) return heads;
  const std::size_t size = x.in[0].rows, row = 3 * std::size_t{x.out.cols};
  const auto fits = [&](std::size_t begin) { return begin + row <= size; };
  if (x.out.rows == 1 && !x.ids.empty() && std::all_of(x.ids.begin(), x.ids.end(), fits)) return {};
  return "expected rows of " + std::to_string(row) + " scalars that are on the tape";
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::attention)] = {.name = "attention",
                                                    .symbol = "attention",
                                                    .operands = 1,
                                                    .mismatch = attention_mismatch<T>,
                                                    .forward = attention_forward<T>,
                                                    .backward = attention_backward<T>,
                                                    .expand = expand_attention<T>,
                                                    .saved = attention_saved<T>,
                                                    .partition = Partition::sentences};
  t.ops[static_cast<std::size_t>(Op::cached_attention)] = {.name = "cached_attention",
                                                           .symbol = "attention",
                                                           .operands = 1,
                                                           .mismatch = cached_attention_mismatch<T>,
                                                           .forward = cached_attention_forward<T>,
                                                           .backward = cached_attention_backward<T>,
                                                           .expand = expand_cached_attention<T>,
                                                           .saved = cached_attention_saved<T>,
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
