// A handle that exists is right, whoever made it and whatever has happened since: it reads what its
// node holds, takes part in formulas, and says so when its node is gone or out of date.
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "autograd/errors.h"
#include "autograd/scope.h"
#include "kernels/parallel.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"
#include "tests/support/tape_matrices.h"

namespace glassbox {
namespace {

bool has_elements(const Matrix<double>& m) { return m.tape().matrices()[m.id()].has_elements; }

}  // namespace

TEST_CASE("a handle made by hand takes part in formulas as one that a matrix gives",
          "[autograd][handles]") {
  Tape<double> tape;
  std::mt19937_64 bits(461);
  const auto x = drawn_run(tape, bits, 2, 3), y = tanh(x);
  const Value<double> by_hand(tape, y.node(1, 0));
  (by_hand * by_hand).backward();
  const double grad = x.grad(1, 0);
  REQUIRE(grad == Approx(2 * y.data(1, 0) * (1 - y.data(1, 0) * y.data(1, 0))));
  tape.zero_grad();
  (y(1, 0) * y(1, 0)).backward();
  REQUIRE(x.grad(1, 0) == grad);
}

TEST_CASE("to read an element leaves no mark on its matrix and to compute with it one that goes",
          "[autograd][handles]") {
  Tape<double> tape;
  std::mt19937_64 bits(462);
  const auto w = drawn_run(tape, bits, 2, 3);
  REQUIRE(w(1, 2).data() == w.data(1, 2));
  REQUIRE(!has_elements(w));
  for (const int use : {0, 1, 2}) {
    const StepScope scope(tape);
    if (use == 0) w(0, 0) * 2;
    if (use == 1) gather<double>(std::vector{w(0, 1)});
    if (use == 2) w(0, 1).backward();
    REQUIRE(has_elements(w));
    if (use == 2) break;  // a root needs its mark until the walk has begun
    {
      const StepScope inner(tape);
      w(0, 0) * 3;
    }
    REQUIRE(has_elements(w));
  }
  REQUIRE(!has_elements(w));
}

TEST_CASE("readers are forgotten when the records that read are cleared", "[autograd][handles]") {
  Tape<double> tape;
  std::mt19937_64 bits(463);
  const auto w = drawn_run(tape, bits, 3, 3);
  const auto kept = tanh(w);
  {
    const StepScope scope(tape);
    linear(kept, w) + exp(w);
    REQUIRE(tape.matrices()[w.id()].readers == 3);
  }
  REQUIRE(tape.matrices()[w.id()].readers == 1);
  REQUIRE(tape.matrices()[kept.id()].readers == 0);
}

TEST_CASE("SentenceScope: what is read before it ends is computed first", "[autograd][threads]") {
  kernels::Threads threads(2);
  std::mt19937_64 bits(464);
  Tape<double> tape;
  const auto x = drawn_run(tape, bits, 60, 64);
  const auto want = tanh(x), twice = want + want;
  const double product = want.data(59, 63) * 3;
  tape.set_threads(&threads);
  std::vector<std::uint32_t> starts;
  for (std::uint32_t row = 0; row <= 60; row += 3) starts.push_back(row);
  std::optional<Matrix<double>> last;
  {
    const SentenceScope<double> sentences(tape, starts);
    auto y = tanh(x);
    REQUIRE(y.data(59, 63) == want.data(59, 63));
    y = tanh(x);
    REQUIRE(y(59, 63).data() == want.data(59, 63));
    y = tanh(x);
    REQUIRE((y(59, 63) * 3).data() == product);
    y = tanh(x);
    tape.zero_grad();
    y(59, 63).backward();
    REQUIRE(x.grad(59, 63) == Approx(1 - want.data(59, 63) * want.data(59, 63)));
    y = tanh(x);
    last = y + y;
  }
  REQUIRE(last->data(59, 63) == twice.data(59, 63));  // it was never told to compute
  tape.set_threads(nullptr);
}

TEST_CASE("a stale handle is told on every level of scopes", "[autograd][handles]") {
  Tape<double> tape;
  tape.clear();
  const StepScope outer(tape);
  const Value<double> old = [&] {
    const StepScope inner(tape);
    return tape.leaf(99.);
  }();
  const auto live = tape.leaf(7.);
  const StepScope again(tape);
  REQUIRE_THROWS_AS(old.data(), TapeError);
  REQUIRE(live.data() == 7);
}

TEST_CASE("scopes that end out of order revive nothing and a mark that is gone is refused",
          "[autograd][handles]") {
  Tape<double> tape, other;
  const auto first = tape.leaf(1);
  auto outer = std::make_unique<StepScope<double>>(tape);
  const auto second = tape.leaf(2);
  auto inner = std::make_unique<StepScope<double>>(tape);
  const auto inner_mark = tape.keep();
  const auto third = tape.leaf(3);
  outer.reset();
  REQUIRE(tape.size() == 1);
  const auto fourth = tape.leaf(4);
  inner.reset();
  REQUIRE(fourth.data() == 4);
  REQUIRE(first.data() == 1);
  REQUIRE_THROWS_AS(second.data(), TapeError);
  REQUIRE_THROWS_AS(third.data(), TapeError);
  REQUIRE_THAT(error_message<TapeError>([&] { tape.clear(inner_mark); }),
               text_contains("one that was cleared"));
  REQUIRE_THAT(error_message<TapeError>([&] { other.clear(tape.keep()); }),
               text_contains("one of another"));
}

TEST_CASE("after set_data what was computed from the leaf is out of date and says so",
          "[autograd][handles]") {
  Tape<double> tape;
  auto x = tape.leaf(3);
  const auto y = x * x;
  const auto later = tape.leaf(8);
  x.set_data(5);
  const auto message = text_contains("weights have moved");
  REQUIRE_THAT(error_message<TapeError>([&] { y.backward(); }), message);
  REQUIRE_THAT(error_message<TapeError>([&] { y.data(); }), message);
  REQUIRE_THAT(error_message<TapeError>([&] { y + 1; }), message);
  REQUIRE_THAT(error_message<TapeError>([&] { tape.backward(y.id()); }), message);
  tape.keep();
  REQUIRE_THAT(error_message<TapeError>([&] { y.data(); }), message);
  REQUIRE(x.data() == 5);
  REQUIRE(later.data() == 8);
  const auto z = x * x;
  z.backward();
  REQUIRE(x.grad() == 10);
}

TEST_CASE("a change of one leaf leaves alone what was not computed from it",
          "[autograd][handles]") {
  Tape<double> tape;
  auto x = tape.leaf(3), other = tape.leaf(4);
  const auto y = x * x, z = other * other;
  std::mt19937_64 bits(466);
  const auto m = drawn_run(tape, bits, 2, 3), n = drawn_run(tape, bits, 2, 3);
  const auto of_m = tanh(m) + tanh(m), of_n = tanh(n);
  const auto element = m(1, 1) * 2;
  x.set_data(5);
  REQUIRE_THROWS_AS(y.data(), TapeError);
  REQUIRE_THROWS_AS(Value<double>(tape, y.id()), TapeError);
  REQUIRE(z.data() == 16);
  m(0, 0).set_data(1);
  REQUIRE_THROWS_AS(of_m.data(1, 1), TapeError);  // a matrix is computed as a whole
  REQUIRE(element.data() == m.data(1, 1) * 2);
  REQUIRE(of_n.data(1, 1) == std::tanh(n.data(1, 1)));
  z.backward();
  REQUIRE(other.grad() == 8);
  tape.weights_moved(0, 1);
  REQUIRE(z.data() == 16);
  tape.weights_moved();
  REQUIRE_THROWS_AS(z.data(), TapeError);
  REQUIRE_THROWS_AS(of_n.data(0, 0), TapeError);
  REQUIRE(other.data() == 4);
}

TEST_CASE("whatever is done to a tape, handles that are gone or out of date throw and no others",
          "[autograd][handles]") {
  std::mt19937_64 bits(467);
  struct Node {
    std::optional<Value<double>> value;
    std::optional<Matrix<double>> matrix;
    double data;           // of the first element
    std::set<int> leaves;  // that it was computed from; its own number if it is one
    bool is_leaf = false, out_of_date = false;
    Value<double> scalar() const { return value ? *value : (*matrix)(0, 0); }
  };
  std::size_t refused = 0, kept_alive = 0;
  for (int sequence = 0; sequence < 1500; ++sequence) {
    Tape<double> tape, stranger;
    std::vector<Node> live, dead;
    std::vector<std::unique_ptr<StepScope<double>>> scopes;
    std::vector<std::size_t> begins;
    std::size_t kept = 0;
    int leaves = 0;
    const auto drop = [&](std::size_t from) {
      dead.insert(dead.end(), live.begin() + static_cast<std::ptrdiff_t>(from), live.end());
      live.resize(from);
      kept = from;
    };
    const auto some = [&](auto fits) -> Node* {
      for (int i = 0; i < 8 && !live.empty(); ++i)
        if (Node& node = live[bits() % live.size()]; fits(node)) return &node;
      return nullptr;
    };
    const auto good = [](const Node& n) { return !n.out_of_date; };
    const auto join = [](std::set<int> a, const std::set<int>& b) {
      a.insert(b.begin(), b.end());
      return a;
    };
    const auto change = [&](auto touches) {
      for (Node& n : live) n.out_of_date = n.out_of_date || (!n.is_leaf && touches(n));
    };
    for (int i = 0; i < 40; ++i) {
      const double data = static_cast<double>(bits() % 16) / 8 - 1;
      switch (bits() % 14) {
        case 0:
          live.push_back({tape.leaf(data), {}, data, {leaves++}, true});
          break;
        case 1: {
          const auto m = tape.matrix(1 + bits() % 3, 1 + bits() % 20);
          *tape.data_from(m.node(0, 0)) = data;
          live.push_back({{}, m, data, {leaves++}, true});
          break;
        }
        case 2:
        case 3: {
          const Node *a = some(good), *b = some(good);
          if (!a || !b) break;
          const auto product = a->scalar() * b->scalar();
          live.push_back({product, {}, a->data * b->data, join(a->leaves, b->leaves)});
          break;
        }
        case 4: {
          const Node* const m = some([](const Node& n) { return n.matrix && !n.out_of_date; });
          if (m) live.push_back({{}, abs(*m->matrix), std::abs(m->data), m->leaves});
          break;
        }
        case 5: {
          const Node *a = some(good), *b = some(good);
          if (!a || !b) break;
          const auto both = gather<double>(std::vector{a->scalar(), b->scalar()});
          live.push_back({{}, both, a->data, join(a->leaves, b->leaves)});
          break;
        }
        case 6:
        case 7: {
          Node* const leaf = some([](const Node& n) { return n.is_leaf; });
          if (!leaf) break;
          leaf->scalar().set_data(leaf->data = data);
          change([&](const Node& n) { return n.leaves.contains(*leaf->leaves.begin()); });
          break;
        }
        case 8:
          if (bits() % 4 != 0) break;
          tape.weights_moved();
          change([](const Node&) { return true; });
          break;
        case 9:
          scopes.push_back(std::make_unique<StepScope<double>>(tape));
          begins.push_back(kept = live.size());
          break;
        case 10:
          if (scopes.empty()) break;
          scopes.pop_back();
          drop(begins.back());
          begins.pop_back();
          break;
        case 11:
          tape.keep();
          kept = live.size();
          break;
        case 12: {
          const Node* const root = some([](const Node& n) { return n.value.has_value(); });
          if (root && root->out_of_date) REQUIRE_THROWS_AS(root->value->backward(), TapeError);
          if (root && !root->out_of_date) root->value->backward();
          if (root && !root->out_of_date)
            REQUIRE_THROWS_AS(*root->value + stranger.leaf(1.), TapeError);
          break;
        }
        default:
          tape.clear();
          drop(kept);
      }
      for (const Node& n : live) {
        const auto read = [&] { return n.value ? n.value->data() : n.matrix->data(0, 0); };
        if (n.out_of_date)
          REQUIRE_THROWS_AS(read(), TapeError);
        else
          REQUIRE(read() == n.data);
        refused += n.out_of_date;
        kept_alive += !n.out_of_date && !n.is_leaf;
      }
      for (const Node& n : dead) {
        if (n.value) REQUIRE_THROWS_AS(n.value->data(), TapeError);
        if (n.matrix) REQUIRE_THROWS_AS(n.matrix->data(0, 0), TapeError);
      }
    }
    while (!scopes.empty()) scopes.pop_back();
  }
  REQUIRE(refused > 10000);
  REQUIRE(kept_alive > 10000);
}

TEST_CASE("backward from a node that is not on the tape is refused", "[autograd][handles]") {
  Tape<double> tape;
  tape.leaf(1);
  REQUIRE_THAT(error_message<TapeError>([&] { tape.backward(NodeId{1}); }),
               text_contains("expected a node below 1, found 1"));
}

TEST_CASE("a matrix that node ids cannot count is refused", "[autograd][handles]") {
  Tape<double> tape;
  constexpr std::size_t kHuge = std::size_t{1} << 60;
  for (const auto& [rows, cols] :
       std::vector<std::pair<std::size_t, std::size_t>>{{kHuge, 16},
                                                        {16, kHuge},
                                                        {kHuge, kHuge},
                                                        {SIZE_MAX, SIZE_MAX},
                                                        {1, 0xFFFFFFF0},
                                                        {std::size_t{1} << 32, 0},
                                                        {std::size_t{1} << 28, 16}}) {
    CAPTURE(rows, cols);
    REQUIRE_THROWS_AS(tape.matrix(rows, cols), TapeError);
  }
  REQUIRE(tape.size() == 0);
  REQUIRE(tape.matrix(2, 3).cols() == 3);
}

}  // namespace glassbox
