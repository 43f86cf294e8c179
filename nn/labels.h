// The names of computed scalars: "layers.0.attention.q@2[5]", "logits@2[cat]". One table; docs,
// look-up and labels go by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/record.h"
#include "data/tokenizer.h"
#include "model/forward.h"
#include "nn/batch.h"

namespace glassbox {

// The name of a stage, without position and index; `layer` is ignored by the stages outside of
// layers. For attention_qkv, `part` 0, 1, 2 is q, k, v.
std::string stage_name(Stage stage, std::size_t layer, std::size_t part = 0);

struct StageRef {
  Stage stage;
  std::size_t layer, part;
  std::string name() const { return stage_name(stage, layer, part); }
};
// Every stage of a model, in the order of computation.
std::vector<StageRef> all_stages(const GptConfig& config);
// What a name without position and index refers to, or nothing.
std::optional<StageRef> find_stage(std::string_view name, const GptConfig& config);

// A name taken apart, by the one grammar of names:
//   NAME[row][column]        a parameter, [out][in] as in the file
//   NAME@position[index]     a value; NAME@sentence:position[index] in a batch of several sentences
//   NAME@position, NAME      what has no index: loss@2, loss
// A word may hold any character but white space, so `index` is all from the first bracket to the
// last.
struct ScalarName {
  std::string name;
  std::size_t sentence = 0;
  std::optional<std::size_t> position;
  std::optional<std::string> index;  // "5", "cat", "7][3"

  // "7][3" as {7, 3}; nothing if a part is no number.
  std::optional<std::vector<std::size_t>> numbers() const;
};
// Nothing if the text does not follow the grammar.
std::optional<ScalarName> parse_scalar_name(std::string_view text);

// What labels need to know of a model and of the batch that it computes. The labels point at it.
struct LabelContext {
  const ParameterLayout* layout;
  const Batch* batch = nullptr;          // of the last stacked forward pass
  const Tokenizer* tokenizer = nullptr;  // null: numbers stand for words

  static constexpr std::size_t kStacked = static_cast<std::size_t>(-1);
  // Of a parameter's block of memory: "layers.0.attention.query[7][3]".
  MatrixLabel parameter(const ParameterBlock& block) const;
  // Of a stage's matrix: stacked rows, whose positions the batch knows, or one row at `position`.
  // In a batch of several sentences the sentence's number comes before the position:
  // "embedding@1:2[5]".
  MatrixLabel value(Stage stage, std::size_t layer, std::size_t position) const;
};

}  // namespace glassbox
