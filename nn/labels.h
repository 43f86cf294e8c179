// The names of computed scalars: "layers.0.attention.q@2[5]", "logits@2[cat]". One table; docs, look-up
// and labels go by it.
#pragma once

#include <cstdint>
#include <string>

#include "autograd/record.h"
#include "data/tokenizer.h"
#include "nn/batch.h"
#include "nn/model/parameters.h"

namespace glassbox {

// What a run of the forward pass holds. The order is the order of computation.
enum class Stage : std::uint8_t {
  embedding,             // token + position
  norm,                  // of the embedding
  attention_norm,        // from here to mlp_residual: of a layer
  attention_qkv,         // q, k and v side by side
  attention_heads,       // the heads' outputs side by side
  attention_output,      // after the output matrix
  attention_residual,    // added to the stream
  mlp_norm,
  mlp_hidden,            // before the activation
  mlp_activation,
  mlp_output,
  mlp_residual,
  logits,
  loss,
};

// Its name without position and index; `layer` is ignored by the stages outside of layers. For
// attention_qkv, `part` 0, 1, 2 is q, k, v.
std::string stage_name(Stage stage, std::size_t layer, std::size_t part = 0);

// What labels need to know of a model and of the batch it runs; the labels that it makes point at it.
struct LabelContext {
  const ParameterLayout* layout;
  const Batch* batch = nullptr;          // of the last stacked forward pass
  const Tokenizer* tokenizer = nullptr;  // null: numbers stand for words

  static constexpr std::size_t kStacked = static_cast<std::size_t>(-1);
  // Of a parameter's block of memory: "layers.0.attention.query[7][3]".
  RunLabel parameter(const ParameterBlock& block) const;
  // Of a stage's run: stacked rows, whose positions the batch tells, or one row at `position`. In a batch of
  // several sentences the sentence's number stands before the position: "embedding@1:2[5]".
  RunLabel value(Stage stage, std::size_t layer, std::size_t position) const;
};

}  // namespace glassbox
