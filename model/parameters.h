// The one table of parameters: names, shapes, initialiser, and where each lies in memory. Counting,
// drawing, training, files, labels and tests walk it.
//
// A file, a label and a CSV speak [out][in]; in memory a matrix lies [in][out], so that a kernel's
// lanes run over outputs. The turn from one to the other happens here (`ParameterSpec::index`) and
// nowhere else. Every row in memory is padded to a multiple of 16 scalars; pads are 0 and stay 0.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/config.h"

namespace glassbox {

// A block of memory that a kernel works on as one operand, as it lies in memory: `rows` rows of
// `cols` scalars, `pitch` apart. Query, key and value of a layer share one block.
struct ParameterBlock {
  std::size_t offset, rows, cols, pitch;
};

// A parameter as a user knows it.
struct ParameterSpec {
  std::string name;           // "layers.0.attention.query"
  std::size_t rows, cols;     // as in the file: [out][in]; a table has one row an entry
  bool is_matrix;             // in memory [in][out]; else a table, in memory as in the file
  bool has_token_rows;        // row i belongs to token i
  double initial_std;         // drawn from a normal distribution with mean 0
  std::size_t offset, pitch;  // in memory

  std::size_t size() const { return rows * cols; }
  // Where element [row][col] of the file lies in memory.
  std::size_t index(std::size_t row, std::size_t col) const {
    return is_matrix ? offset + col * pitch + row : offset + row * pitch + col;
  }
  ParameterBlock in_memory() const {
    return is_matrix ? ParameterBlock{offset, cols, rows, pitch}
                     : ParameterBlock{offset, rows, cols, pitch};
  }
  // Calls f(row, col, index(row, col)) for every element, in the file's order.
  template <class F>
  void for_each_element(F f) const {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t col = 0; col < cols; ++col) f(row, col, index(row, col));
    }
  }
};

struct LayerBlocks {
  ParameterBlock query_key_value;   // (C, 3C): columns 0 to C-1 are query, then key, then value
  ParameterBlock attention_output;  // (C, C)
  ParameterBlock mlp_hidden;        // (C, 4C)
  ParameterBlock mlp_output;        // (4C, C)
};

class ParameterLayout {
 public:
  // Throws ConfigError, as config.validate() does.
  explicit ParameterLayout(const GptConfig& config);

  const GptConfig& config() const { return config_; }
  // In the order in which the tutorial draws them: token_embedding, position_embedding, output,
  // then a layer's attention.{query,key,value,output}, mlp.{hidden,output}.
  const std::vector<ParameterSpec>& parameters() const { return parameters_; }
  // The parameter of that name, or nullptr.
  const ParameterSpec* find(const std::string& name) const;
  // Scalars in memory, pads included; a multiple of 16.
  std::size_t slab_size() const { return slab_size_; }

  ParameterBlock token_embedding;     // (V, C)
  ParameterBlock position_embedding;  // (block, C)
  ParameterBlock output;              // (C, V)
  std::vector<LayerBlocks> layers;

  // The label of the scalar at that place in memory: "layers.0.attention.query[7][3]", [out][in].
  // REQUIRES: it is a parameter, not a pad.
  std::string label(std::size_t memory_index) const;

 private:
  GptConfig config_;
  std::vector<ParameterSpec> parameters_;
  std::size_t slab_size_ = 0;
};

}  // namespace glassbox
