#include "model/parameters.h"

#include <fmt/format.h>

#include <cassert>
#include <utility>

namespace glassbox {
namespace {

constexpr double kInitialStd = 0.08;  // the tutorial's; every parameter is drawn alike

// A row's width in memory. 16 floats are 64 bytes, a cache line and the widest vector register.
std::size_t padded(std::size_t width) { return (width + 15) / 16 * 16; }

}  // namespace

ParameterLayout::ParameterLayout(const GptConfig& config) : config_(config) {
  config.validate();
  const std::size_t V = config.vocab_size, C = config.n_embd, F = config.hidden();
  // The next block of the slab.
  const auto block = [this](std::size_t rows, std::size_t cols) {
    const ParameterBlock next{slab_size_, rows, cols, padded(cols)};
    slab_size_ += rows * next.pitch;
    return next;
  };
  const auto table = [this](const char* name, const ParameterBlock& b, bool of_tokens) {
    parameters_.push_back({name, b.rows, b.cols, false, of_tokens, kInitialStd, b.offset, b.pitch});
  };
  // The matrix whose `outputs` columns of the block begin at `column`.
  const auto matrix = [this](std::string name, const ParameterBlock& b, std::size_t column,
                             std::size_t outputs, bool to_tokens = false) {
    parameters_.push_back({std::move(name), outputs, b.rows, true, to_tokens, kInitialStd,
                           b.offset + column, b.pitch});
  };

  token_embedding = block(V, C);
  table("token_embedding", token_embedding, true);
  position_embedding = block(config.block_size, C);
  table("position_embedding", position_embedding, false);
  output = block(C, V);
  matrix("output", output, 0, V, true);
  for (std::size_t i = 0; i < config.n_layer; ++i) {
    const LayerBlocks b{block(C, 3 * C), block(C, C), block(C, F), block(F, C)};
    const std::string layer = fmt::format("layers.{}.", i);
    matrix(layer + "attention.query", b.query_key_value, 0, C);
    matrix(layer + "attention.key", b.query_key_value, C, C);
    matrix(layer + "attention.value", b.query_key_value, 2 * C, C);
    matrix(layer + "attention.output", b.attention_output, 0, C);
    matrix(layer + "mlp.hidden", b.mlp_hidden, 0, F);
    matrix(layer + "mlp.output", b.mlp_output, 0, C);
    layers.push_back(b);
  }
}

const ParameterSpec* ParameterLayout::find(const std::string& name) const {
  for (const ParameterSpec& p : parameters_) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

std::string ParameterLayout::label(std::size_t memory_index) const {
  for (const ParameterSpec& p : parameters_) {
    if (memory_index < p.offset) break;
    std::size_t row = (memory_index - p.offset) / p.pitch,
                col = (memory_index - p.offset) % p.pitch;
    if (p.is_matrix) std::swap(row, col);
    if (row < p.rows && col < p.cols) return fmt::format("{}[{}][{}]", p.name, row, col);
  }
  assert(!"label() of a pad");
  return "";
}

}  // namespace glassbox
