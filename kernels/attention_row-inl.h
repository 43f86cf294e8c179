// One query row of attention, forward and back: see attention.cc for the formulas.
#if defined(GLASSBOX_KERNELS_ATTENTION_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_ATTENTION_ROW_INL_H_
#undef GLASSBOX_KERNELS_ATTENTION_ROW_INL_H_
#else
#define GLASSBOX_KERNELS_ATTENTION_ROW_INL_H_
#endif

#include <limits>

#include "kernels/exp-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE T score_scale(std::size_t head_dim) {
  const One<T> d;
  return hn::GetLane(hn::Div(hn::Set(d, 1), hn::Sqrt(hn::Set(d, static_cast<T>(head_dim)))));
}

constexpr std::size_t kHeads = 4;  // computed side by side

// Most sentences are short: up to so many positions take half the lanes, which costs half where a
// processor computes 16 lanes in two goes.
constexpr std::size_t kNarrow = 8;

// Calls f(d) with the widest vector that divides a head.
template <class T, class F>
HWY_INLINE void with_head_vector(std::size_t head_dim, F f) {
  if (head_dim % 16 == 0) return f(hn::CappedTag<T, 16>());
  if (head_dim % 8 == 0) return f(hn::CappedTag<T, 8>());
  if (head_dim % 4 == 0) return f(hn::CappedTag<T, 4>());
  f(One<T>());
}

// sum[g] = chain over the dimensions j of head first + g: row_j columns_j, for the positions from t
// on. `columns` is [C][pitch], a column for each position.
template <std::size_t G, class T, class D>
HWY_INLINE void head_products(D d, const T* row, const T* columns, std::size_t pitch, std::size_t t,
                              std::size_t head_dim, std::size_t first, hn::Vec<D> (&sum)[G]) {
  for (auto& v : sum) v = hn::Zero(d);
  for (std::size_t j = 0; j < head_dim; ++j)
    for (std::size_t g = 0; g < G; ++g) {
      const std::size_t c = (first + g) * head_dim + j;
      sum[g] = fma(hn::Set(d, row[c]), hn::LoadU(d, columns + c * pitch + t), sum[g]);
    }
}

// G heads of one query row side by side, from head `first` on: each is a handful of vectors that
// wait for one another, and the chains of one head run while another's wait. See AttendArgs.
template <std::size_t G, std::size_t Lanes, class T, class D>
HWY_INLINE void attend_heads(D dims, const AttendArgs<T>& x, std::size_t first) {
  const hn::CappedTag<T, Lanes> d;
  using V = hn::Vec<hn::CappedTag<T, Lanes>>;
  const std::size_t head_dim = x.head_dim, stride = padded(x.positions);
  const auto scale = hn::Set(d, score_scale<T>(head_dim));
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  T* e = x.exponentials + first * stride;
  T* p = x.weights + first * stride;
  V max_score[G];
  for (auto& v : max_score) v = lowest;
  for (std::size_t t = 0; t < x.positions; t += hn::MaxLanes(d)) {
    V sum[G];
    head_products(d, x.query, x.keys, x.keys_pitch, t, head_dim, first, sum);
    const auto mask = hn::FirstN(d, x.positions - t);
    for (std::size_t g = 0; g < G; ++g) {
      const auto score = hn::Mul(sum[g], scale);
      max_score[g] = hn::Max(max_score[g], hn::IfThenElse(mask, score, lowest));
      hn::StoreU(score, d, e + g * stride + t);
    }
  }
  for (auto& v : max_score) v = hn::MaxOfLanes(d, v);
  LaneSums<T, Lanes> sums[G];
  for (std::size_t t = 0; t < x.positions; t += hn::MaxLanes(d)) {
    const auto mask = hn::FirstN(d, x.positions - t);
    for (std::size_t g = 0; g < G; ++g) {
      T* at = e + g * stride + t;
      const auto v = hn::IfThenElseZero(mask, exp(d, hn::Sub(hn::LoadU(d, at), max_score[g])));
      auto& part = sums[g].at(t);
      part = hn::Add(part, v);
      hn::StoreU(v, d, at);
    }
  }
  for (std::size_t g = 0; g < G; ++g) x.inverse_sums[first + g] = T(1) / sums[g].total();
  for (std::size_t t = 0; t < x.positions; t += hn::MaxLanes(d))
    for (std::size_t g = 0; g < G; ++g)
      hn::StoreU(hn::Mul(hn::LoadU(d, e + g * stride + t), hn::Set(d, x.inverse_sums[first + g])),
                 d, p + g * stride + t);
  if (!x.out) return;
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
//   d score_t  = d e_t e_t * scale                  d q += score chain over t;  d k_t += d score_t
//   q
template <class T>
struct RowGradient {
  const T* query;
  const T* d_out;
  const T* const* keys;        // keys[t] points at row t's keys (C)
  const T* values_transposed;  // [C][pitch], pads 0
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
    head_products(d, x.d_out, x.values_transposed, x.pitch, t, head_dim, first, d_weight);
    for (std::size_t g = 0; g < G; ++g) {
      auto& part = sums[g].at(t);
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
        hn::StoreU(
            fma(hn::Set(dims, p[g * stride + t]), d_out[g], hn::LoadU(dims, x.d_values[t] + c)),
            dims, x.d_values[t] + c);
      }
    for (std::size_t g = 0; g < G; ++g)
      hn::StoreU(d_q[g], dims, x.d_query + (first + g) * head_dim + j);
  }
}

template <std::size_t Lanes, class T, class D>
HWY_INLINE void attend_row_backward(D dims, const RowGradient<T>& x) {
  std::size_t h = 0;
  for (; h + kHeads <= x.heads; h += kHeads) attend_heads_backward<kHeads, Lanes>(dims, x, h);
  for (; h < x.heads; ++h) attend_heads_backward<1, Lanes>(dims, x, h);
}

template <class T, class D>
HWY_INLINE void attend_backward(D dims, const RowGradient<T>& x) {
  if (x.positions <= kNarrow) return attend_row_backward<kNarrow>(dims, x);
  attend_row_backward<kLanes>(dims, x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();
#endif
