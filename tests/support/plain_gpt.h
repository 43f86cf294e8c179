// The model once more, one scalar after another and nothing else: what nn/ and infer/ are held to.
//
// S is double, std::complex<double> for derivatives by the complex step (the imaginary part of f(x
// + ih) is h f'(x), without the cancellation of a difference), or Value<double>: the same by plain
// operators. Matrices are [out][in], as in the file. Sums run from the first term up.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "model/weights.h"

namespace glassbox::plain {

template <class S>
using Vector = std::vector<S>;
template <class S>
using Matrix = std::vector<Vector<S>>;

// A scalar as a number: a softmax is shifted by it, which is no operation of the model.
template <class S>
double number(const S& x) {
  if constexpr (requires { x.real(); }) {
    return x.real();
  } else if constexpr (requires { x.data(); }) {
    return x.data();
  } else {
    return x;
  }
}

inline double relu(double x) { return x > 0 ? x : 0.0; }
inline std::complex<double> relu(std::complex<double> z) { return z.real() > 0 ? z : 0.0; }

template <class S>
S activate(Activation activation, const S& x) {
  using std::exp;
  using std::tanh;
  if (activation == Activation::relu) return relu(x);
  if (activation == Activation::silu) return x / (exp(x * -1.0) + 1.0);
  return x * 0.5 * (tanh((x + x * x * x * 0.044715) * std::sqrt(2 / M_PI)) + 1.0);
}

template <class S>
S inner(const S* a, const S* b, std::size_t size) {
  S sum = a[0] * b[0];
  for (std::size_t i = 1; i < size; ++i) sum = sum + a[i] * b[i];
  return sum;
}

template <class S>
Vector<S> multiply(const Matrix<S>& w, const Vector<S>& x) {
  Vector<S> y;
  for (const Vector<S>& row : w) y.push_back(inner(row.data(), x.data(), x.size()));
  return y;
}

template <class S>
Vector<S> add(const Vector<S>& a, const Vector<S>& b) {
  Vector<S> sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + b[i]);
  return sum;
}

template <class S>
Vector<S> norm(const Vector<S>& x, double epsilon) {
  using std::sqrt;
  const S mean = inner(x.data(), x.data(), x.size()) / static_cast<double>(x.size());
  const S root = sqrt(mean + epsilon);
  Vector<S> y;
  for (const S& v : x) y.push_back(v / root);
  return y;
}

// e^(x_i - max) and their sum.
template <class S>
struct Exponentials {
  double shift;
  Vector<S> each;
  S sum;
};
template <class S>
Exponentials<S> exponentials(const Vector<S>& x) {
  using std::exp;
  double shift = number(x[0]);
  for (const S& v : x) shift = std::max(shift, number(v));
  Vector<S> each;
  for (const S& v : x) each.push_back(exp(v - shift));
  S sum = each[0];
  for (std::size_t i = 1; i < each.size(); ++i) sum = sum + each[i];
  return {shift, each, sum};
}

// In nats.
template <class S>
S cross_entropy(const Vector<S>& logits, TokenId target) {
  using std::log;
  const Exponentials<S> e = exponentials(logits);
  return log(e.sum) + e.shift - logits[target];
}

template <class S>
struct Gpt {
  // `weight(parameter, row, col)` gives each scalar.
  template <class Weight>
  Gpt(const ParameterLayout& layout, Weight weight) : config(layout.config()) {
    for (const ParameterSpec& p : layout.parameters()) {
      Matrix<S>& m = w[p.name];
      for (std::size_t row = 0; row < p.rows; ++row) {
        m.emplace_back();
        for (std::size_t col = 0; col < p.cols; ++col) m.back().push_back(weight(p, row, col));
      }
    }
  }

  // The weights as plain numbers, or as complex ones.
  explicit Gpt(WeightsView<double> weights)
      : Gpt(*weights.layout, [&](const ParameterSpec& p, std::size_t row, std::size_t col) {
          return S(weights.data[p.index(row, col)]);
        }) {}

  struct Cache {
    std::map<std::size_t, Matrix<S>> keys, values;  // of each layer, a row a position
  };

  // The newest position against all that are in the cache; head h owns columns h * head_dim on.
  Vector<S> attention(const Vector<S>& query, const Matrix<S>& keys,
                      const Matrix<S>& values) const {
    const std::size_t size = config.head_dim();
    Vector<S> out;
    for (std::size_t first = 0; first < config.n_embd; first += size) {
      Vector<S> scores;
      for (const Vector<S>& key : keys)
        scores.push_back(inner(query.data() + first, key.data() + first, size) /
                         std::sqrt(static_cast<double>(size)));
      const Exponentials<S> e = exponentials(scores);
      for (std::size_t j = first; j < first + size; ++j) {
        S sum = e.each[0] / e.sum * values[0][j];
        for (std::size_t t = 1; t < values.size(); ++t)
          sum = sum + e.each[t] / e.sum * values[t][j];
        out.push_back(sum);
      }
    }
    return out;
  }

  // The logits after one token more.
  Vector<S> forward(TokenId token, std::size_t position, Cache& cache) const {
    const double epsilon = config.norm_epsilon;
    Vector<S> x = add(w.at("token_embedding")[token], w.at("position_embedding")[position]);
    x = norm(x, epsilon);
    for (std::size_t l = 0; l < config.n_layer; ++l) {
      const std::string layer = "layers." + std::to_string(l) + ".";
      const auto matrix = [&](const char* name) -> const Matrix<S>& { return w.at(layer + name); };
      Vector<S> h = norm(x, epsilon);
      cache.keys[l].push_back(multiply(matrix("attention.key"), h));
      cache.values[l].push_back(multiply(matrix("attention.value"), h));
      h = attention(multiply(matrix("attention.query"), h), cache.keys[l], cache.values[l]);
      x = add(x, multiply(matrix("attention.output"), h));
      h = multiply(matrix("mlp.hidden"), norm(x, epsilon));
      for (S& v : h) v = activate(config.activation, v);
      x = add(x, multiply(matrix("mlp.output"), h));
    }
    return multiply(w.at("output"), config.final_norm ? norm(x, epsilon) : x);
  }

  // Each sentence's mean over its positions, then their mean.
  S loss(std::span<const std::vector<TokenId>> sentences) const {
    Vector<S> means;
    for (const std::vector<TokenId>& tokens : sentences) {
      Cache cache;
      Vector<S> losses;
      for (std::size_t t = 0; t + 1 < tokens.size() && t < config.block_size; ++t)
        losses.push_back(cross_entropy(forward(tokens[t], t, cache), tokens[t + 1]));
      means.push_back(average(losses));
    }
    return average(means);
  }

  GptConfig config;
  std::map<std::string, Matrix<S>> w;

 private:
  static S average(const Vector<S>& x) {
    S total = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) total = total + x[i];
    return total / static_cast<double>(x.size());
  }
};

}  // namespace glassbox::plain
