// out = x W: most of the time of training and of inference is spent here.
//
// Lanes run over outputs and every output is one chain of multiply-adds, so no sum runs across lanes and
// the bits are the same for every N, tile, vector width and thread count.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <vector>

#include "kernels/adam-inl.h"
#include "kernels/expand-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

// The tile: 6 rows x 4 vectors keep 24 chains in flight and fit 32 registers; 6 x 2 fit 16.
constexpr std::size_t kRows = 6;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kVectors = 4;
#else
constexpr std::size_t kVectors = 2;
#endif

// c (R rows, vectors) = chain over k of a[r][k] * b[k][...]. One product serves three uses:
//   forward  c = out, a = x,             b = W
//   d_x      c = d_x, a = d_out,         b = W turned round (the mirror)
//   d_W      c = d_W, a = x turned round, b = d_out
template <class T>
struct Product {
  const T* a;
  std::size_t a_row, a_k;  // steps from row to row, from k to k
  const T* b;
  std::size_t b_k;
  T* c;
  std::size_t c_row;
  std::size_t inner;  // how many k
  bool add;           // chains start from what c holds, else from 0
};

// Computes one tile and hands each finished vector to finish(sum, place in c).
template <std::size_t R, std::size_t C, class T, class Finish>
HWY_INLINE void tile(const Product<T>& p, std::size_t row, std::size_t col, Finish finish) {
  const Full<T> d;
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  hn::Vec<Full<T>> sum[R][C];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c)
      sum[r][c] = p.add ? hn::LoadU(d, p.c + (row + r) * p.c_row + col + c * kWidth) : hn::Zero(d);
  const T* a = p.a + row * p.a_row;
  const T* b = p.b + col;
  for (std::size_t k = 0; k < p.inner; ++k, a += p.a_k, b += p.b_k) {
    hn::Vec<Full<T>> w[C];
    for (std::size_t c = 0; c < C; ++c) w[c] = hn::LoadU(d, b + c * kWidth);
    for (std::size_t r = 0; r < R; ++r) {
      const auto x = hn::Set(d, a[r * p.a_row]);
      for (std::size_t c = 0; c < C; ++c) sum[r][c] = fma(x, w[c], sum[r][c]);
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (std::size_t c = 0; c < C; ++c)
      finish(sum[r][c], (row + r) * p.c_row + col + c * kWidth);
}

template <std::size_t C, class T>
HWY_INLINE void column_of_tiles(const Product<T>& p, std::size_t rows, std::size_t col) {
  const auto store = [&](auto sum, std::size_t at) { hn::StoreU(sum, Full<T>(), p.c + at); };
  std::size_t row = 0;
  for (; row + kRows <= rows; row += kRows) tile<kRows, C>(p, row, col, store);
  switch (rows - row) {
    case 5: return tile<5, C>(p, row, col, store);
    case 4: return tile<4, C>(p, row, col, store);
    case 3: return tile<3, C>(p, row, col, store);
    case 2: return tile<2, C>(p, row, col, store);
    case 1: return tile<1, C>(p, row, col, store);
    default: return;
  }
}

// Tiles C vectors wide from `col` on, as many as fit before `cols`; returns where they end.
template <std::size_t C, class T>
HWY_INLINE std::size_t columns_of_tiles(const Product<T>& p, std::size_t rows, std::size_t col,
                                        std::size_t cols) {
  constexpr std::size_t kWidth = C * hn::MaxLanes(Full<T>());
  for (; col + kWidth <= cols; col += kWidth) column_of_tiles<C>(p, rows, col);
  return col;
}

// REQUIRES: cols is a multiple of kLanes (rows of b and c are padded).
template <class T>
HWY_NOINLINE void product(const Product<T>& p, std::size_t rows, std::size_t cols) {
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  std::size_t col = 0;
  if (rows == 1)  // a tile of one row needs more columns for as many chains
    for (; col + 2 * kVectors * kWidth <= cols; col += 2 * kVectors * kWidth)
      tile<1, 2 * kVectors>(p, 0, col, [&](auto sum, std::size_t at) { hn::StoreU(sum, Full<T>(), p.c + at); });
  col = columns_of_tiles<kVectors>(p, rows, col, cols);
  col = columns_of_tiles<kVectors / 2>(p, rows, col, cols);
  columns_of_tiles<1>(p, rows, col, cols);
}

// A square of 4 x 4 floats or 2 x 2 doubles, turned round in registers.
#if HWY_TARGET == HWY_SCALAR
template <class T>
using Side = One<T>;
template <class T>
HWY_INLINE void transpose_square(const T* from, std::size_t, T* to, std::size_t) {
  *to = *from;
}
#else
template <class T>
using Side = hn::CappedTag<T, 16 / sizeof(T)>;
HWY_INLINE void transpose_square(const float* from, std::size_t from_pitch, float* to,
                                 std::size_t to_pitch) {
  const Side<float> d;
  const hn::CappedTag<double, 2> pair;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_pitch);
  const auto r2 = hn::LoadU(d, from + 2 * from_pitch), r3 = hn::LoadU(d, from + 3 * from_pitch);
  const auto low01 = hn::BitCast(pair, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pair, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pair, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pair, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, low01, low23)), d, to + to_pitch);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, high01, high23)), d, to + 2 * to_pitch);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, high01, high23)), d, to + 3 * to_pitch);
}
HWY_INLINE void transpose_square(const double* from, std::size_t from_pitch, double* to,
                                 std::size_t to_pitch) {
  const Side<double> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_pitch);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_pitch);
}
#endif

template <class T>
HWY_INLINE void transpose(const T* from, std::size_t rows, std::size_t cols, std::size_t from_pitch,
                          T* to, std::size_t to_pitch) {
  constexpr std::size_t kSide = hn::MaxLanes(Side<T>());
  const std::size_t whole_rows = rows / kSide * kSide, whole_cols = cols / kSide * kSide;
  for (std::size_t c = 0; c < whole_cols; c += kSide)  // whole rows of `to` at a time
    for (std::size_t r = 0; r < whole_rows; r += kSide)
      transpose_square(from + r * from_pitch + c, from_pitch, to + c * to_pitch + r, to_pitch);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c)
      to[c * to_pitch + r] = from[r * from_pitch + c];
}

// d_W tile by tile, each taken into w, m and v as soon as it stands in registers: the divider, which takes
// most of an optimiser's time, then works beside the multiply-adds of the tiles that follow.
template <class T>
struct WeightTiles {
  Product<T> p;  // c is the gradient
  bool keep_gradient;
  T *w, *m, *v;  // rows p.c_row apart
  T* mirror;     // padded(rows of w) apart
  AdamSettings<T> settings;
};

template <std::size_t R, std::size_t C, class T>
HWY_INLINE void column_of_weight_tiles(const WeightTiles<T>& t, std::size_t rows, std::size_t col) {
  const AdamVector<T> adam_vector(t.settings);  // a local copy stays in registers
  const auto update = [&](auto g, std::size_t at) {
    if (t.keep_gradient) hn::StoreU(g, Full<T>(), t.p.c + at);
    adam_vector.update(g, t.w + at, t.m + at, t.v + at);
  };
  std::size_t row = 0;
  for (; row + R <= rows; row += R) tile<R, C>(t.p, row, col, update);
  for (; row < rows; ++row) tile<1, C>(t.p, row, col, update);
}

// Few rows: small tiles, so that the processor's look-ahead reaches over several of them. Many rows: tiles
// that use each load more often.
template <std::size_t R, class T>
HWY_NOINLINE void weight_tiles(WeightTiles<T> t, std::size_t rows, std::size_t cols) {
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  std::size_t col = 0, mirrored = 0;
  const auto mirror_up_to = [&](std::size_t end) {
    transpose(t.w + mirrored, rows, end - mirrored, t.p.c_row, t.mirror + mirrored * padded(rows), padded(rows));
    mirrored = end;
  };
  for (; col + 2 * kWidth <= padded(cols); col += 2 * kWidth) {
    column_of_weight_tiles<R, 2>(t, rows, col);
    // One column of tiles behind: its divisions are done, and it is still at hand. Pads have no mirror.
    mirror_up_to(std::min(col, cols));
  }
  for (; col < padded(cols); col += kWidth) column_of_weight_tiles<R, 1>(t, rows, col);
  mirror_up_to(cols);
}

//   in[0] = x (N, K), in[1] = W (K, M), out (N, M), which overlaps neither
// out[n][m]: y = 0, then y = fma(x[n][k], W[k][m], y) for k rising.
template <class T>
void matmul_forward(const Args<T>& x) {
  const auto &a = x.in[0], &w = x.in[1];
  product<T>({a.data, a.pitch, 1, w.data, w.pitch, x.out.data, x.out.pitch, w.rows, false},
             x.out.rows, padded(x.out.cols));
}

// d_x[n][k] += chain over m rising of d_out[n][m] W[k][m]; d_W[k][m] += chain over n rising of
// x[n][k] d_out[n][m].
template <class T>
HWY_INLINE void input_gradient(const Args<T>& x) {
  const auto &a = x.in[0], &w = x.in[1];
  if (!a.grad) return;
  const std::size_t pitch = padded(w.rows);
  const T* mirror = w.mirror;
  std::vector<T> turned;  // a user's own matrix has no mirror: turn it round for this call
  if (!mirror) {
    turned.resize(std::size_t{w.cols} * pitch);
    transpose<T>(w.data, w.rows, w.cols, w.pitch, turned.data(), pitch);
    mirror = turned.data();
  }
  product<T>({x.out.grad, x.out.pitch, 1, mirror, pitch, a.grad, a.pitch, w.cols, !a.first_writer},
             x.out.rows, pitch);
}
template <class T>
void matmul_backward(const Args<T>& x) {
  input_gradient(x);
  const auto &a = x.in[0], &w = x.in[1];
  if (w.grad)
    product<T>({a.data, 1, a.pitch, x.out.grad, x.out.pitch, w.grad, w.pitch, x.out.rows,
                !w.first_writer},
               w.rows, padded(w.cols));
}
// d_x first: it needs the weights of before the step.
template <class T>
void matmul_backward_update(const Args<T>& x, const Update<T>& u) {
  constexpr std::size_t kFewRows = 16;
  input_gradient(x);
  const auto &a = x.in[0], &w = x.in[1];
  const WeightTiles<T> tiles{
      {a.data, 1, a.pitch, x.out.grad, x.out.pitch, w.grad, w.pitch, x.out.rows, false},
      u.keep_gradients, w.data, u.m[1], u.v[1], u.mirror, u.settings};
  if (x.out.rows <= kFewRows)
    weight_tiles<2>(tiles, w.rows, w.cols);
  else
    weight_tiles<kVectors == 4 ? 8 : 4>(tiles, w.rows, w.cols);
}

template <class T>
void expand_matmul(const Args<T>& x, Emitter<T>& e, std::size_t n) {
  const auto &a = x.in[0], &w = x.in[1];
  const auto zero = e.constant(0);
  for (std::size_t m = x.out.cols; m-- > 0;) {  // falling: a reverse walk then adds d_x with m rising
    auto y = zero;
    for (std::size_t k = 0; k < w.rows; ++k)
      y = e.multiply_add(e.operand(0, n * a.pitch + k), e.operand(1, k * w.pitch + m), y);
    e.output(m, y);
  }
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::matmul)] = {
      .name = "matmul", .symbol = "x W", .operands = 2, .forward = matmul_forward<T>,
      .backward = matmul_backward<T>,
      .backward_update = matmul_backward_update<T>, .expand = expand_matmul<T>, .parts = Parts::rows, .uses_mirror = true};
  t.transpose = [](const T* from, std::size_t rows, std::size_t cols, std::size_t from_pitch, T* to,
                   std::size_t to_pitch) { transpose(from, rows, cols, from_pitch, to, to_pitch); };
}
GLASSBOX_FAMILY_FILL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glassbox::kernels {
GLASSBOX_FAMILY_EXPORT(matmul_family)
}  // namespace glassbox::kernels
#endif
