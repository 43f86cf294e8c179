// out = x W: most of the time of training and of inference is spent here.
//
// Lanes run over outputs and every output is one chain of multiply-adds, so no sum runs across
// lanes and the bits are the same for every N, tile, vector width and thread count.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <type_traits>

#include "kernels/aligned.h"
#include "kernels/expand-inl.h"
#include "kernels/optimizer-inl.h"
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
//   d_x      c = d_x, a = d_out,         b = W transposed
//   d_W      c = d_W, a = x transposed, b = d_out
template <class T>
struct Product {
  const T* a;
  std::size_t a_row, a_k;  // steps from row to row, from k to k
  const T* b;
  std::size_t b_k;
  T* c;
  std::size_t c_row;
  std::size_t inner;         // how many k
  const T* start = nullptr;  // chains start from what is there, laid out as c; null: from 0
  std::size_t start_row = 0;
};

// Computes one tile and hands each finished vector to finish(sum, place in c).
template <std::size_t R, std::size_t C, class T, class Finish>
HWY_INLINE void tile(const Product<T>& p, std::size_t row, std::size_t col, Finish finish) {
  const Full<T> d;
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  hn::Vec<Full<T>> sum[R][C];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c)
      sum[r][c] = p.start ? hn::LoadU(d, p.start + (row + r) * p.start_row + col + c * kWidth)
                          : hn::Zero(d);
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
    for (std::size_t c = 0; c < C; ++c) finish(sum[r][c], (row + r) * p.c_row + col + c * kWidth);
}

// f(constant R, row) for tiles of kRows rows, then one of what is left.
template <class F>
HWY_INLINE void for_each_row_tile(std::size_t rows, F f) {
  std::size_t row = 0;
  for (; row + kRows <= rows; row += kRows) f(std::integral_constant<std::size_t, kRows>(), row);
  switch (rows - row) {
    case 5:
      return f(std::integral_constant<std::size_t, 5>(), row);
    case 4:
      return f(std::integral_constant<std::size_t, 4>(), row);
    case 3:
      return f(std::integral_constant<std::size_t, 3>(), row);
    case 2:
      return f(std::integral_constant<std::size_t, 2>(), row);
    case 1:
      return f(std::integral_constant<std::size_t, 1>(), row);
    default:
      return;
  }
}

template <std::size_t C, class T>
HWY_INLINE void column_of_tiles(const Product<T>& p, std::size_t rows, std::size_t col) {
  for_each_row_tile(rows, [&](auto count, std::size_t row) {
    tile<count, C>(p, row, col,
                   [&](auto sum, std::size_t at) { hn::StoreU(sum, Full<T>(), p.c + at); });
  });
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
      tile<1, 2 * kVectors>(
          p, 0, col, [&](auto sum, std::size_t at) { hn::StoreU(sum, Full<T>(), p.c + at); });
  col = columns_of_tiles<kVectors>(p, rows, col, cols);
  col = columns_of_tiles<kVectors / 2>(p, rows, col, cols);
  columns_of_tiles<1>(p, rows, col, cols);
}

// W transposed, a vector of its rows k and a few columns m at a time: d_x runs with lanes over k.
#if HWY_TARGET == HWY_SCALAR
template <class T>
constexpr std::size_t kSide = 1;
template <class T>
HWY_INLINE void transpose_tile(const T* w, std::size_t, hn::Vec<Full<T>> (&transposed)[1]) {
  transposed[0] = hn::LoadU(Full<T>(), w);
}
#else
// Squares of this side, 4 x 4 floats or 2 x 2 doubles, are transposed in the 128-bit blocks of a
// vector.
template <class T>
constexpr std::size_t kSide = 16 / sizeof(T);

// The blocks of d at from, from + step, ...
template <class D, class T>
HWY_INLINE hn::Vec<D> load_blocks([[maybe_unused]] D d, const T* from, std::size_t step) {
  constexpr std::size_t kBlocks = hn::MaxLanes(D()) / kSide<T>;
  if constexpr (kBlocks == 1) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, from + kBlocks / 2 * step, step),
                       load_blocks(half, from, step));
  }
}
// transposed[j], lane i = w[i * pitch + j]
HWY_INLINE void transpose_tile(const float* w, std::size_t pitch,
                               hn::Vec<Full<float>> (&transposed)[4]) {
  const Full<float> d;
  const hn::CappedTag<double, hn::MaxLanes(d) / 2> pair;
  hn::Vec<Full<float>> row[4];
  for (std::size_t r = 0; r < 4; ++r) row[r] = load_blocks(d, w + r * pitch, 4 * pitch);
  const auto low01 = hn::BitCast(pair, hn::InterleaveLower(d, row[0], row[1]));
  const auto low23 = hn::BitCast(pair, hn::InterleaveLower(d, row[2], row[3]));
  const auto high01 = hn::BitCast(pair, hn::InterleaveUpper(d, row[0], row[1]));
  const auto high23 = hn::BitCast(pair, hn::InterleaveUpper(d, row[2], row[3]));
  transposed[0] = hn::BitCast(d, hn::InterleaveLower(pair, low01, low23));
  transposed[1] = hn::BitCast(d, hn::InterleaveUpper(pair, low01, low23));
  transposed[2] = hn::BitCast(d, hn::InterleaveLower(pair, high01, high23));
  transposed[3] = hn::BitCast(d, hn::InterleaveUpper(pair, high01, high23));
}
HWY_INLINE void transpose_tile(const double* w, std::size_t pitch,
                               hn::Vec<Full<double>> (&transposed)[2]) {
  const Full<double> d;
  const auto even = load_blocks(d, w, 2 * pitch), odd = load_blocks(d, w + pitch, 2 * pitch);
  transposed[0] = hn::InterleaveLower(d, even, odd);
  transposed[1] = hn::InterleaveUpper(d, even, odd);
}
#endif

// c (R rows, C vectors) = chain over k of a[r][k] * b[...][k]: p.b is W itself, p.b_k its pitch.
template <std::size_t R, std::size_t C, class T>
HWY_INLINE void transposed_tile(const Product<T>& p, std::size_t row, std::size_t col) {
  const Full<T> d;
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>()), kS = kSide<T>;
  hn::Vec<Full<T>> sum[R][C], w[C][kS];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c)
      sum[r][c] = p.start ? hn::LoadU(d, p.start + (row + r) * p.start_row + col + c * kWidth)
                          : hn::Zero(d);
  const T* a = p.a + row * p.a_row;
  const T* b = p.b + col * p.b_k;
  const auto transpose_at = [&](std::size_t k) {
    for (std::size_t c = 0; c < C; ++c) transpose_tile(b + c * kWidth * p.b_k + k, p.b_k, w[c]);
  };
  const auto multiply = [&](std::size_t k, std::size_t j) {
    for (std::size_t r = 0; r < R; ++r) {
      const auto x = hn::Set(d, a[r * p.a_row + k + j]);
      for (std::size_t c = 0; c < C; ++c) sum[r][c] = fma(x, w[c][j], sum[r][c]);
    }
  };
  std::size_t k = 0;
  for (; k + kS <= p.inner; k += kS) {
    transpose_at(k);
    for (std::size_t j = 0; j < kS; ++j) multiply(k, j);
  }
  if (k < p.inner) {  // the square's other columns are pads of W
    transpose_at(k);
    for (std::size_t j = 0; j + 1 < kS; ++j)
      if (k + j < p.inner) multiply(k, j);
  }
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c)
      hn::StoreU(sum[r][c], d, p.c + (row + r) * p.c_row + col + c * kWidth);
}

template <std::size_t R, class T>
HWY_INLINE void row_of_transposed_tiles(const Product<T>& p, std::size_t row, std::size_t cols) {
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  std::size_t col = 0;
  if constexpr (kVectors == 4)
    for (; col + 2 * kWidth <= cols; col += 2 * kWidth) transposed_tile<R, 2>(p, row, col);
  for (; col < cols; col += kWidth) transposed_tile<R, 1>(p, row, col);
}

// For few rows: W is transposed in registers, once for kRows rows.
// REQUIRES: cols is a multiple of kLanes, and W has as many rows.
template <class T>
HWY_NOINLINE void transposed_product(const Product<T>& p, std::size_t rows, std::size_t cols) {
  for_each_row_tile(
      rows, [&](auto count, std::size_t row) { row_of_transposed_tiles<count>(p, row, cols); });
}

// For many: into `to`, (cols, padded(rows)) with pads 0.
template <class T>
HWY_NOINLINE void transpose(const MatrixView<T>& w, T* to) {
  const Full<T> d;
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>()), kS = kSide<T>;
  const std::size_t pitch = padded(w.rows);
  const std::size_t whole_rows = w.rows / kWidth * kWidth, whole_cols = w.cols / kS * kS;
  for (std::size_t c = 0; c < whole_cols; c += kS)
    for (std::size_t r = 0; r < whole_rows; r += kWidth) {
      hn::Vec<Full<T>> transposed[kS];
      transpose_tile(w.data + r * w.pitch + c, w.pitch, transposed);
      for (std::size_t j = 0; j < kS; ++j) hn::StoreU(transposed[j], d, to + (c + j) * pitch + r);
    }
  for (std::size_t c = 0; c < w.cols; ++c) {
    for (std::size_t r = c < whole_cols ? whole_rows : 0; r < w.rows; ++r)
      to[c * pitch + r] = w.data[r * w.pitch + c];
    std::fill(to + c * pitch + w.rows, to + (c + 1) * pitch, T(0));
  }
}

// Large products go in blocks that stay in the caches (Goto and van de Geijn 2008, "Anatomy of
// high-performance matrix multiplication", ACM TOMS 34(3)): `kDepth` of the inner index at a time,
// for which a panel of b stays in the first cache and a block of a in the second, both copied so
// that a tile reads them in order. A chain waits in c between blocks and goes on with the same
// bits.
template <class T>
struct BlockShape {
  static constexpr std::size_t kPanel = kVectors * hn::MaxLanes(Full<T>());  // columns
  static constexpr std::size_t kDepth = (kVectors == 4 ? 32768 : 16384) / sizeof(T) / kPanel;
  static constexpr std::size_t kBlockRows = 196608 / sizeof(T) / kDepth / kRows * kRows;
  static constexpr std::size_t kBlockCols = 1024;
};

template <class T>
constexpr std::size_t waiting_pitch(std::size_t cols) {
  return std::min(BlockShape<T>::kBlockCols, cols);
}

// Whether blocks pay for their copies: of b, which enough rows must share, and of a where its rows
// lie side by side. Wide tiles read b so seldom that it may come from the second cache; narrow ones
// want it in the first (measured: bench/NOTES.md).
template <class T>
bool is_large(const Product<T>& p, std::size_t rows, std::size_t cols) {
  constexpr bool kWide = BlockShape<T>::kPanel * sizeof(T) >= 256;
  constexpr std::size_t kNear = kWide ? 524288 : 32768;
  const std::size_t bytes = p.inner * cols * sizeof(T);
  if (rows < 8 * kRows || p.inner < 64 || bytes <= kNear) return false;
  return p.a_row != 1 || rows >= 16 * kRows || bytes > 262144;
}

// The widest panel of 1, kVectors / 2 or kVectors vectors that fits before `cols`: f(constant).
template <class T, class F>
HWY_INLINE void for_each_panel(std::size_t cols, F f) {
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  std::size_t col = 0;
  for (; col + kVectors * kWidth <= cols; col += kVectors * kWidth)
    f(std::integral_constant<std::size_t, kVectors>(), col);
  if (kVectors == 4 && col + 2 * kWidth <= cols) {
    f(std::integral_constant<std::size_t, 2>(), col);
    col += 2 * kWidth;
  }
  for (; col < cols; col += kWidth) f(std::integral_constant<std::size_t, 1>(), col);
}

// Panels of b, one after another: the panel at column c begins at to + c * inner.
template <class T>
HWY_NOINLINE void pack_panels(const T* b, std::size_t pitch, std::size_t inner, std::size_t cols,
                              T* to) {
  const Full<T> d;
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  for_each_panel<T>(cols, [&](auto vectors, std::size_t col) {
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t v = 0; v < vectors; ++v, to += kWidth)
        hn::StoreU(hn::LoadU(d, b + k * pitch + col + v * kWidth), d, to);
  });
}
// The same of W transposed: column c of b is row c of w.
template <class T>
HWY_NOINLINE void pack_transposed_panels(const T* w, std::size_t pitch, std::size_t inner,
                                         std::size_t cols, T* to) {
  const Full<T> d;
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>()), kS = kSide<T>;
  for_each_panel<T>(cols, [&](auto vectors, std::size_t col) {
    for (std::size_t v = 0; v < vectors; ++v)
      for (std::size_t k = 0; k < inner; k += kS) {
        hn::Vec<Full<T>> transposed[kS];
        transpose_tile(w + (col + v * kWidth) * pitch + k, pitch, transposed);
        for (std::size_t j = 0; j < kS && k + j < inner; ++j)
          hn::StoreU(transposed[j], d, to + ((k + j) * vectors + v) * kWidth);
      }
    to += inner * vectors * kWidth;
  });
}

// Rows of a that lie side by side for each k, kRows at a time: those from row r on begin at
// to + r * inner.
template <class T>
HWY_NOINLINE void pack_rows(const T* a, std::size_t a_k, std::size_t inner, std::size_t rows,
                            T* to) {
  for (std::size_t row = 0; row < rows; row += kRows) {
    const std::size_t count = std::min(kRows, rows - row);
    if (count == kRows)
      for (std::size_t k = 0; k < inner; ++k, to += kRows)
        std::copy_n(a + k * a_k + row, kRows, to);
    else
      for (std::size_t k = 0; k < inner; ++k, to += count)
        std::copy_n(a + k * a_k + row, count, to);
  }
}

// What product() computes, in blocks; `finish` takes the vectors of complete chains, as tile()'s.
// p.b is W itself and p.b_k its pitch if `transposed`: then b is W transposed. If c is not to be
// written, the chains wait in `waiting`, rows of waiting_pitch(), from block to block.
// REQUIRES: cols is a multiple of kLanes.
template <bool transposed, class T, class Finish>
HWY_NOINLINE void blocked_product(Product<T> p, std::size_t rows, std::size_t cols,
                                  const Finish& finish, T* waiting = nullptr) {
  using Shape = BlockShape<T>;
  thread_local AlignedVector<T> panels, packed_rows;
  const bool packs_rows = p.a_row == 1;
  panels.resize(Shape::kDepth * Shape::kBlockCols);
  if (packs_rows) packed_rows.resize(Shape::kDepth * Shape::kBlockRows);
  const std::size_t inner = p.inner, pitch = waiting_pitch<T>(cols);
  for (std::size_t first_col = 0; first_col < cols; first_col += Shape::kBlockCols) {
    const std::size_t block_cols = std::min(Shape::kBlockCols, cols - first_col);
    for (std::size_t first_k = 0; first_k < inner; first_k += Shape::kDepth) {
      const std::size_t depth = std::min(Shape::kDepth, inner - first_k);
      const bool is_last = first_k + depth == inner;
      if constexpr (transposed)
        pack_transposed_panels(p.b + first_col * p.b_k + first_k, p.b_k, depth, block_cols,
                               panels.data());
      else
        pack_panels(p.b + first_k * p.b_k + first_col, p.b_k, depth, block_cols, panels.data());
      for (std::size_t first_row = 0; first_row < rows; first_row += Shape::kBlockRows) {
        const std::size_t block_rows = std::min(Shape::kBlockRows, rows - first_row);
        const T* const a = p.a + first_row * p.a_row + first_k * p.a_k;
        if (packs_rows) pack_rows(a, p.a_k, depth, block_rows, packed_rows.data());
        for_each_panel<T>(block_cols, [&](auto vectors, std::size_t col) {
          constexpr std::size_t kC = vectors;
          constexpr std::size_t kPanel = kC * hn::MaxLanes(Full<T>());
          for_each_row_tile(block_rows, [&](auto count, std::size_t row) {
            constexpr std::size_t kR = count;
            const std::size_t at = (first_row + row) * p.c_row + first_col + col;
            T* const wait = waiting ? waiting + (first_row + row) * pitch + col : p.c + at;
            const std::size_t wait_row = waiting ? pitch : p.c_row;
            Product<T> q = p;
            q.b = panels.data() + col * depth;
            q.b_k = kPanel;
            q.inner = depth;
            q.a = packs_rows ? packed_rows.data() + row * depth : a + row * p.a_row;
            if (packs_rows) {
              q.a_row = 1;
              q.a_k = kR;
            } else {
              q.a_k = 1;
            }
            if (first_k > 0) {
              q.start = wait;
              q.start_row = wait_row;
            } else if (p.start) {
              q.start += (first_row + row) * p.start_row + first_col + col;
            }
            if (is_last)
              return tile<kR, kC>(
                  q, 0, 0, [&](auto sum, std::size_t in_tile) { finish(sum, at + in_tile); });
            q.c_row = wait_row;
            tile<kR, kC>(q, 0, 0, [&](auto sum, std::size_t in_tile) {
              hn::StoreU(sum, Full<T>(), wait + in_tile);
            });
          });
        });
      }
    }
  }
}

template <class T>
HWY_INLINE void any_product(const Product<T>& p, std::size_t rows, std::size_t cols) {
  if (!is_large(p, rows, cols)) return product(p, rows, cols);
  blocked_product<false>(p, rows, cols,
                         [&](auto sum, std::size_t at) { hn::StoreU(sum, Full<T>(), p.c + at); });
}

// d_W tile by tile, and each weight updated as soon as its gradient is in a register: the divider,
// which takes most of an optimiser's time, then works beside the multiply-adds of the tiles that
// follow.
template <class T>
struct WeightTiles {
  Product<T> p;  // c is the gradient
  bool keep_gradient;
  T* w;                     // rows p.c_row apart
  OptimizerState<T> state;  // likewise
};

template <std::size_t R, std::size_t C, class T, class Rule>
HWY_INLINE void column_of_weight_tiles(const WeightTiles<T>& t, const Rule& rule, std::size_t rows,
                                       std::size_t col) {
  const Rule local = rule;  // a copy stays in registers
  const auto update = [&](auto g, std::size_t at) {
    if (t.keep_gradient) hn::StoreU(g, Full<T>(), t.p.c + at);
    local.update(g, t.w, t.state, at);
  };
  std::size_t row = 0;
  for (; row + R <= rows; row += R) tile<R, C>(t.p, row, col, update);
  for (; row < rows; ++row) tile<1, C>(t.p, row, col, update);
}

// Few rows: small tiles, so that the processor's look-ahead reaches over several of them. Many
// rows: tiles that use each load more often.
template <std::size_t R, class T, class Rule>
HWY_NOINLINE void weight_tiles(WeightTiles<T> t, const Rule& rule, std::size_t rows,
                               std::size_t cols) {
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  std::size_t col = 0;
  for (; col + 2 * kWidth <= padded(cols); col += 2 * kWidth)
    column_of_weight_tiles<R, 2>(t, rule, rows, col);
  for (; col < padded(cols); col += kWidth) column_of_weight_tiles<R, 1>(t, rule, rows, col);
}

//   in[0] = x (N, K), in[1] = W (K, M), out (N, M), which overlaps neither
// out[n][m]: y = 0, then y = fma(x[n][k], W[k][m], y) for k rising.
template <class T>
void matmul_forward(const Args<T>& x) {
  const auto &a = x.in[0], &w = x.in[1];
  any_product<T>({a.data, a.pitch, 1, w.data, w.pitch, x.out.data, x.out.pitch, w.rows}, x.out.rows,
                 padded(x.out.cols));
}

// d_x[n][k] += chain over m rising of d_out[n][m] W[k][m]; d_W[k][m] += chain over n rising of
// x[n][k] d_out[n][m].
template <class T>
HWY_INLINE void input_gradient(const Args<T>& x) {
  const auto &a = x.in[0], &w = x.in[1];
  if (!a.grad) return;
  constexpr std::size_t kFewRows = 2 * kRows;
  const std::size_t pitch = padded(w.rows);
  Product<T> p{x.out.grad, x.out.pitch, 1,
               w.data,     w.pitch,     a.grad,
               a.pitch,    w.cols,      a.first_writer ? nullptr : a.grad,
               a.pitch};
  if (x.out.rows <= kFewRows && pitch == w.rows) return transposed_product(p, x.out.rows, pitch);
  // W has to be copied to be transposed: into panels costs no more.
  if (pitch == w.rows && x.out.rows >= 4 * kRows && p.inner >= 64)
    return blocked_product<true>(p, x.out.rows, pitch, [&](auto sum, std::size_t at) {
      hn::StoreU(sum, Full<T>(), a.grad + at);
    });
  thread_local AlignedVector<T> transposed;
  transposed.resize(w.cols * pitch);
  transpose(w, transposed.data());
  p.b = transposed.data();
  p.b_k = pitch;
  any_product(p, x.out.rows, pitch);
}
template <class T>
void matmul_backward(const Args<T>& x) {
  input_gradient(x);
  const auto &a = x.in[0], &w = x.in[1];
  if (w.grad)
    any_product<T>({a.data, 1, a.pitch, x.out.grad, x.out.pitch, w.grad, w.pitch, x.out.rows,
                    w.first_writer ? nullptr : w.grad, w.pitch},
                   w.rows, padded(w.cols));
}
// d_x first: it needs the weights of before the step.
template <class T>
void matmul_fused_step(const Args<T>& x, const ParameterUpdate<T>& u) {
  constexpr std::size_t kFewRows = 16;
  input_gradient(x);
  const auto &a = x.in[0], &w = x.in[1];
  const WeightTiles<T> tiles{
      {a.data, 1, a.pitch, x.out.grad, x.out.pitch, w.grad, w.pitch, x.out.rows},
      u.keep_gradients,
      w.data,
      u.state[1]};
  with_rule(u.settings, [&](const auto& rule) {
    if (is_large(tiles.p, w.rows, padded(w.cols))) {
      const auto local = rule;  // a copy stays in registers
      // A gradient that nobody asks for never reaches memory.
      thread_local AlignedVector<T> waiting;
      if (!tiles.keep_gradient) waiting.resize(w.rows * waiting_pitch<T>(padded(w.cols)));
      return blocked_product<false>(
          tiles.p, w.rows, padded(w.cols),
          [&](auto g, std::size_t at) {
            if (tiles.keep_gradient) hn::StoreU(g, Full<T>(), tiles.p.c + at);
            local.update(g, tiles.w, tiles.state, at);
          },
          tiles.keep_gradient ? nullptr : waiting.data());
    }
    if (x.out.rows <= kFewRows)
      weight_tiles<2>(tiles, rule, w.rows, w.cols);
    else
      weight_tiles<kVectors == 4 ? 8 : 4>(tiles, rule, w.rows, w.cols);
  });
}

template <class T>
void expand_matmul(const Args<T>& x, Emitter<T>& e, std::size_t n) {
  const auto &a = x.in[0], &w = x.in[1];
  const auto zero = e.constant(0);
  for (std::size_t m = x.out.cols;
       m-- > 0;) {  // falling: a reverse walk then adds d_x with m rising
    auto y = zero;
    for (std::size_t k = 0; k < w.rows; ++k)
      y = e.multiply_add(e.operand(0, n * a.pitch + k), e.operand(1, k * w.pitch + m), y);
    e.output(m, y);
  }
}

template <class T>
std::string matmul_mismatch(const Args<T>& x) {
  if (x.in[0].cols == x.in[1].rows && x.out.rows == x.in[0].rows && x.out.cols == x.in[1].cols)
    return {};
  return "expected as many inputs as the " + std::to_string(x.in[1].rows) +
         " rows of the matrix, found " + std::to_string(x.in[0].cols);
}

template <class T>
void fill(Table<T>& t) {
  t.ops[static_cast<std::size_t>(Op::matmul)] = {.name = "matmul",
                                                 .symbol = "x W",
                                                 .operands = 2,
                                                 .mismatch = matmul_mismatch<T>,
                                                 .forward = matmul_forward<T>,
                                                 .backward = matmul_backward<T>,
                                                 .fused_step = matmul_fused_step<T>,
                                                 .expand = expand_matmul<T>,
                                                 .updates = {FusedUpdate::none, FusedUpdate::all},
                                                 .partition = Partition::product};
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
