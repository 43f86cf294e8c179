// A row for every operation of kernels/op.h, and the claims that every row is held to.
#include <algorithm>
#include <set>

#include "tests/support/kernel_call.h"

namespace glassbox::reference {
namespace {

struct Row {
  Op op;
  std::function<Case<double>(std::mt19937_64&, std::size_t length)> make;
  std::function<Matrix<Complex>(const Case<Complex>&)> plain;
};

// Operands are drawn from low to high, at least `away` from 0.
struct Range {
  double low, high, away = 1e-3;
};
Row unary(Op op, Range a, Complex (*f)(Complex)) {
  return {op,
          [=](auto& bits, std::size_t n) {
            return Case<double>{op, 1, n, {random_matrix(bits, 1, n, a.low, a.high, a.away)}};
          },
          [=](const Case<Complex>& x) {
            Matrix<Complex> out(1, x.cols);
            std::transform(x.in[0].data.begin(), x.in[0].data.end(), out.data.begin(), f);
            return out;
          }};
}
Row binary(Op op, Range a, Range b, Complex (*f)(Complex, Complex)) {
  return {op,
          [=](auto& bits, std::size_t n) {
            return Case<double>{op,
                                1,
                                n,
                                {random_matrix(bits, 1, n, a.low, a.high, a.away),
                                 random_matrix(bits, 1, n, b.low, b.high, b.away)}};
          },
          [=](const Case<Complex>& x) {
            Matrix<Complex> out(1, x.cols);
            for (std::size_t i = 0; i < x.cols; ++i)
              out(0, i) = f(x.in[0].data[i], x.in[1].data[i]);
            return out;
          }};
}
std::uint32_t below(std::mt19937_64& bits, std::size_t n) {
  return static_cast<std::uint32_t>(bits() % n);
}

const Range kAny{-3, 3}, kPositive{0.1, 4}, kNotSmall{-3, 3, 0.2};

const std::vector<Row>& rows() {
  static const std::vector<Row> rows = {
      binary(Op::add, kAny, kAny, [](Complex a, Complex b) { return a + b; }),
      binary(Op::sub, kAny, kAny, [](Complex a, Complex b) { return a - b; }),
      binary(Op::mul, kAny, kAny, [](Complex a, Complex b) { return a * b; }),
      binary(Op::div, kAny, kNotSmall, [](Complex a, Complex b) { return a / b; }),
      unary(Op::neg, kAny, [](Complex a) { return -a; }),
      binary(Op::pow, kPositive, kAny,
             [](Complex a, Complex b) { return std::exp(b * std::log(a)); }),
      unary(Op::sqrt, kPositive, [](Complex a) { return std::sqrt(a); }),
      unary(Op::rsqrt, kPositive, [](Complex a) { return 1.0 / std::sqrt(a); }),
      unary(Op::abs, kAny, [](Complex a) { return a.real() > 0 ? a : -a; }),
      binary(Op::max, kAny, kAny, [](Complex a, Complex b) { return a.real() > b.real() ? a : b; }),
      binary(Op::min, kAny, kAny, [](Complex a, Complex b) { return a.real() < b.real() ? a : b; }),
      unary(Op::exp, kAny, [](Complex a) { return std::exp(a); }),
      unary(Op::log, kPositive, [](Complex a) { return std::log(a); }),
      unary(Op::tanh, kAny, [](Complex a) { return std::tanh(a); }),
      unary(Op::sigmoid, kAny, [](Complex a) { return 1.0 / (1.0 + std::exp(-a)); }),
      unary(Op::relu, kAny, [](Complex a) { return a.real() > 0 ? a : Complex(0); }),
      unary(Op::gelu, kAny,
            [](Complex a) {
              return 0.5 * a * (1.0 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a)));
            }),
      unary(Op::silu, kAny, [](Complex a) { return a / (1.0 + std::exp(-a)); }),
      unary(Op::copy, kAny, [](Complex a) { return a; }),
      binary(Op::fused_mul, kAny, kAny, [](Complex a, Complex b) { return a * b; }),
      binary(Op::fused_add, kAny, kAny, [](Complex a, Complex b) { return a + b; }),
      {Op::sum,
       [](auto& bits, std::size_t n) {
         return Case<double>{Op::sum, 1, 1, {random_matrix(bits, 2, n)}};
       },
       sum<Complex>},
      {Op::mean,
       [](auto& bits, std::size_t n) {
         return Case<double>{Op::mean, 1, 1, {random_matrix(bits, 2, n)}};
       },
       mean<Complex>},
      {Op::dot,
       [](auto& bits, std::size_t n) {
         return Case<double>{Op::dot, 1, 1, {random_matrix(bits, 2, n), random_matrix(bits, 2, n)}};
       },
       dot<Complex>},
      {Op::gather,
       [](auto& bits, std::size_t n) {
         Case<double> x{Op::gather, 1, n, {random_matrix(bits, 1, 9)}};
         for (std::size_t i = 0; i < n; ++i) x.ids.push_back(below(bits, 9));
         return x;
       },
       gather<Complex>},
      {Op::embedding,
       [](auto& bits, std::size_t n) {
         return Case<double>{Op::embedding,
                             3,
                             n,
                             {random_matrix(bits, 4, n), random_matrix(bits, 2, n)},
                             {3, 0, 3, 0, 1, 1}};
       },
       embedding<Complex>},
      {Op::matmul,
       [](auto& bits, std::size_t n) {
         return Case<double>{
             Op::matmul, 2, 3, {random_matrix(bits, 2, n), random_matrix(bits, n, 3)}};
       },
       matmul<Complex>},
      {Op::rmsnorm,
       [](auto& bits, std::size_t n) {
         return Case<double>{Op::rmsnorm, 2, n, {random_matrix(bits, 2, n)}, {}, {.epsilon = 0.01}};
       },
       rmsnorm<Complex>},
      {Op::attention,
       [](auto& bits, std::size_t n) {
         const auto first = static_cast<std::uint32_t>(n);
         return Case<double>{
             Op::attention,         n + 2,       4, {random_matrix(bits, n + 2, 12)},
             {0, first, first + 2}, {.heads = 2}};
       },
       attention<Complex>},
      {Op::cached_attention,
       [](auto& bits, std::size_t n) {
         Case<double> x{Op::cached_attention, 1, 6, {random_matrix(bits, 1, 18 * n)}, {},
                        {.heads = 2}};
         for (std::size_t t = 0; t < n; ++t) x.ids.push_back(static_cast<std::uint32_t>(18 * t));
         return x;
       },
       attention<Complex>},
      {Op::cross_entropy,
       [](auto& bits, std::size_t n) {
         return Case<double>{Op::cross_entropy,
                             2,
                             1,
                             {random_matrix(bits, 2, n)},
                             {below(bits, n), below(bits, n)}};
       },
       cross_entropy<Complex>},
  };
  return rows;
}

template <class T>
struct Result {
  Matrix<T> out;
  std::vector<Matrix<T>> grad;
};
// By the matrix kernel, or scalar by scalar for what only expand() makes.
template <class T>
Result<T> run(const Case<T>& x, const Matrix<T>& d_out) {
  const auto& row = kernels::table<T>()[x.op];
  auto grad = zeros_like(x.in);
  if (row.forward) {
    KernelCall<T> kernel(x);
    auto out = kernel.forward();
    kernel.backward(d_out, grad, !row.reads_anywhere);
    return {out, grad};
  }
  Matrix<T> out(x.rows, x.cols);
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    const std::size_t last = x.in.size() - 1;
    const T a = x.in[0].data[i], b = x.in[last].data[i];
    out.data[i] = row.forward1(a, b);
    row.backward1(out.data[i], d_out.data[i], a, b, &grad[0].data[i], &grad[last].data[i]);
  }
  return {out, grad};
}

}  // namespace

TEST_CASE("every operation has a row here and a whole row in the table", "[kernels][ops]") {
  std::set<std::string> missing, incomplete;
#define GLASSBOX_OP(op) missing.insert(#op);
  GLASSBOX_OPS(GLASSBOX_OP)
#undef GLASSBOX_OP
  REQUIRE(missing.size() == kernels::kOpCount);
  missing.erase("leaf");
  for (const Row& r : rows()) {
    const auto& row = kernels::table<double>()[r.op];
    const auto& single = kernels::table<float>()[r.op];
    if (!row.name || !single.name || missing.erase(row.name) != 1 || !row.symbol ||
        row.operands < 1 || (!row.forward && !row.forward1) ||
        (row.forward && (!row.backward || !row.expand)) || (row.forward1 && !row.backward1))
      incomplete.insert(row.name ? row.name : "a row without a name");
  }
  REQUIRE(missing == std::set<std::string>{});
  REQUIRE(incomplete == std::set<std::string>{});
}

TEST_CASE("op values and gradients match the complex step at random points",
          "[kernels][ops][gradient]") {
  constexpr double h = 1e-50;
  std::mt19937_64 bits(301);
  const auto close = [](double got, double want) {
    return std::abs(got - want) <= 1e-12 * std::abs(want) + 1e-14;
  };
  for (const Row& r : rows())
    for (std::size_t length = 1; length <= 33; ++length) {
      const Case<double> x = r.make(bits, length);
      const auto d_out = random_matrix(bits, x.rows, x.cols, -2, 2, 0.1);
      const auto result = run(x, d_out);
      Case<Complex> z = convert<Complex>(x);
      CAPTURE(kernels::table<double>()[r.op].name, length);
      const auto plain = r.plain(z);
      for (std::size_t i = 0; i < plain.data.size(); ++i) {
        CAPTURE(i, result.out.data[i], plain.data[i].real());
        REQUIRE(close(result.out.data[i], plain.data[i].real()));
      }
      for (std::size_t k = 0; k < x.in.size(); ++k)
        for (std::size_t i = 0; i < x.in[k].data.size(); ++i) {
          z.in[k].data[i] += Complex(0, h);
          const auto moved = r.plain(z);
          z.in[k].data[i] = x.in[k].data[i];
          double want = 0;
          for (std::size_t o = 0; o < moved.data.size(); ++o)
            want += d_out.data[o] * (moved.data[o].imag() / h);
          const double got = result.grad[k].data[i];
          if (!close(got, want)) {
            CAPTURE(k, i, x.in[k].data[i], got, want);
            FAIL("wrong gradient");
          }
        }
    }
}

TEST_CASE("gradients of scalar operations match central differences of the kernel",
          "[kernels][ops][gradient]") {
  constexpr double h = 1e-5;
  std::mt19937_64 bits(302);
  const auto& table = kernels::table<double>();
  for (const Row& r : rows()) {
    const auto& row = table[r.op];
    if (!row.forward1) continue;
    const Case<double> x = r.make(bits, 20);
    for (std::size_t i = 0; i < 20; ++i) {
      const double a = x.in[0].data[i], b = x.in.back().data[i];
      if (x.in.size() == 2 && std::abs(a - b) < 1e-3) continue;  // the kink of max and min
      double d_a = 0, d_b = 0;
      row.backward1(row.forward1(a, b), 1, a, b, &d_a, &d_b);
      const double want_a = (row.forward1(a + h, b) - row.forward1(a - h, b)) / (2 * h);
      const double want_b = (row.forward1(a, b + h) - row.forward1(a, b - h)) / (2 * h);
      CAPTURE(row.name, a, b, d_a, d_b, want_a, want_b);
      REQUIRE(std::abs(d_a - want_a) <= 1e-6 * std::abs(want_a) + 1e-9);
      if (row.operands == 2) REQUIRE(std::abs(d_b - want_b) <= 1e-6 * std::abs(want_b) + 1e-9);
    }
  }
}

TEMPLATE_TEST_CASE(
    "forward1 and backward1 have the matrix kernel's bits at every length and on every target",
    "[kernels][ops]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const std::vector<T> odd = {0,
                              T(-0.),
                              1,
                              -1,
                              2,
                              Limits::infinity(),
                              -Limits::infinity(),
                              Limits::quiet_NaN(),
                              Limits::denorm_min(),
                              Limits::min(),
                              Limits::max(),
                              -7};
  const auto same = [](T a, T b) {
    return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b));
  };
  for_each_simd_target([&](const std::string&) {
    std::mt19937_64 bits(303);
    for (const Row& r : rows()) {
      const auto& row = kernels::table<T>()[r.op];
      if (!row.forward1 || !row.forward) continue;
      for (std::size_t length = 1; length <= 33; ++length) {
        Case<T> x = convert<T>(r.make(bits, length));
        for (auto& m : x.in)
          for (T& v : m.data)
            if (bits() % 3 == 0) v = odd[bits() % odd.size()];
        auto d_out = random_matrix<T>(bits, 1, length);
        d_out.data[bits() % length] = 0;
        KernelCall<T> kernel(x);
        const auto out = kernel.forward();
        for (const bool first_writer : {false, true}) {
          std::vector<Matrix<T>> start;
          for (const auto& m : x.in)
            start.push_back(first_writer ? Matrix<T>(1, length)
                                         : random_matrix<T>(bits, 1, m.cols));
          auto grad = start;
          kernel.backward(d_out, grad, first_writer);
          for (std::size_t i = 0; i < length; ++i) {
            const T a = x.in[0].data[i], b = x.in.back().data[i], y = row.forward1(a, b);
            T d_a = start[0].data[i], d_b = start.back().data[i];
            if (d_out.data[i] != 0) row.backward1(y, d_out.data[i], a, b, &d_a, &d_b);
            CAPTURE(row.name, length, i, a, b, first_writer, out.data[i], y, grad[0].data[i], d_a,
                    grad.back().data[i], d_b);
            if (!same(out.data[i], y) || !same(grad[0].data[i], d_a) ||
                (row.operands == 2 && !same(grad[1].data[i], d_b)))
              FAIL("different bits");
          }
        }
        REQUIRE(kernel.pads_are_zero());
      }
    }
  });
}

TEMPLATE_TEST_CASE("AVX2 and AVX-512 give equal bits for every operation", "[kernels][ops]", float,
                   double) {
  const auto all_results = [] {
    std::mt19937_64 bits(304);
    std::vector<TestType> results;
    for (const Row& r : rows())
      for (std::size_t length = 1; length <= 33; ++length) {
        const Case<TestType> x = convert<TestType>(r.make(bits, length));
        const auto result = run(x, random_matrix<TestType>(bits, x.rows, x.cols));
        results.insert(results.end(), result.out.data.begin(), result.out.data.end());
        for (const auto& g : result.grad)
          results.insert(results.end(), g.data.begin(), g.data.end());
      }
    return results;
  };
  std::vector<TestType> avx2, avx512;
  for_each_simd_target([&](const std::string& name) {
    if (name == "AVX2") avx2 = all_results();
    if (name == "AVX3") avx512 = all_results();
  });
  if (avx2.empty() || avx512.empty())
    WARN("this machine lacks AVX2 or AVX-512: not compared");
  else
    REQUIRE(different_bits<TestType>(avx2, avx512) == 0);
}

}  // namespace glassbox::reference
