// What docs/tape.md shows.
#include <fmt/core.h>

#include <string>

#include "nn/layers.h"

using namespace glassbox;

namespace {

// A line a scalar: its place, its name, what made it from which others, value and gradient. Pads
// are left out.
void print(Tape<double>& tape) {
  fmt::print("node name operation from        value gradient\n");
  for (NodeId id = 0; id < tape.size(); ++id) {
    if (const MatrixId at = tape.matrix_of(id); at != kNoMatrix) {
      const MatrixInfo& run = tape.matrices()[at];
      if ((id - run.out) % run.pitch >= run.cols) continue;
    }
    const Value<double> value(tape, id);
    std::string operands;
    for (const auto& child : value.children()) operands += fmt::format("{} ", child.value.id());
    fmt::print("{:4} {:4} {:9} {:9} {:7.3f} {:8.3f}\n", id, value.label(), value.op(), operands,
               value.data(), value.grad());
  }
}

}  // namespace

int main() {
  {
    Tape<double> tape;
    auto a = tape.leaf(2, "a"), b = tape.leaf(-3, "b"), c = tape.leaf(7, "c");
    auto p = a * b;
    auto q = p + c;
    auto y = tanh(q) * a;
    y.backward();
    print(tape);
  }
  fmt::print("\n");
  Tape<double> tape;
  auto x = tape.matrix(1, 2), w = tape.matrix(2, 1);
  x(0, 0).set_data(2);
  x(0, 1).set_data(-3);
  w(0, 0).set_data(0.5);
  w(1, 0).set_data(4);
  auto z = linear(x, w)(0, 0);
  z.set_label("z");
  z.backward();
  print(tape);
  fmt::print("\n");
  print(z.expand().tape());
}
