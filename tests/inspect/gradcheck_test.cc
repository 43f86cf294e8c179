#include "inspect/gradcheck.h"

#include <cmath>
#include <limits>

#include "inspect/gradients.h"
#include "kernels/op.h"
#include "tests/catch_compat.hpp"
#include "tests/inspect/fixture.h"

namespace glassbox {

namespace {
// The derivative of one operation, broken while it lives.
class BrokenDerivative {
 public:
  BrokenDerivative(kernels::Op op, void (*wrong)(const kernels::Args<double>&))
      : row_(const_cast<kernels::OpRow<double>&>(kernels::table<double>()[op])),
        right_(row_.backward) {
    row_.backward = wrong;
  }
  ~BrokenDerivative() { row_.backward = right_; }

 private:
  kernels::OpRow<double>& row_;
  void (*right_)(const kernels::Args<double>&);
};

std::vector<double> gradients_of(Inspection& inspection) {
  const double* g = parameter_gradients(inspection);
  return {g, g + inspection.layout().slab_size()};
}
}  // namespace

TEST_CASE("gradcheck: every parameter of a sound model passes", "[inspect][gradcheck]") {
  for (const std::uint32_t seed : {501u, 502u, 503u}) {
    Inspection inspection(inspected_model(seed), kSentence);
    const Gradcheck result = gradcheck(inspection, parameter_gradients(inspection));
    CAPTURE(seed, result.worst.front().name, result.worst.front().analytic,
            result.worst.front().numeric);
    REQUIRE(result.ok());
    REQUIRE(result.checked == inspection.config().parameter_count());
  }
}

TEST_CASE("gradcheck: one gradient wrong by a thousandth fails and is the worst",
          "[inspect][gradcheck]") {
  Inspection inspection(inspected_model(), kSentence);
  auto wrong = gradients_of(inspection);
  const auto entry = largest_elements(inspection.layout(), wrong.data(), 40).back();
  wrong[entry.spec->index(entry.row, entry.col)] *= 1.001;
  const Gradcheck result = gradcheck(inspection, wrong.data());
  REQUIRE(result.failed == 1);
  REQUIRE(result.worst.front().name == entry.name());
}

TEST_CASE("gradcheck: a gradient of NaN fails", "[inspect][gradcheck]") {
  Inspection inspection(inspected_model(), kSentence);
  auto wrong = gradients_of(inspection);
  wrong[inspection.layout().find("output")->index(2, 3)] = std::numeric_limits<double>::quiet_NaN();
  const Gradcheck result = gradcheck(inspection, wrong.data());
  REQUIRE(result.failed == 1);
  REQUIRE(result.worst.front().name == "output[2][3]");
}

TEST_CASE("gradcheck: a relu that lets every gradient through fails", "[inspect][gradcheck]") {
  const BrokenDerivative broken(kernels::Op::relu, [](const kernels::Args<double>& x) {
    for (std::size_t i = 0; i < std::size_t{x.out.rows} * x.out.pitch; ++i)
      x.in[0].grad[i] = (x.in[0].first_writer ? 0 : x.in[0].grad[i]) + x.out.grad[i];
  });
  Inspection inspection(inspected_model(), kSentence);
  REQUIRE(!gradcheck(inspection, parameter_gradients(inspection)).ok());
}

TEST_CASE("gradcheck: a norm whose scale counts as a constant fails", "[inspect][gradcheck]") {
  const BrokenDerivative broken(kernels::Op::rmsnorm, [](const kernels::Args<double>& x) {
    for (std::size_t i = 0; i < std::size_t{x.out.rows} * x.out.pitch; ++i)
      x.in[0].grad[i] =
          (x.in[0].first_writer ? 0 : x.in[0].grad[i]) + x.out.grad[i] * x.saved[i / x.out.pitch];
  });
  Inspection inspection(inspected_model(), kSentence);
  REQUIRE(!gradcheck(inspection, parameter_gradients(inspection)).ok());
}

TEST_CASE("gradcheck: a relu input near its kink and one exactly on it raise no alarm",
          "[inspect][gradcheck]") {
  auto model = inspected_model();
  const ParameterSpec& hidden = *model.weights.layout().find("layers.0.mlp.hidden");
  for (std::size_t c = 0; c < hidden.cols; ++c) model.weights.data()[hidden.index(5, c)] = 0;
  Inspection inspection(model, kSentence);
  const Gradcheck result = gradcheck(inspection, parameter_gradients(inspection));
  CAPTURE(result.worst.front().name, result.worst.front().analytic, result.worst.front().numeric);
  REQUIRE(result.on_a_kink >= hidden.cols);
  REQUIRE(result.ok());
}

TEST_CASE("gradcheck: a sample of n checks n", "[inspect][gradcheck]") {
  Inspection inspection(inspected_model(), kSentence);
  const Gradcheck result = gradcheck(inspection, parameter_gradients(inspection), {.sample = 37});
  REQUIRE(result.checked == 37);
  REQUIRE(result.parameters == inspection.config().parameter_count());
}

// 6 s of one core.
TEST_CASE("gradcheck: all 63,296 parameters of the default shape pass",
          "[inspect][gradcheck][.slow]") {
  const GptConfig shape{.vocab_size = 597};
  const Model<double> model{numbered_words(597), drawn_weights<double>(shape, 504, 0.2), "{}"};
  Inspection inspection(model, "w3 w1 w4 w1 w5 w9");
  const Gradcheck result = gradcheck(inspection, parameter_gradients(inspection));
  CAPTURE(result.worst.front().name, result.worst.front().analytic, result.worst.front().numeric);
  REQUIRE(result.ok());
  REQUIRE(result.checked == 63296);
}

}  // namespace glassbox
