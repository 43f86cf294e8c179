// Adam as a pass of its own, and where matmul and embedding finish a gradient: equal bits.
#include <algorithm>

#include "kernels/optimizer.h"
#include "tests/support/kernel_call.h"

namespace glassbox::reference {
namespace {

// Step number t of a run at a rate of 0.01, as an optimiser hands it to the kernels.
template <class T>
kernels::AdamSettings<T> settings(std::uint32_t t, double beta1 = 0.85, double beta2 = 0.99) {
  const double root = std::sqrt(1 - std::pow(beta2, t));
  return {.step_size = T(0.01 * root / (1 - std::pow(beta1, t))),
          .epsilon = T(1e-8 * root),
          .beta1 = T(beta1),
          .beta2 = T(beta2),
          .one_minus_beta1 = T(1 - beta1),
          .one_minus_beta2 = T(1 - beta2),
          .step = t,
          .may_skip_rows = t > 1};
}

// Blocks of zeros with what an operation's own parameters need; operands k of `sizes` are rows and
// columns.
template <class T>
struct Trained {
  Trained(Op o, std::size_t rows, std::size_t cols,
          std::vector<std::pair<std::size_t, std::size_t>> in)
      : op(o), out(rows, cols) {
    for (const auto& [r, c] : in) operand.emplace_back(r, c);
  }
  struct Buffer {
    Buffer(std::size_t r, std::size_t c) : rows(r), cols(c), pitch(kernels::padded(c)) {
      for (auto* v : {&data, &grad, &m, &v_}) v->resize(rows * pitch);
      last_step.resize(data.size() / kernels::kLanes);
      active.resize(last_step.size());
    }
    void draw(std::mt19937_64& bits, std::vector<T>& to) {
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = i % pitch < cols ? static_cast<T>(uniform(bits, -1, 1)) : T(0);
    }
    kernels::MatrixView<T> block() {
      return {.data = data.data(),
              .grad = grad.data(),
              .rows = std::uint32_t(rows),
              .cols = std::uint32_t(cols),
              .pitch = std::uint32_t(pitch),
              .first_writer = true};
    }
    std::size_t rows, cols, pitch;
    std::vector<T> data, grad, m, v_;
    kernels::OptimizerState<T> state() {
      return {m.data(), v_.data(), {last_step.data(), active.data(), &active_count}};
    }
    std::vector<std::uint32_t> last_step, active;
    std::uint32_t active_count = 0;
  };
  kernels::Args<T> args() {
    kernels::Args<T> x;
    x.out = out.block();
    x.ids = ids;
    for (std::size_t k = 0; k < operand.size(); ++k) x.in[k] = operand[k].block();
    return x;
  }
  // backward(), then the optimiser's pass over the operands from `first` on.
  void apart(const kernels::AdamSettings<T>& s, std::size_t first) {
    const auto& table = kernels::table<T>();
    table[op].backward(args());
    for (std::size_t k = first; k < operand.size(); ++k) {
      Buffer& p = operand[k];
      table.update({p.data.data(), p.grad.data(), p.state(), p.data.size(), s});
    }
  }
  void within(const kernels::AdamSettings<T>& s, std::size_t first, bool keep_gradients) {
    kernels::ParameterUpdate<T> u;
    for (std::size_t k = first; k < operand.size(); ++k) u.state[k] = operand[k].state();
    u.keep_gradients = keep_gradients;
    u.settings = s;
    kernels::table<T>()[op].fused_step(args(), u);
  }
  Op op;
  Buffer out;
  std::vector<Buffer> operand;
  std::vector<std::uint32_t> ids;
};

}  // namespace

TEMPLATE_TEST_CASE("Adam has the bits of a plain loop and flushes tiny moments every 16th step",
                   "[kernels][adam]", float, double) {
  using T = TestType;
  constexpr T least = std::numeric_limits<T>::min();
  for_each_simd_target([](const std::string&) {
    std::mt19937_64 bits(381);
    for (const std::uint32_t t : {3, 16}) {
      auto w = random_matrix<T>(bits, 1, 64), g = random_matrix<T>(bits, 1, 64);
      auto m = random_matrix<T>(bits, 1, 64), v = random_matrix<T>(bits, 1, 64, 0, 1);
      for (std::size_t i = 0; i < 64; i += 5) g.data[i] = 0, m.data[i] = -least, v.data[i] = least;
      const auto s = settings<T>(t);
      auto w0 = w, m0 = m, v0 = v;
      kernels::table<T>().update(
          {w.data.data(), g.data.data(), {m.data.data(), v.data.data(), {}}, 64, s});
      for (std::size_t i = 0; i < 64; ++i) {
        T &mi = m0.data[i], &vi = v0.data[i], gi = g.data[i];
        mi = multiply_add(s.beta1, mi, s.one_minus_beta1 * gi);
        vi = multiply_add(s.beta2, vi, s.one_minus_beta2 * gi * gi);
        if (t == 16 && std::abs(mi) < least) mi = 0;
        if (t == 16 && vi < least) vi = 0;
        w0.data[i] = multiply_add(-s.step_size, mi / (std::sqrt(vi) + s.epsilon), w0.data[i]);
      }
      REQUIRE((m.data[5] == 0) == (t == 16));
      REQUIRE(differences(m, m0) == 0);
      REQUIRE(differences(v, v0) == 0);
      REQUIRE(differences(w, w0) == 0);
    }
  });
}

TEST_CASE("Adam takes the steps of the paper's formula", "[kernels][adam]") {
  constexpr double rate = 0.01, beta1 = 0.85, beta2 = 0.99, epsilon = 1e-8;
  std::vector<double> w(16), m(16), v(16), g(16);
  double want = 0, first = 0, second = 0;
  for (std::uint32_t t = 1; t <= 20; ++t) {
    g[3] = t == 1 ? 1e-3 : std::sin(t);
    kernels::table<double>().update(
        {w.data(), g.data(), {m.data(), v.data(), {}}, 16, settings<double>(t)});
    first = beta1 * first + (1 - beta1) * g[3];
    second = beta2 * second + (1 - beta2) * g[3] * g[3];
    want -= rate * (first / (1 - std::pow(beta1, t))) /
            (std::sqrt(second / (1 - std::pow(beta2, t))) + epsilon);
    REQUIRE(w[3] == Approx(want).epsilon(1e-13));
    if (t == 1) REQUIRE(w[3] == Approx(-0.00999990000099999).epsilon(1e-14));
    REQUIRE(w[4] == 0);  // never had a gradient
  }
}

TEMPLATE_TEST_CASE("matmul moves its weights as backward and Adam one after another do",
                   "[kernels][adam][matmul]", float, double) {
  using T = TestType;
  for_each_simd_target([](const std::string&) {
    std::mt19937_64 bits(382);
    std::vector<std::array<std::size_t, 3>> shapes = {
        {300, 101, 90}, {530, 30, 130}, {70, 200, 1090}};  // in blocks
    for (const std::size_t N : {1, 6, 17, 21})
      for (const std::size_t K : {1, 8, 19, 32})
        for (const std::size_t M : {1, 5, 16, 21, 33, 90, 96}) shapes.push_back({N, K, M});
    for (const auto& [N, K, M] : shapes) {
      CAPTURE(N, K, M);
      Trained<T> a(Op::matmul, N, M, {{N, K}, {K, M}});
      a.out.draw(bits, a.out.grad);
      a.operand[0].draw(bits, a.operand[0].data);
      auto& w = a.operand[1];
      for (auto* v : {&w.data, &w.m, &w.v_}) w.draw(bits, *v);
      for (T& v : w.v_) v = std::abs(v);
      Trained<T> b = a, c = a;
      const auto s = settings<T>(4);
      a.apart(s, 1);
      b.within(s, 1, true);
      c.within(s, 1, false);
      REQUIRE(different_bits<T>(a.operand[1].grad, b.operand[1].grad) == 0);
      for (auto* other : {&b, &c}) {
        REQUIRE(different_bits<T>(a.operand[0].grad, other->operand[0].grad) == 0);
        REQUIRE(different_bits<T>(a.operand[1].data, other->operand[1].data) == 0);
        REQUIRE(different_bits<T>(a.operand[1].m, other->operand[1].m) == 0);
        REQUIRE(different_bits<T>(a.operand[1].v_, other->operand[1].v_) == 0);
      }
    }
  });
}

TEMPLATE_TEST_CASE(
    "embedding moves its tables as backward and Adam do even over long gaps without gradient",
    "[kernels][adam][gather]", float, double) {
  using T = TestType;
  for_each_simd_target([](const std::string&) {
    for (const double beta1 : {0.85, 0.3}) {
      std::mt19937_64 bits(383);
      Trained<T> a(Op::embedding, 3, 19, {{6, 19}, {4, 19}});
      for (auto& table : a.operand) table.draw(bits, table.data);
      a.operand[0].data[0] = 0;
      Trained<T> b = a;
      std::size_t different = 0, skipped = 0;
      for (std::uint32_t t = 1; t <= 2500;
           ++t) {  // rows 4 and 5 have a gradient at the start and near the end
        const std::uint64_t words = t < 5 || t > 2490 ? 6 : 4;
        a.ids = {std::uint32_t(bits() % words),
                 std::uint32_t(bits() % words),
                 1,
                 0,
                 1,
                 t == 1 ? 3u : 0u};
        b.ids = a.ids;
        a.out.draw(bits, a.out.grad);
        b.out.grad = a.out.grad;
        const auto s = settings<T>(t, beta1);
        a.apart(s, 0);
        b.within(s, 0, t % 2 == 0);
        for (int k : {0, 1}) {
          auto &x = a.operand[k], &y = b.operand[k];
          skipped += std::count_if(y.last_step.begin(), y.last_step.end(),
                                   [](auto step) { return step > 0; });
          different += different_bits<T>(x.data, y.data);
          if (t % 250 != 0) continue;
          kernels::table<T>().catch_up(y.state(), y.data.size(), s);
          y.active_count = 0;
          different += different_bits<T>(x.m, y.m) + different_bits<T>(x.v_, y.v_);
        }
      }
      REQUIRE(skipped > 1000);
      CAPTURE(beta1);
      REQUIRE(different == 0);
    }
  });
}

TEST_CASE("embedding moves weights whose squares overflow as Adam alone does",
          "[kernels][adam][gather]") {
  for_each_simd_target([](const std::string&) {
    Trained<float> a(Op::embedding, 1, 16, {{2, 16}, {1, 16}});
    auto& table = a.operand[0];
    std::fill(table.data.begin(), table.data.end(), 1e20f);
    std::fill(table.m.begin(), table.m.end(), 1e10f);
    std::fill(table.v_.begin(), table.v_.end(), 1e-20f);
    a.ids = {0, 0};
    Trained<float> b = a;
    const auto s = settings<float>(3);
    a.apart(s, 0);
    b.within(s, 0, true);
    REQUIRE(a.operand[0].data[16] != 1e20f);  // row 1 is in no batch and moves none the less
    REQUIRE(different_bits<float>(a.operand[0].data, b.operand[0].data) == 0);
  });
}

}  // namespace glassbox::reference
