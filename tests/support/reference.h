// Every kernel over a run once more as plain loops, in the order that kernels/ promises: equal bits
// with S float or double. With S = std::complex<double> the forward half gives derivatives by the
// complex step: the imaginary part of f(x + ih) is h f'(x), without the cancellation of a
// difference.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/op.h"

namespace glassbox::reference {

using kernels::Op;
using Complex = std::complex<double>;

template <class S>
struct Matrix {
  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), cols(c), data(r * c) {}
  S& operator()(std::size_t n, std::size_t m) { return data[n * cols + m]; }
  const S& operator()(std::size_t n, std::size_t m) const { return data[n * cols + m]; }
  std::size_t rows = 0, cols = 0;
  std::vector<S> data;
};

// One use of an operation. Of an operation that reads anywhere, in[0] is the arena as a single row.
template <class S>
struct Case {
  Op op;
  std::size_t rows, cols;  // of the output
  std::vector<Matrix<S>> in;
  std::vector<std::uint32_t> ids = {};
  kernels::Settings settings = {};
};

template <class To, class From>
Case<To> convert(const Case<From>& x) {
  Case<To> y{x.op, x.rows, x.cols, {}, x.ids, x.settings};
  for (const Matrix<From>& m : x.in) {
    y.in.emplace_back(m.rows, m.cols);
    for (std::size_t i = 0; i < m.data.size(); ++i)
      y.in.back().data[i] = static_cast<To>(m.data[i]);
  }
  return y;
}

// Uniform between low and high, at least `away` from 0.
inline double uniform(std::mt19937_64& bits, double low, double high, double away = 0) {
  for (;;) {
    const double x = low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
    if (std::abs(x) >= away) return x;
  }
}
template <class S = double>
Matrix<S> random_matrix(std::mt19937_64& bits, std::size_t rows, std::size_t cols, double low = -2,
                        double high = 2, double away = 0) {
  Matrix<S> m(rows, cols);
  for (S& x : m.data) x = static_cast<S>(uniform(bits, low, high, away));
  return m;
}

// The library's own scalar operations, so that bits can be equal; a complex number uses the
// standard ones.
template <class T>
T multiply_add(T a, T b, T c) {
  return kernels::table<T>().multiply_add(a, b, c);
}
inline Complex multiply_add(Complex a, Complex b, Complex c) { return a * b + c; }
template <class T>
T exp(T a) {
  return kernels::table<T>()[Op::exp].forward1(a, a);
}
inline Complex exp(Complex a) { return std::exp(a); }
template <class T>
T log(T a) {
  return kernels::table<T>()[Op::log].forward1(a, a);
}
inline Complex log(Complex a) { return std::log(a); }

template <class S>
auto real(S x) {
  if constexpr (std::is_same_v<S, Complex>)
    return x.real();
  else
    return x;
}

// Sixteen running sums and their tree.
template <class S>
struct LaneSum {
  std::array<S, kernels::kLanes> lane{};
  void add(std::size_t i, S x) { lane[i % kernels::kLanes] += x; }
  void add_product(std::size_t i, S a, S b) {
    S& sum = lane[i % kernels::kLanes];
    sum = multiply_add(a, b, sum);
  }
  S total() {
    for (std::size_t half = kernels::kLanes / 2; half > 0; half /= 2)
      for (std::size_t j = 0; j < half; ++j) lane[j] += lane[j + half];
    return lane[0];
  }
};

template <class S>
Matrix<S> matmul(const Case<S>& x) {
  Matrix<S> out(x.rows, x.cols);
  for (std::size_t n = 0; n < x.rows; ++n)
    for (std::size_t m = 0; m < x.cols; ++m)
      for (std::size_t k = 0; k < x.in[1].rows; ++k)
        out(n, m) = multiply_add(x.in[0](n, k), x.in[1](k, m), out(n, m));
  return out;
}
template <class T>
void matmul_backward(const Case<T>& x, const Matrix<T>& d_out, std::vector<Matrix<T>>& grad) {
  for (std::size_t n = 0; n < x.rows; ++n)
    for (std::size_t m = 0; m < x.cols; ++m)
      for (std::size_t k = 0; k < x.in[1].rows; ++k) {
        grad[0](n, k) = multiply_add(d_out(n, m), x.in[1](k, m), grad[0](n, k));
        grad[1](k, m) = multiply_add(d_out(n, m), x.in[0](n, k), grad[1](k, m));
      }
}

template <class S>
S norm_scale(const Case<S>& x, std::size_t n) {
  LaneSum<S> squares;
  for (std::size_t i = 0; i < x.cols; ++i) squares.add_product(i, x.in[0](n, i), x.in[0](n, i));
  return S(1) / std::sqrt(squares.total() * (S(1) / S(x.cols)) + S(x.settings.epsilon));
}
template <class S>
Matrix<S> rmsnorm(const Case<S>& x) {
  Matrix<S> out(x.rows, x.cols);
  for (std::size_t n = 0; n < x.rows; ++n)
    for (std::size_t i = 0; i < x.cols; ++i) out(n, i) = x.in[0](n, i) * norm_scale(x, n);
  return out;
}
template <class T>
void rmsnorm_backward(const Case<T>& x, const Matrix<T>& d_out, std::vector<Matrix<T>>& grad) {
  for (std::size_t n = 0; n < x.rows; ++n) {
    const T r = norm_scale(x, n);
    LaneSum<T> d_r;
    for (std::size_t i = 0; i < x.cols; ++i) d_r.add_product(i, d_out(n, i), x.in[0](n, i));
    const T d_square = d_r.total() * (T(-0.5) * r * r * r) * (T(1) / T(x.cols));
    for (std::size_t i = 0; i < x.cols; ++i) {
      T& g = grad[0](n, i);
      g = multiply_add(d_out(n, i), r, g);
      g = multiply_add(d_square, x.in[0](n, i), g);
      g = multiply_add(d_square, x.in[0](n, i), g);
    }
  }
}

template <class S>
struct Softmax {
  std::vector<S> exponentials;
  S sum;
  decltype(real(S())) highest;
};
template <class S>
Softmax<S> softmax(const std::vector<S>& x) {
  Softmax<S> s{{}, {}, real(x[0])};
  for (const S& v : x) s.highest = std::max(s.highest, real(v));
  LaneSum<S> sums;
  for (std::size_t i = 0; i < x.size(); ++i) {
    s.exponentials.push_back(exp(x[i] - s.highest));
    sums.add(i, s.exponentials[i]);
  }
  s.sum = sums.total();
  return s;
}

template <class S>
std::vector<S> row_of(const Matrix<S>& m, std::size_t n) {
  return {m.data.begin() + n * m.cols, m.data.begin() + (n + 1) * m.cols};
}
template <class S>
Matrix<S> cross_entropy(const Case<S>& x) {
  Matrix<S> out(x.rows, 1);
  for (std::size_t n = 0; n < x.rows; ++n) {
    const auto s = softmax(row_of(x.in[0], n));
    out(n, 0) = log(s.sum) + s.highest - x.in[0](n, x.ids[n]);
  }
  return out;
}
template <class T>
void cross_entropy_backward(const Case<T>& x, const Matrix<T>& d_out,
                            std::vector<Matrix<T>>& grad) {
  for (std::size_t n = 0; n < x.rows; ++n) {
    const auto s = softmax(row_of(x.in[0], n));
    const T scale = d_out(n, 0) * (T(1) / s.sum);
    grad[0](n, x.ids[n]) -= d_out(n, 0);
    for (std::size_t i = 0; i < x.in[0].cols; ++i) grad[0](n, i) += s.exponentials[i] * scale;
  }
}

// A query at position i of a sentence whose query-key-value rows begin at places `row`; one head.
template <class S>
struct Head {
  Head(const std::vector<S>& data, const std::vector<std::size_t>& row, std::size_t i,
       std::size_t width, std::size_t first, std::size_t head_dim)
      : scale(S(1) / std::sqrt(S(head_dim))) {
    std::vector<S> scores;
    for (std::size_t t = 0; t <= i; ++t) {
      S sum(0);
      for (std::size_t j = first; j < first + head_dim; ++j)
        sum = multiply_add(data[row[i] + j], data[row[t] + width + j], sum);
      scores.push_back(sum * scale);
    }
    soft = softmax(scores);
    inverse = S(1) / soft.sum;
    for (const S& e : soft.exponentials) weights.push_back(e * inverse);
    for (std::size_t j = first; j < first + head_dim; ++j) {
      S sum(0);
      for (std::size_t t = 0; t <= i; ++t)
        sum = multiply_add(weights[t], data[row[t] + 2 * width + j], sum);
      out.push_back(sum);
    }
  }
  S scale, inverse;
  Softmax<S> soft;
  std::vector<S> weights, out;
};
template <class T>
void head_backward(const std::vector<T>& data, const std::vector<std::size_t>& row, std::size_t i,
                   std::size_t width, std::size_t first, std::size_t head_dim, const T* d_out,
                   std::vector<T>& grad) {
  const Head<T> head(data, row, i, width, first, head_dim);
  const auto& e = head.soft.exponentials;
  std::vector<T> d_weight(i + 1);
  LaneSum<T> sums;
  for (std::size_t t = 0; t <= i; ++t) {
    for (std::size_t j = first; j < first + head_dim; ++j)
      d_weight[t] = multiply_add(d_out[j], data[row[t] + 2 * width + j], d_weight[t]);
    sums.add_product(t, d_weight[t], e[t]);
  }
  const T d_sum = -(sums.total() * (head.inverse * head.inverse));
  for (std::size_t t = 0; t <= i; ++t) {
    const T d_score = (d_weight[t] * head.inverse + d_sum) * e[t] * head.scale;
    for (std::size_t j = first; j < first + head_dim; ++j) {
      const auto add = [&](std::size_t place, T a, T b) {
        grad[place] = multiply_add(a, b, grad[place]);
      };
      add(row[i] + j, d_score, data[row[t] + width + j]);
      add(row[t] + width + j, d_score, data[row[i] + j]);
      add(row[t] + 2 * width + j, head.weights[t], d_out[j]);
    }
  }
}

// Calls f(rows of the sentence, position of the query, row of the output) for every query.
template <class S, class F>
void for_each_query(const Case<S>& x, F f) {
  if (x.op == Op::cached_attention)
    return f(std::vector<std::size_t>(x.ids.begin(), x.ids.end()), x.ids.size() - 1, 0);
  for (std::size_t b = 0; b + 1 < x.ids.size(); ++b) {
    std::vector<std::size_t> row;
    for (std::size_t n = x.ids[b]; n < x.ids[b + 1]; ++n) row.push_back(n * x.in[0].cols);
    for (std::size_t i = 0; i < row.size(); ++i) f(row, i, x.ids[b] + i);
  }
}
template <class S>
Matrix<S> attention(const Case<S>& x) {
  Matrix<S> out(x.rows, x.cols);
  const std::size_t size = x.cols / x.settings.heads;
  for_each_query(x, [&](const auto& row, std::size_t i, std::size_t n) {
    for (std::size_t first = 0; first < x.cols; first += size) {
      const Head<S> head(x.in[0].data, row, i, x.cols, first, size);
      for (std::size_t j = 0; j < size; ++j) out(n, first + j) = head.out[j];
    }
  });
  return out;
}
template <class T>
void attention_backward(const Case<T>& x, const Matrix<T>& d_out, std::vector<Matrix<T>>& grad) {
  const std::size_t size = x.cols / x.settings.heads;
  for_each_query(x, [&](const auto& row, std::size_t i, std::size_t n) {
    for (std::size_t first = 0; first < x.cols; first += size)
      head_backward(x.in[0].data, row, i, x.cols, first, size, &d_out(n, 0), grad[0].data);
  });
}

template <class S>
Matrix<S> embedding(const Case<S>& x) {
  Matrix<S> out(x.rows, x.cols);
  for (std::size_t n = 0; n < x.rows; ++n)
    for (std::size_t m = 0; m < x.cols; ++m)
      out(n, m) = x.in[0](x.ids[n], m) + x.in[1](x.ids[x.rows + n], m);
  return out;
}
template <class T>
void embedding_backward(const Case<T>& x, const Matrix<T>& d_out, std::vector<Matrix<T>>& grad) {
  for (std::size_t n = 0; n < x.rows; ++n)
    for (std::size_t m = 0; m < x.cols; ++m) {
      grad[0](x.ids[n], m) += d_out(n, m);
      grad[1](x.ids[x.rows + n], m) += d_out(n, m);
    }
}

template <class S>
Matrix<S> gather(const Case<S>& x) {
  Matrix<S> out(1, x.cols);
  for (std::size_t i = 0; i < x.cols; ++i) out(0, i) = x.in[0].data[x.ids[i]];
  return out;
}
template <class T>
void gather_backward(const Case<T>& x, const Matrix<T>& d_out, std::vector<Matrix<T>>& grad) {
  for (std::size_t i = 0; i < x.cols; ++i) grad[0].data[x.ids[i]] += d_out(0, i);
}

template <class S>
Matrix<S> sum(const Case<S>& x) {
  LaneSum<S> sums;
  const Matrix<S>& a = x.in[0];
  for (std::size_t i = 0; i < a.data.size(); ++i) sums.add(i % a.cols, a.data[i]);
  Matrix<S> out(1, 1);
  out(0, 0) = sums.total();
  return out;
}
template <class T>
void sum_backward(const Case<T>&, const Matrix<T>& d_out, std::vector<Matrix<T>>& grad) {
  for (T& g : grad[0].data) g += d_out(0, 0);
}
template <class S>
Matrix<S> mean(const Case<S>& x) {
  Matrix<S> out = sum(x);
  out(0, 0) *= S(1) / S(x.in[0].data.size());
  return out;
}
template <class T>
void mean_backward(const Case<T>& x, const Matrix<T>& d_out, std::vector<Matrix<T>>& grad) {
  for (T& g : grad[0].data) g += d_out(0, 0) * (T(1) / T(x.in[0].data.size()));
}
template <class S>
Matrix<S> dot(const Case<S>& x) {
  LaneSum<S> sums;
  const auto &a = x.in[0], &b = x.in[1];
  for (std::size_t i = 0; i < a.data.size(); ++i)
    sums.add_product(i % a.cols, a.data[i], b.data[i]);
  Matrix<S> out(1, 1);
  out(0, 0) = sums.total();
  return out;
}
template <class T>
void dot_backward(const Case<T>& x, const Matrix<T>& d_out, std::vector<Matrix<T>>& grad) {
  for (std::size_t i = 0; i < x.in[0].data.size(); ++i) {
    grad[0].data[i] = multiply_add(d_out(0, 0), x.in[1].data[i], grad[0].data[i]);
    grad[1].data[i] = multiply_add(d_out(0, 0), x.in[0].data[i], grad[1].data[i]);
  }
}

}  // namespace glassbox::reference
