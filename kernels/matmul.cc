// out = x W: most of the time of training and of inference is spent here.
//
// Lanes run over outputs and every output is one chain of multiply-adds, so no sum runs across lanes and
// the bits are the same for every N, tile, vector width and thread count.
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul.cc"
#include <hwy/foreach_target.h>

#include <vector>

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

template <std::size_t R, std::size_t C, class T>
HWY_INLINE void tile(const Product<T>& p, std::size_t row, std::size_t col) {
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
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c)
      hn::StoreU(sum[r][c], d, p.c + (row + r) * p.c_row + col + c * kWidth);
}

template <std::size_t C, class T>
HWY_INLINE void column_of_tiles(const Product<T>& p, std::size_t rows, std::size_t col) {
  std::size_t row = 0;
  for (; row + kRows <= rows; row += kRows) tile<kRows, C>(p, row, col);
  switch (rows - row) {
    case 5: return tile<5, C>(p, row, col);
    case 4: return tile<4, C>(p, row, col);
    case 3: return tile<3, C>(p, row, col);
    case 2: return tile<2, C>(p, row, col);
    case 1: return tile<1, C>(p, row, col);
    default: return;
  }
}

// REQUIRES: cols is a multiple of kLanes (rows of b and c are padded).
template <class T>
HWY_NOINLINE void product(const Product<T>& p, std::size_t rows, std::size_t cols) {
  constexpr std::size_t kWidth = hn::MaxLanes(Full<T>());
  std::size_t col = 0;
  for (; col + kVectors * kWidth <= cols; col += kVectors * kWidth)
    column_of_tiles<kVectors>(p, rows, col);
  for (; col < cols; col += kWidth) column_of_tiles<1>(p, rows, col);
}

template <class T>
HWY_NOINLINE void transpose(const T* from, std::size_t rows, std::size_t cols,
                            std::size_t from_pitch, T* to, std::size_t to_pitch) {
  constexpr std::size_t kBlock = 16;  // 16 x 16 floats: both sides stay in 16 cache lines
  for (std::size_t r0 = 0; r0 < rows; r0 += kBlock)
    for (std::size_t c0 = 0; c0 < cols; c0 += kBlock)
      for (std::size_t c = c0; c < std::min(c0 + kBlock, cols); ++c)
        for (std::size_t r = r0; r < std::min(r0 + kBlock, rows); ++r)
          to[c * to_pitch + r] = from[r * from_pitch + c];
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
void matmul_backward(const Args<T>& x) {
  const auto &a = x.in[0], &w = x.in[1];
  if (a.grad) {
    const std::size_t pitch = padded(w.rows);
    const T* mirror = w.mirror;
    std::vector<T> turned;  // a user's own matrix has no mirror: turn it round for this call
    if (!mirror) {
      turned.resize(std::size_t{w.cols} * pitch);
      transpose<T>(w.data, w.rows, w.cols, w.pitch, turned.data(), pitch);
      mirror = turned.data();
    }
    product<T>({x.out.grad, x.out.pitch, 1, mirror, pitch, a.grad, a.pitch, w.cols,
                !a.first_writer},
               x.out.rows, pitch);
  }
  if (w.grad)
    product<T>({a.data, 1, a.pitch, x.out.grad, x.out.pitch, w.grad, w.pitch, x.out.rows,
                !w.first_writer},
               w.rows, padded(w.cols));
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
      .backward = matmul_backward<T>, .expand = expand_matmul<T>, .uses_mirror = true};
  t.transpose = transpose<T>;
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
