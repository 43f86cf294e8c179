#include "autograd/value.h"

#include <pthread.h>

#include <cmath>
#include <functional>

#include "tests/catch_compat.hpp"

namespace glassbox {
namespace {

using V = Value<double>;

// f on a thread whose stack is 256 KB, where no recursion over a long chain survives.
void with_small_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  const auto call = [](void* p) -> void* {
    (*static_cast<const std::function<void()>*>(p))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&f)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// Value and gradient of a function of one or two leaves.
struct Formula {
  template <class F>
  Formula(double x, F f) {
    const V a = tape.leaf(x), result = f(a);
    result.backward();
    y = result.data(), da = a.grad();
  }
  template <class F>
  Formula(double x1, double x2, F f) {
    const V a = tape.leaf(x1), b = tape.leaf(x2), result = f(a, b);
    result.backward();
    y = result.data(), da = a.grad(), db = b.grad();
  }
  Tape<double> tape;
  double y, da, db = 0;
};

}  // namespace

TEST_CASE("operators take numbers on either side", "[autograd][value]") {
  const auto check = [](double want, double slope, auto f) {
    const Formula g(4, f);
    REQUIRE(g.y == want);
    REQUIRE(g.da == Approx(slope).epsilon(1e-15));
  };
  check(6, 1, [](V a) { return a + 2; });
  check(6, 1, [](V a) { return 2 + a; });
  check(2, 1, [](V a) { return a - 2.0; });
  check(-2, -1, [](V a) { return 2 - a; });
  check(12, 3, [](V a) { return a * 3; });
  check(12, 3, [](V a) { return 3.0f * a; });
  check(2, 0.5, [](V a) { return a / 2; });
  check(0.5, -0.125, [](V a) { return 2 / a; });
  check(64, 48, [](V a) { return pow(a, 3); });
  check(16, 16 * std::log(2.0), [](V a) { return pow(2, a); });
  check(4, 1, [](V a) { return max(a, 3); });
  check(5, 0, [](V a) { return max(5, a); });
  check(3, 0, [](V a) { return min(a, 3); });
  check(-4, -1, [](V a) { return -a; });
}

TEST_CASE("compound assignment makes a new node and leaves the old one", "[autograd][value]") {
  Tape<double> tape;
  const V x = tape.leaf(3);
  V y = x;
  y += x;      // 6
  y *= y;      // 36
  y -= 4;      // 32
  y /= x + 1;  // 8
  REQUIRE(y.data() == 8);
  REQUIRE(x.data() == 3);
  y.backward();
  REQUIRE(x.grad() == 4);  // ((2 x)^2 - 4) / (x + 1) = 4 (x - 1)
}

TEST_CASE("a leaf has the label it was given and other values have none", "[autograd][value]") {
  Tape<double> tape;
  V a = tape.leaf(1, "a"), b = tape.leaf(2), y = a * b;
  REQUIRE(a.label() == "a");
  REQUIRE(b.label().empty());
  REQUIRE(y.label().empty());
  y.set_label("y");
  REQUIRE(y.label() == "y");
  REQUIRE(std::string(y.op()) == "mul");
  REQUIRE(std::string(a.op()) == "leaf");
}

TEST_CASE("children are the operands with their local derivatives", "[autograd][value]") {
  Tape<double> tape;
  V a = tape.leaf(2, "a"), b = tape.leaf(-3, "b");
  const auto product = (a * b).children(), square = (a * a).children(), single = tanh(a).children();
  REQUIRE(product.size() == 2);
  REQUIRE(product[0].value.label() == "a");
  REQUIRE(product[0].local_grad == -3);
  REQUIRE(product[1].value.label() == "b");
  REQUIRE(product[1].local_grad == 2);
  REQUIRE(square.size() == 2);
  REQUIRE(square[0].local_grad == 2);
  REQUIRE(square[1].local_grad == 2);
  REQUIRE(single.size() == 1);
  REQUIRE(single[0].local_grad == Approx(1 - std::pow(std::tanh(2), 2)).epsilon(1e-14));
  REQUIRE(a.children().empty());
}

TEST_CASE("a chain of 100000 terms needs no stack", "[autograd][value]") {
  double value = 0, gradient = 0;
  with_small_stack([&] {
    Tape<double> tape;
    const V x = tape.leaf(1);
    V y = x;
    for (int i = 0; i < 100000; ++i) y = y + y * 1e-6;
    y.backward();
    value = y.data(), gradient = x.grad();
  });
  REQUIRE(std::abs(value - 1.1051708628170818) <= 1e-12);
  REQUIRE(std::abs(gradient - 1.1051708628170818) <= 1e-12);
}

TEST_CASE("a chain of a million nodes takes 24 bytes a node in float and no stack to walk or free",
          "[autograd][value]") {
  float gradient = 0;
  std::size_t memory = 0;
  with_small_stack([&] {
    Tape<float> tape;
    const auto x = tape.leaf(2);
    auto y = x;
    for (int i = 0; i < 1000000; ++i) y = -y;
    y.backward();
    gradient = x.grad();
    memory = tape.memory();
  });
  REQUIRE(gradient == 1);
  REQUIRE(memory <= 24 * (1u << 20) + 4096);  // arrays grow to powers of two
}

TEST_CASE("a value used twice counts twice at a leaf and inside", "[autograd][value]") {
  const Formula twice(1, [](V a) {
    const V b = a + a;
    return b + b;
  });
  REQUIRE(twice.da == 4);
  const Formula mixed(2, 3, [](V a, V b) {
    const V c = a + b, d = a * b, e = c + d, f = c * d;
    return e + f;
  });
  REQUIRE(mixed.y == 41);
  REQUIRE(mixed.da == 25);
  REQUIRE(mixed.db == 19);
  const Formula cube(3, [](V x) { return x * x * x; });
  REQUIRE(cube.y == 27);
  REQUIRE(cube.da == 27);
}

TEST_CASE("differences and quotients have the right signs and cancel", "[autograd][value]") {
  const Formula difference(6, 3, [](V a, V b) { return a - b; });
  REQUIRE(difference.da == 1);
  REQUIRE(difference.db == -1);
  const Formula quotient(6, 3, [](V a, V b) { return a / b; });
  REQUIRE(quotient.da == Approx(1.0 / 3).epsilon(1e-15));
  REQUIRE(quotient.db == Approx(-2.0 / 3).epsilon(1e-15));
  REQUIRE(Formula(6, [](V a) { return a - a; }).da == 0);
  REQUIRE(Formula(6, [](V a) { return a / a; }).da == 0);
  REQUIRE(Formula(4, [](V a) { return log(a); }).da == 0.25);
  REQUIRE(Formula(0, [](V a) { return exp(a); }).da == 1);
}

TEST_CASE("a hidden layer whose inputs are all 0 gets a gradient of exactly 0",
          "[autograd][value]") {
  Tape<double> tape;
  std::vector<V> weights, hidden;
  for (int i = 0; i < 4; ++i) weights.push_back(tape.leaf(i - 1.5));
  for (const double zero : {0.0, -0.0})
    for (const V& w : weights) hidden.push_back(relu(w * zero));
  (sum(hidden) * 3 + 1).backward();
  for (const V& w : weights) REQUIRE(w.grad() == 0);
  for (const V& h : hidden) REQUIRE(h.data() == 0);
}

TEST_CASE("pow of negative and zero bases has the derivative of a power", "[autograd][value]") {
  REQUIRE(Formula(-2, [](V x) { return pow(x, 2); }).da == -4);
  REQUIRE(Formula(-2, [](V x) { return pow(x, 3); }).da == 12);
  REQUIRE(Formula(-2, [](V x) { return pow(x, -3); }).da == -0.1875);
  REQUIRE(std::isnan(Formula(-4, [](V x) { return pow(x, 0.5); }).da));
  REQUIRE(Formula(0, [](V x) { return pow(x, 2); }).da == 0);
  REQUIRE(Formula(0, [](V x) { return pow(x, 1); }).da == 1);
  REQUIRE(Formula(0, [](V x) { return pow(x, 0); }).da == 0);
  REQUIRE(Formula(0, [](V x) { return pow(x, 0.5); }).da == INFINITY);
  REQUIRE(Formula(0, [](V x) { return pow(x, -1); }).da == -INFINITY);
}

TEST_CASE("an infinite derivative times a gradient of 0 passes nothing on", "[autograd][value]") {
  const Formula g(0, 5, [](V x, V w) { return 0 * pow(x, 0.5) * w + 3 * x; });
  REQUIRE(g.y == 0);
  REQUIRE(g.da == 3);
  REQUIRE(g.db == 0);
}

}  // namespace glassbox
