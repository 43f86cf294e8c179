// micrograd's own demo: two moons of points, told apart by a small network of scalar Values.
//
//   cmake --build --preset release --target moons
//   build/release/examples/moons moons.svg
//
// Every weight, product and sum below is one Value of the tape, written with plain operators;
// backward() then knows d loss / d w for each weight. Prints the loss as it falls, and draws the
// boundary that was learned.
#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "autograd/scope.h"
#include "autograd/value.h"
#include "base/file.h"
#include "base/random.h"

namespace {

using glassbox::Random;
using glassbox::StepScope;
using glassbox::Tape;
using Value = glassbox::Value<double>;

struct Point {
  double x, y;
  int side;  // 1 is the upper moon, -1 the lower one
};

std::vector<Point> two_moons(std::size_t count, double noise, Random& random) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = std::numbers::pi * random.uniform();
    const bool upper = i % 2 == 0;
    const double x = upper ? std::cos(angle) : 1 - std::cos(angle);
    const double y = upper ? std::sin(angle) : 0.5 - std::sin(angle);
    points.push_back({x + random.gaussian(noise), y + random.gaussian(noise), upper ? 1 : -1});
  }
  return points;
}

struct Neuron {
  std::vector<Value> weights;
  Value bias;
  bool bends;  // relu, but for the last one

  Value operator()(const std::vector<Value>& inputs) const {
    Value sum = bias;
    for (std::size_t i = 0; i < inputs.size(); ++i) sum += weights[i] * inputs[i];
    return bends ? relu(sum) : sum;
  }
};

// 2 inputs, layers of 16 and 16 neurons, 1 output.
class Network {
 public:
  Network(Tape<double>& tape, Random& random) : tape_(tape) {
    const std::vector<std::size_t> sizes = {2, 16, 16, 1};
    for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
      layers_.emplace_back();
      for (std::size_t n = 0; n < sizes[l + 1]; ++n) {
        Neuron neuron{{}, tape.leaf(0), l + 2 < sizes.size()};
        for (std::size_t i = 0; i < sizes[l]; ++i)
          neuron.weights.push_back(tape.leaf(2 * random.uniform() - 1));
        parameters_.insert(parameters_.end(), neuron.weights.begin(), neuron.weights.end());
        parameters_.push_back(neuron.bias);
        layers_.back().push_back(std::move(neuron));
      }
    }
    tape.keep();  // the weights stay when a step's values go
  }
  Value operator()(double x, double y) const {
    std::vector<Value> values = {tape_.leaf(x), tape_.leaf(y)};
    for (const auto& layer : layers_) {
      std::vector<Value> next;
      for (const Neuron& neuron : layer) next.push_back(neuron(values));
      values = std::move(next);
    }
    return values[0];
  }
  std::vector<Value>& parameters() { return parameters_; }

 private:
  Tape<double>& tape_;
  std::vector<std::vector<Neuron>> layers_;
  std::vector<Value> parameters_;
};

std::string picture(const Network& network, Tape<double>& tape, const std::vector<Point>& points) {
  constexpr double kScale = 120, kLeft = -1.6, kTop = 1.7, kWidth = 4.2, kHeight = 3, kCell = 0.05;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" "
      "role=\"img\" aria-label=\"two moons and the boundary between them\">\n",
      kWidth * kScale, kHeight * kScale);
  for (int row = 0; row * kCell < kHeight; ++row)
    for (int col = 0; col * kCell < kWidth; ++col) {
      const StepScope<double> scope(tape);
      const double score = network(kLeft + (col + 0.5) * kCell, kTop - (row + 0.5) * kCell).data();
      svg += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"6\" height=\"6\" fill=\"{}\" "
          "fill-opacity=\"{:.2f}\" shape-rendering=\"crispEdges\"/>\n",
          col * kCell * kScale, row * kCell * kScale, score > 0 ? "#0b62c4" : "#d9730d",
          0.15 + 0.3 * std::tanh(std::abs(score)));
    }
  for (const Point& p : points)
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" stroke=\"#fff\"/>\n",
        (p.x - kLeft) * kScale, (kTop - p.y) * kScale, p.side > 0 ? "#083d7a" : "#8a3f00");
  return svg + "</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: moons FILE.svg\n");
    return 2;
  }
  Random random(1337);
  const auto points = two_moons(100, 0.1, random);
  Tape<double> tape;
  Network network(tape, random);
  fmt::print("{} parameters\n", network.parameters().size());

  constexpr int kSteps = 100;
  for (int step = 0; step < kSteps; ++step) {
    const StepScope<double> scope(tape);  // drops the step's values at the end
    // Each point wants its score beyond 1 on its own side; weights are kept small.
    std::vector<Value> losses;
    int right = 0;
    for (const Point& p : points) {
      const Value score = network(p.x, p.y);
      losses.push_back(relu(1 - p.side * score));
      right += (score.data() > 0) == (p.side > 0);
    }
    std::vector<Value> squares;
    for (const Value& w : network.parameters()) squares.push_back(w * w);
    const Value loss = mean(losses) + 1e-4 * sum(squares);

    tape.zero_grad();
    loss.backward();
    if (step % 10 == 0 || step + 1 == kSteps)
      fmt::print("step {:3}  loss {:.4f}  accuracy {}%\n", step, loss.data(), right);
    const double learning_rate = 1.0 - 0.9 * step / kSteps;
    for (Value& w : network.parameters()) w.set_data(w.data() - learning_rate * w.grad());
  }
  glassbox::write_file(argv[1], picture(network, tape, points));
  return 0;
}
