// The architecture, as a list: what the forward pass asks of its operations.
#include "model/forward.h"

#include <string>
#include <vector>

#include "tests/catch_compat.hpp"

using namespace glassbox;

namespace {

// Operations that write themselves down. An array is its width and the line that made it.
struct WritingOps {
  struct Array {
    std::size_t width, line;
  };

  Array embedding(const ParameterBlock& tokens, const ParameterBlock& positions, Place place) {
    return write("embedding", {}, tokens.cols, place,
                 " of " + std::to_string(tokens.rows) + " + " + std::to_string(positions.rows));
  }
  Array rmsnorm(const Array& x, double, Place place) {
    return write("rmsnorm", {x}, x.width, place);
  }
  Array linear(const Array& x, const ParameterBlock& weight, Place place) {
    CHECK(x.width == weight.rows);
    multiplications += weight.rows * weight.cols;
    return write("linear", {x}, weight.cols, place);
  }
  Array attention(const Array& x, std::size_t heads, Place place) {
    return write("attention", {x}, x.width / 3, place, " of " + std::to_string(heads) + " heads");
  }
  Array dropout(const Array& x) {
    dropped.push_back(x.line);
    return x;
  }
  Array apply(kernels::Op op, const Array& x, Place place) {
    return write(kernels::table<float>()[op].name, {x}, x.width, place);
  }
  Array apply(kernels::Op op, const Array& x, const Array& y, Place place) {
    CHECK(x.width == y.width);
    return write(kernels::table<float>()[op].name, {x, y}, x.width, place);
  }

  // "relu(9): 32, layer 0": from line 9, 32 wide.
  Array write(std::string name, const std::vector<Array>& from, std::size_t width, Place place,
              const std::string& more = "") {
    for (const Array& x : from) name += (&x == &from[0] ? "(" : ", ") + std::to_string(x.line);
    lines.push_back(name + (from.empty() ? "" : ")") + more + ": " + std::to_string(width) +
                    ", layer " + std::to_string(place.layer));
    stages.push_back(place.stage);
    return {width, lines.size() - 1};
  }

  std::vector<std::string> lines;
  std::vector<Stage> stages;
  std::vector<std::size_t> dropped;  // lines
  std::size_t multiplications = 0;
};

}  // namespace

TEST_CASE("the forward pass is that of the chapter", "[model][forward]") {
  const ParameterLayout layout(
      {.vocab_size = 50, .block_size = 16, .n_layer = 2, .n_head = 2, .n_embd = 8});
  WritingOps ops;
  const auto logits = forward_pass(ops, layout);
  CHECK(logits.width == 50);
  CHECK(ops.lines == std::vector<std::string>{
                         "embedding of 50 + 16: 8, layer 0",
                         "rmsnorm(0): 8, layer 0",
                         "rmsnorm(1): 8, layer 0",
                         "linear(2): 24, layer 0",
                         "attention(3) of 2 heads: 8, layer 0",
                         "linear(4): 8, layer 0",
                         "add(1, 5): 8, layer 0",
                         "rmsnorm(6): 8, layer 0",
                         "linear(7): 32, layer 0",
                         "relu(8): 32, layer 0",
                         "linear(9): 8, layer 0",
                         "add(6, 10): 8, layer 0",
                         "rmsnorm(11): 8, layer 1",
                         "linear(12): 24, layer 1",
                         "attention(13) of 2 heads: 8, layer 1",
                         "linear(14): 8, layer 1",
                         "add(11, 15): 8, layer 1",
                         "rmsnorm(16): 8, layer 1",
                         "linear(17): 32, layer 1",
                         "relu(18): 32, layer 1",
                         "linear(19): 8, layer 1",
                         "add(16, 20): 8, layer 1",
                         "linear(21): 50, layer 0",
                     });
  // Dropout: the stream's beginning, and what each attention and each perceptron adds to it.
  CHECK(ops.dropped == std::vector<std::size_t>{1, 5, 10, 15, 20});
  // Every parameter but the two tables that are only looked up is multiplied once.
  CHECK(ops.multiplications == layout.config().parameter_count() - 50 * 8 - 16 * 8);
}

TEST_CASE("the forward pass has the activation and the final norm that the config asks for",
          "[model][forward]") {
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::silu}) {
    WritingOps ops;
    forward_pass(ops, ParameterLayout({.vocab_size = 50,
                                       .block_size = 16,
                                       .n_layer = 1,
                                       .n_head = 2,
                                       .n_embd = 8,
                                       .activation = activation,
                                       .final_norm = true}));
    REQUIRE(ops.lines.size() == 14);
    CHECK(ops.lines[9] == name_of(activation) + std::string("(8): 32, layer 0"));
    CHECK(ops.lines[12] == "rmsnorm(11): 8, layer 0");
    CHECK(ops.lines[13] == "linear(12): 50, layer 0");
  }
}

TEST_CASE("the forward pass makes the stages in their order, each once a layer",
          "[model][forward]") {
  WritingOps ops;
  forward_pass(ops, ParameterLayout({.vocab_size = 5, .n_layer = 1, .final_norm = true}));
  REQUIRE(ops.stages.size() == static_cast<std::size_t>(Stage::loss));  // all before it
  for (std::size_t i = 0; i < ops.stages.size(); ++i) CHECK(ops.stages[i] == static_cast<Stage>(i));
}
