#include "model/weights.h"

#include <cmath>
#include <cstdint>

#include "base/file.h"
#include "base/json.h"
#include "data/corpus.h"
#include "tests/catch_compat.hpp"

namespace glassbox {
namespace {

const std::string kGolden = GLASSBOX_GOLDEN_DIR;
const GptConfig kSmall{.vocab_size = 47, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 8};

TEST_CASE("initialize_weights draws the tutorial's weights", "[model][weights][golden]") {
  Corpus corpus = Corpus::read(kGolden + "/tiny.txt");
  Random random(42);
  corpus.shuffle(random);
  Weights<double> weights(kSmall);
  initialize_weights(weights.layout(), weights.data(), random);
  const Json golden = Json::parse(read_file(kGolden + "/tutorial-small.json"), "golden");
  const auto& want = golden.find("initialWeights")->array();
  REQUIRE(want.size() == kSmall.parameter_count());
  std::size_t i = 0;
  for (const ParameterSpec& p : weights.layout().parameters()) {
    for (std::size_t row = 0; row < p.rows; ++row) {
      for (std::size_t col = 0; col < p.cols; ++col, ++i) {
        CAPTURE(p.name, row, col);
        REQUIRE(std::abs(weights.data()[p.index(row, col)] - want[i].number()) <= 1e-15);
      }
    }
  }
}

TEST_CASE("initialize_weights draws the same numbers in float, rounded, and leaves pads alone",
          "[model][weights]") {
  Weights<double> doubles(kSmall);
  Weights<float> floats(kSmall);
  Random a(7), b(7);
  initialize_weights(doubles.layout(), doubles.data(), a);
  initialize_weights(floats.layout(), floats.data(), b);
  CHECK(a.state() == b.state());
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < floats.layout().slab_size(); ++i) {
    REQUIRE(floats.data()[i] == static_cast<float>(doubles.data()[i]));
    zeros += floats.data()[i] == 0;
  }
  CHECK(zeros == floats.layout().slab_size() - kSmall.parameter_count());
}

TEST_CASE("Weights are aligned and zero, and copies are their own", "[model][weights]") {
  Weights<float> weights(kSmall);
  CHECK(reinterpret_cast<std::uintptr_t>(weights.data()) % 64 == 0);
  for (std::size_t i = 0; i < weights.layout().slab_size(); ++i) REQUIRE(weights.data()[i] == 0);
  weights.data()[5] = 0.1f;
  Weights<float> copy = weights.copy();
  CHECK(copy.config() == weights.config());
  CHECK(copy.data()[5] == 0.1f);
  copy.data()[5] = 2;
  CHECK(weights.data()[5] == 0.1f);
  CHECK(weights.as<double>().data()[5] == static_cast<double>(0.1f));
  CHECK(weights.as<double>().as<float>().data()[5] == 0.1f);
  // A view keeps its meaning when the weights move.
  const WeightsView<float> view = weights.view();
  const Weights<float> moved = std::move(weights);
  CHECK(view.data == moved.data());
  CHECK(view.layout == &moved.layout());
}

}  // namespace
}  // namespace glassbox
