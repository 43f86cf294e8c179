// Rung 3: the plain graph that expand() shows has the runs' data and, walked back, their gradients:
// equal bits.
#include "autograd/expand.h"
#include "autograd/errors.h"

#include <set>

#include "nn/layers.h"
#include "tests/support/bits.h"
#include "tests/support/kernel_call.h"
#include "tests/support/tape_matrices.h"

namespace glassbox {
namespace {

using Positions = std::vector<std::uint32_t>;

// Holds for every node of the tape, made or read.
template <class T>
void require_expansion(Tape<T>& tape, const Value<T>& root) {
  tape.zero_grad();
  root.backward();
  const auto e = Expansion<T>::of_tape(tape);
  REQUIRE(e.tape().matrices().empty());
  e.at(root.id()).backward();
  std::size_t made = 0;
  for (const ScalarRecord& record : tape.records()) {
    MatrixInfo run;
    run.rows = run.cols = run.pitch = 1;
    if (record.is_matrix) run = tape.matrices()[record.b];
    for (std::size_t n = 0; n < run.rows; ++n)
      for (std::size_t m = 0; m < run.cols; ++m, ++made)
        REQUIRE(e.contains(static_cast<NodeId>(record.out + n * run.pitch + m)));
  }
  REQUIRE(made > 0);
  for (NodeId id = 0; id < tape.size(); ++id) {
    if (!e.contains(id)) continue;
    const auto plain = e.at(id);
    CAPTURE(id, tape.data(id), plain.data(), tape.grad(id), plain.grad());
    const auto same = [](T a, T b) {
      return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b));
    };
    REQUIRE(same(plain.data(), tape.data(id)));
    REQUIRE(same(plain.grad(), tape.grad(id)));
  }
}

// y = f(x), x being a run of leaves: with f alone behind the root, so that its gradients come
// first; and with x used after and before it too, so that they are added to others.
template <class T, class F>
void require_expansion_of(std::size_t rows, std::size_t cols, F f) {
  reference::for_each_simd_target([&](const std::string&) {
    for (const bool shared : {false, true}) {
      CAPTURE(rows, cols, shared);
      std::mt19937_64 bits(421);
      Tape<T> tape;
      auto x = drawn_run(tape, bits, rows, cols);
      if (shared) x = x + drawn_run(tape, bits, rows, cols);
      const auto before = tanh(x);
      auto root = weighted_sum<T>(f(tape, bits, x), bits);
      if (shared) root += weighted_sum(before * x, bits) * x(rows - 1, cols - 1);
      require_expansion(tape, root);
    }
  });
}

// A small GPT out of the layers: two sentences, one longer than a vector and than 16 positions.
template <class T>
Value<T> gpt_loss(Tape<T>& tape, std::mt19937_64& bits, std::size_t C, std::size_t heads,
                  std::size_t V) {
  const Positions starts = {0, 3, 21};
  const std::size_t N = starts.back();
  Positions ids, targets;
  for (std::size_t n = 0; n < N; ++n) ids.push_back(static_cast<std::uint32_t>(bits() % V));
  for (std::uint32_t n = 0; n < N; ++n) ids.push_back(n < 3 ? n : n - 3);
  for (std::size_t n = 0; n < N; ++n) targets.push_back(static_cast<std::uint32_t>(bits() % V));
  auto x =
      rmsnorm(embedding<T>(drawn_run(tape, bits, V, C), drawn_run(tape, bits, 18, C), ids), 1e-5);
  for (int layer = 0; layer < 2; ++layer) {
    auto h = linear(rmsnorm(x, 1e-5), drawn_run(tape, bits, C, 3 * C));
    x = x + linear(causal_self_attention<T>(h, starts, heads), drawn_run(tape, bits, C, C));
    h = relu(linear(rmsnorm(x, 1e-5), drawn_run(tape, bits, C, 4 * C)));
    x = x + linear(h, drawn_run(tape, bits, 4 * C, C));
  }
  return weighted_sum(cross_entropy<T>(linear(x, drawn_run(tape, bits, C, V)), targets), bits);
}

}  // namespace

TEMPLATE_TEST_CASE("elementwise operations expand to the bits of their data and gradients",
                   "[autograd][expand]", float, double) {
  using R = Matrix<TestType>;
  const auto check = [](auto f) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {3, 5}, {2, 18}})
      require_expansion_of<TestType>(rows, cols, [&](auto& tape, auto& bits, const R& x) {
        return f(x, exp(drawn_run(tape, bits, x.rows(), x.cols())));
      });
  };
  check([](const R& a, const R& b) { return a + b - b * a / b; });
  check([](const R& a, const R& b) { return max(-a, min(b, a)) + a * a; });
  check([](const R& a, const R& b) { return sqrt(b) * rsqrt(b) + log(b) * abs(a); });
  check([](const R& a, const R& b) { return pow(b, a) + exp(a) + tanh(a); });
  check([](const R& a, const R&) { return sigmoid(a) * relu(a) + gelu(a); });
}

TEMPLATE_TEST_CASE("sum mean dot and gather expand to the bits of their data and gradients",
                   "[autograd][expand]", float, double) {
  using R = Matrix<TestType>;
  for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 15}, {3, 16}, {2, 17}, {2, 50}})
    require_expansion_of<TestType>(rows, cols, [](auto& tape, auto& bits, const R& x) {
      const auto y = drawn_run(tape, bits, x.rows(), x.cols());
      const std::vector scalars = {sum(x),    mean(x), dot(x, y),
                                   dot(x, x), x(0, 0), sum(x) * x(0, 0)};
      const auto gathered = gather<TestType>(scalars);
      return gathered * gathered;
    });
}

TEMPLATE_TEST_CASE("sums of many blocks expand to the bits of their data and gradients",
                   "[autograd][expand]", float, double) {
  for (const auto& [rows, cols] : {std::pair{1, 1600}, {150, 9}, {3, 700}})
    require_expansion_of<TestType>(rows, cols,
                                   [](auto& tape, auto& bits, const Matrix<TestType>& x) {
                                     const auto y = drawn_run(tape, bits, x.rows(), x.cols());
                                     const std::vector scalars = {sum(x), mean(x), dot(x, y)};
                                     return gather<TestType>(scalars);
                                   });
}

// The rule of autograd/tape.h.
TEMPLATE_TEST_CASE("0 times infinity is NaN inside a matrix's operation and its expansion alike",
                   "[autograd][expand]", float, double) {
  using T = TestType;
  const T inf = std::numeric_limits<T>::infinity();
  const auto matrix = [](Tape<T>& tape, std::vector<std::vector<T>> rows) {
    const auto m = tape.matrix(rows.size(), rows[0].size());
    for (std::size_t n = 0; n < rows.size(); ++n)
      for (std::size_t k = 0; k < rows[n].size(); ++k) tape.set_data(m.node(n, k), rows[n][k]);
    return m;
  };
  SECTION("an output that the loss does not read belongs to the operation") {
    Tape<T> tape;
    const auto x = matrix(tape, {{1, 2}}), w = matrix(tape, {{1, inf}, {3, 4}});
    const auto y = linear(x, w);
    require_expansion(tape, y(0, 0));
    REQUIRE(std::isnan(x(0, 0).grad()));
    REQUIRE(x(0, 1).grad() == 3);
    REQUIRE(w(1, 0).grad() == 2);
  }
  SECTION("a scalar's own derivatives are those of the scalar") {
    Tape<T> tape;
    const auto x = matrix(tape, {{1, 2}}), w = matrix(tape, {{1, inf}, {3, 4}});
    for (const auto& child : linear(x, w)(0, 0).children())
      REQUIRE(std::isfinite(child.local_grad));
  }
  SECTION("a part that the loss does not depend on passes nothing on") {
    Tape<T> tape;
    const auto x = matrix(tape, {{1, 2}}), w = matrix(tape, {{1, inf}, {3, 4}});
    const auto unused = linear(x, w)(0, 1) * T(2);
    const auto dead = relu(-exp(linear(x, w)));
    require_expansion(tape, x(0, 0) * T(3) + T(0) * unused);
    REQUIRE(x(0, 0).grad() == 3);
    REQUIRE(x(0, 1).grad() == 0);
    REQUIRE(dead(0, 0).grad() == 0);
  }
  SECTION("elements of an elementwise operation each stand alone") {
    Tape<T> tape;
    const auto x = matrix(tape, {{0, 4}});
    require_expansion(tape, sqrt(x)(0, 1) + sum(x));
    REQUIRE(x(0, 0).grad() == 1);
    REQUIRE(x(0, 1).grad() == T(1.25));
  }
  SECTION("gradients of 0 that an operation passes on count as passed on") {
    Tape<T> tape;
    const auto x = matrix(tape, {{-1, -2}}), w = matrix(tape, {{1, inf}, {3, 4}});
    require_expansion(tape, sum(relu(linear(x, w))));
    REQUIRE(std::isnan(x(0, 0).grad()));
  }
}

TEMPLATE_TEST_CASE("rmsnorm of rows whose squares overflow or vanish expands to the same bits",
                   "[autograd][expand][rmsnorm]", float, double) {
  using T = TestType;
  for (const int exponent :
       {std::numeric_limits<T>::max_exponent - 6, -std::numeric_limits<T>::max_exponent / 2 - 4})
    for (const std::size_t C : {1, 17}) {
      Tape<T> tape;
      std::mt19937_64 bits(423);
      const auto x = drawn_run(tape, bits, 3, C);
      for (std::size_t n = 0; n < 2; ++n)
        for (std::size_t i = 0; i < C; ++i)
          tape.set_data(x.node(n, i), std::ldexp(x(n, i).data(), exponent));
      const auto y = rmsnorm(x, exponent < 0 ? 0 : 1e-5);
      for (std::size_t i = 0; i < C; ++i) REQUIRE(std::abs(y(0, i).data()) > T(1e-3));
      require_expansion(tape, weighted_sum(y, bits) + weighted_sum(x, bits));
    }
}

TEMPLATE_TEST_CASE(
    "gather of scalars taken several times expands to the bits of its data and gradients",
    "[autograd][expand]", float, double) {
  require_expansion_of<TestType>(2, 3, [](auto&, auto& bits, const Matrix<TestType>& x) {
    std::vector<Value<TestType>> scalars;
    for (int i = 0; i < 40; ++i) scalars.push_back(x(bits() % 2, bits() % 3));
    return gather<TestType>(scalars);
  });
}

TEMPLATE_TEST_CASE("linear layers expand to the bits of their data and gradients",
                   "[autograd][expand]", float, double) {
  for (const auto& [N, K] : {std::pair{1, 1}, {3, 5}, {7, 17}})
    for (const std::size_t M : {1, 7, 19})
      require_expansion_of<TestType>(N, K, [&](auto& tape, auto& bits, const Matrix<TestType>& x) {
        const auto w = drawn_run(tape, bits, x.cols(), M);
        return linear(x, w) + linear(tanh(x), w);  // the weights have two users
      });
}

TEMPLATE_TEST_CASE("rmsnorm expands to the bits of its data and gradients", "[autograd][expand]",
                   float, double) {
  for (const std::size_t C : {1, 8, 15, 16, 17, 20, 33})
    require_expansion_of<TestType>(
        3, C, [](auto&, auto&, const Matrix<TestType>& x) { return rmsnorm(x, 1e-5); });
}

TEMPLATE_TEST_CASE("embedding expands to the bits of its data and gradients", "[autograd][expand]",
                   float, double) {
  const Positions ids = {2, 0, 2, 2, 0, 1, 2, 1};
  for (const std::size_t C : {1, 16, 19})
    require_expansion_of<TestType>(3, C, [&](auto& tape, auto& bits, const Matrix<TestType>& x) {
      return embedding<TestType>(x, drawn_run(tape, bits, 3, x.cols()), ids);
    });
}

TEMPLATE_TEST_CASE("attention expands to the bits of its data and gradients", "[autograd][expand]",
                   float, double) {
  for (const auto& [heads, head_dim] : {std::pair{1, 1}, {2, 3}, {2, 8}, {1, 20}})
    for (const Positions& starts : {Positions{0, 1}, {0, 3, 8}, {0, 17, 19}})
      require_expansion_of<TestType>(starts.back(), 3 * heads * head_dim,
                                     [&, h = heads](auto&, auto&, const Matrix<TestType>& x) {
                                       return causal_self_attention<TestType>(x, starts, h);
                                     });
}

TEMPLATE_TEST_CASE("cached attention expands to the bits of its data and gradients",
                   "[autograd][expand]", float, double) {
  for (const std::size_t positions : {1, 4, 18})
    require_expansion_of<TestType>(positions, 18, [](auto& tape, auto&, const Matrix<TestType>& x) {
      std::vector<NodeId> rows;
      std::vector<Value<TestType>> outs;
      for (std::size_t t = 0; t < x.rows(); ++t) {
        rows.push_back(x.node(t, 0));
        const auto y = cached_attention<TestType>(tape, rows, 6, 2);
        for (std::size_t m = 0; m < 6; ++m) outs.push_back(y(0, m));
      }
      return gather<TestType>(outs);
    });
}

TEMPLATE_TEST_CASE(
    "cross-entropy expands to the bits of its data and gradients even where a probability is 0",
    "[autograd][expand]", float, double) {
  for (const std::size_t V : {1, 5, 16, 19, 47})
    for (const int scale : {1, 400})
      require_expansion_of<TestType>(3, V, [&](auto& tape, auto&, const Matrix<TestType>& x) {
        const auto scales = tape.matrix(3, V);
        for (std::size_t i = 0; i < 3 * V; ++i)
          *tape.data_from(scales.node(i / V, i % V)) = static_cast<TestType>(scale);
        const Positions targets = {0, static_cast<std::uint32_t>(V - 1),
                                   static_cast<std::uint32_t>(V / 2)};
        return cross_entropy<TestType>(x * scales, targets);
      });
}

TEMPLATE_TEST_CASE("a whole GPT step expands to the bits of its data and gradients",
                   "[autograd][expand]", float, double) {
  for (const auto& [C, heads, V] : {std::tuple{8, 2, 11}, {20, 5, 18}}) {
    std::mt19937_64 bits(431);
    Tape<TestType> tape;
    const auto loss = gpt_loss(tape, bits, C, heads, V);
    require_expansion(tape, loss);
  }
}

TEST_CASE("the expansion of a linear output is a chain of fused products and sums",
          "[autograd][expand]") {
  Tape<double> tape;
  std::mt19937_64 bits(422);
  const auto y = linear(drawn_run(tape, bits, 1, 3), drawn_run(tape, bits, 3, 1));
  const auto e = y(0, 0).expand();
  std::vector<std::string> ops;
  for (auto node = e.root(); node.children().size() == 2; node = node.children()[1].value) {
    ops.push_back(node.op());
    ops.push_back(node.children()[0].value.op());
  }
  REQUIRE(ops == std::vector<std::string>{"fused_add", "fused_mul", "fused_add", "fused_mul",
                                          "fused_add", "fused_mul"});
}

TEST_CASE("the expansion of a sum adds each term and each lane that has one",
          "[autograd][expand]") {
  Tape<double> tape;
  std::mt19937_64 bits(425);
  REQUIRE(sum(drawn_run(tape, bits, 2, 3)).expand().tape().records().size() == 6 + 2);
  REQUIRE(sum(drawn_run(tape, bits, 1, 20)).expand().tape().records().size() == 20 + 15);
}

TEMPLATE_TEST_CASE("one node's expansion has the whole graph's bits for inner nodes too",
                   "[autograd][expand]", float, double) {
  std::mt19937_64 bits(432);
  Tape<TestType> tape;
  gpt_loss(tape, bits, 12, 3, 11).backward();
  const auto whole = Expansion<TestType>::of_tape(tape);
  whole.at(static_cast<NodeId>(tape.records().back().out)).backward();
  std::set<std::string> names;
  std::size_t inner = 0;
  for (const ScalarRecord& record : tape.records()) {
    if (!record.is_matrix) continue;
    const MatrixInfo& run = tape.matrices()[record.b];
    for (const std::size_t n : {std::size_t{0}, std::size_t{run.rows - 1}}) {
      const auto at = static_cast<NodeId>(run.out + n * run.pitch + run.cols / 2);
      const auto row = Expansion<TestType>::of_node(tape, at);
      REQUIRE(bits_of(row.root().data()) == bits_of(tape.data(at)));
      REQUIRE(bits_of(row.root().grad()) == bits_of(tape.grad(at)));
      for (const auto& named : row.inner_nodes())
        for (const auto& other : whole.inner_nodes())
          if (other.row_output == named.row_output && other.what == named.what &&
              other.i == named.i && other.j == named.j) {
            const Value<TestType> a(row.tape(), named.node), b(whole.tape(), other.node);
            REQUIRE(bits_of(a.data()) == bits_of(b.data()));
            REQUIRE(bits_of(a.grad()) == bits_of(b.grad()));
            names.insert(named.what);
            ++inner;
          }
    }
  }
  REQUIRE(names == std::set<std::string>{"scale", "scores", "weights"});
  // Of the first and last row: 5 norms, and in 2 layers 3 heads' scores and weights at positions 0
  // and 17.
  REQUIRE(inner == 5 * 2 + 2 * 3 * 2 * (1 + 18));
}

TEST_CASE("attention weights of an expansion sum to 1 and its leaves name the originals",
          "[autograd][expand]") {
  Tape<double> tape;
  std::mt19937_64 bits(423);
  const Positions starts = {0, 4};
  const auto x = drawn_run(tape, bits, 4, 12);
  const auto e = causal_self_attention<double>(x, starts, 2)(2, 1).expand();
  double total = 0;
  for (const auto& named : e.inner_nodes())
    if (named.what == "weights" && named.i == 0) total += Value(e.tape(), named.node).data();
  REQUIRE(total == Approx(1).epsilon(1e-15));
  std::set<NodeId> originals;
  for (NodeId node = 0; node < e.tape().size(); ++node)
    if (e.original(node) != Expansion<double>::kNone) originals.insert(e.original(node));
  // The row's query, and keys and values of the positions up to it.
  REQUIRE(originals.size() == 4 + 3 * 8);
  REQUIRE(originals.count(x.node(2, 0)) == 1);
  REQUIRE(originals.count(x.node(3, 4)) == 0);
}

TEST_CASE("a scalar's expansion has its data and its gradient and its label",
          "[autograd][expand]") {
  Tape<double> tape;
  const auto a = tape.leaf(3, "a"), b = tape.leaf(5, "b"), y = a * b;
  (y * 2).backward();
  for (const auto& value : {a, y}) {
    const auto e = value.expand();
    REQUIRE(e.root().data() == value.data());
    REQUIRE(e.root().grad() == value.grad());
    REQUIRE(e.root().label() == value.label());
  }
  REQUIRE(y.expand().at(b.id()).grad() == 6);
}

TEST_CASE("a matrix times itself expands to its bits and to its gradients but for rounding",
          "[autograd][expand]") {
  Tape<double> tape;
  std::mt19937_64 bits(424);
  const auto x = drawn_run(tape, bits, 5, 5);
  const auto root = weighted_sum(linear(x, x), bits);
  root.backward();
  const auto e = Expansion<double>::of_tape(tape);
  e.at(root.id()).backward();
  REQUIRE(bits_of(e.at(root.id()).data()) == bits_of(root.data()));
  for (std::size_t n = 0; n < 5; ++n)
    for (std::size_t m = 0; m < 5; ++m)
      REQUIRE(e.at(x.node(n, m)).grad() == Approx(x.grad(n, m)).epsilon(1e-14).margin(1e-14));
}

TEST_CASE("a node outside an expansion is refused", "[autograd][expand]") {
  Tape<double> tape;
  const auto a = tape.leaf(1), b = tape.leaf(2), y = a * 3;
  const auto e = y.expand();
  REQUIRE(e.contains(a.id()));
  REQUIRE_FALSE(e.contains(b.id()));
  REQUIRE_THROWS_AS(e.at(b.id()), TapeError);
}

}  // namespace glassbox
