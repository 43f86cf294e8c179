// 1. A scalar graph, as in micrograd.
#include "autograd/value.h"

#include <fmt/core.h>

int main() {
  glassbox::Tape<double> tape;
  auto a = tape.leaf(2.0, "a"), b = tape.leaf(-3.0, "b"), c = tape.leaf(10.0, "c");
  auto y = tanh(a * b + c / 4);
  y.backward();
  fmt::print("y = {}, dy/da = {}, dy/db = {}\n", y.data(), a.grad(), b.grad());
  for (const auto& child : y.children()) fmt::print("{} {}\n", child.value.op(), child.local_grad);
}
