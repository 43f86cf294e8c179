#include "model/parameters.h"

#include <vector>

#include "tests/catch_compat.hpp"

namespace glassbox {
namespace {

const GptConfig kShapes[] = {
    {.vocab_size = 597},
    {.vocab_size = 47, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 8},
    {.vocab_size = 48, .block_size = 3, .n_layer = 3, .n_head = 1, .n_embd = 16},
    {.vocab_size = 1, .block_size = 1, .n_layer = 1, .n_head = 1, .n_embd = 1},
    {.vocab_size = 17, .block_size = 5, .n_layer = 2, .n_head = 3, .n_embd = 33},
};

TEST_CASE("ParameterLayout: every parameter has a place of its own and its label leads back",
          "[model][parameters]") {
  for (const GptConfig& config : kShapes) {
    CAPTURE(config.n_embd, config.vocab_size);
    const ParameterLayout layout(config);
    std::vector<bool> taken(layout.slab_size());
    std::size_t count = 0;
    for (const ParameterSpec& p : layout.parameters()) {
      REQUIRE(layout.find(p.name) == &p);
      for (std::size_t row = 0; row < p.rows; ++row) {
        for (std::size_t col = 0; col < p.cols; ++col) {
          const std::size_t i = p.index(row, col);
          REQUIRE(i < layout.slab_size());
          REQUIRE_FALSE(taken[i]);
          taken[i] = true;
          ++count;
          if (count % 7 == 0 || row + 1 == p.rows) {
            REQUIRE(layout.label(i) ==
                    p.name + "[" + std::to_string(row) + "][" + std::to_string(col) + "]");
          }
        }
      }
    }
    CHECK(count == config.parameter_count());
  }
}

TEST_CASE("ParameterLayout: blocks follow each other in rows of whole cache lines",
          "[model][parameters]") {
  for (const GptConfig& config : kShapes) {
    const ParameterLayout layout(config);
    const std::size_t V = config.vocab_size, C = config.n_embd;
    std::size_t next = 0;
    const auto check = [&](const ParameterBlock& b, std::size_t rows, std::size_t cols) {
      CHECK(b.offset == next);
      CHECK(b.rows == rows);
      CHECK(b.cols == cols);
      CHECK(b.pitch % 16 == 0);
      CHECK((b.pitch >= cols && b.pitch < cols + 16));
      next += rows * b.pitch;
    };
    check(layout.token_embedding, V, C);
    check(layout.position_embedding, config.block_size, C);
    check(layout.output, C, V);
    for (const LayerBlocks& layer : layout.layers) {
      check(layer.query_key_value, C, 3 * C);
      check(layer.attention_output, C, C);
      check(layer.mlp_hidden, C, 4 * C);
      check(layer.mlp_output, 4 * C, C);
    }
    CHECK(layout.layers.size() == config.n_layer);
    CHECK(layout.slab_size() == next);
  }
}

TEST_CASE("ParameterLayout: a matrix is turned and a table is not", "[model][parameters]") {
  const ParameterLayout layout(kShapes[1]);  // V 47, block 8, C 8
  CHECK(layout.find("token_embedding")->index(3, 5) == 3 * 16 + 5);
  CHECK(layout.find("output")->index(40, 5) == layout.output.offset + 5 * 48 + 40);
  const ParameterBlock& qkv = layout.layers[0].query_key_value;
  CHECK(qkv.pitch == 32);
  CHECK(layout.find("layers.0.attention.query")->index(7, 3) == qkv.offset + 3 * 32 + 7);
  CHECK(layout.find("layers.0.attention.key")->index(7, 3) == qkv.offset + 3 * 32 + 8 + 7);
  CHECK(layout.find("layers.0.attention.value")->index(7, 3) == qkv.offset + 3 * 32 + 16 + 7);
  CHECK(layout.label(qkv.offset + 3 * 32 + 7) == "layers.0.attention.query[7][3]");
  CHECK(layout.find("layers.1.attention.query") == nullptr);
}

TEST_CASE("ParameterLayout: names and shapes stand in the order in which they are drawn",
          "[model][parameters]") {
  const ParameterLayout layout(
      {.vocab_size = 9, .block_size = 5, .n_layer = 1, .n_head = 1, .n_embd = 3});
  std::string text;
  for (const ParameterSpec& p : layout.parameters()) {
    text += p.name + " " + std::to_string(p.rows) + " " + std::to_string(p.cols) + "\n";
  }
  CHECK(text ==
        "token_embedding 9 3\nposition_embedding 5 3\noutput 9 3\n"
        "layers.0.attention.query 3 3\nlayers.0.attention.key 3 3\nlayers.0.attention.value 3 3\n"
        "layers.0.attention.output 3 3\nlayers.0.mlp.hidden 12 3\nlayers.0.mlp.output 3 12\n");
}

}  // namespace
}  // namespace glassbox
