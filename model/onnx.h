// A model as an ONNX file, for other runtimes: IR version 8, operator set 13. The graph is the
// forward pass of model/forward.h, written down instead of computed.
//
// Input `tokens`, int64 [T]: a sentence's token ids, BOS first. Output `logits`, [T, V] in the
// model's precision: row t belongs to the token after position t. More tokens than the block holds
// make the runtime fail. The vocabulary is in the metadata, as in the model file.
#pragma once

#include <string>

#include "data/tokenizer.h"
#include "model/weights.h"

namespace glassbox {

// Throws FileError, ConfigError for a model of more than the two gigabytes that such a file may
// have and for an operation that ONNX's has no counterpart here, NumericError for a weight that is
// not finite.
template <class T>
void write_onnx(const std::string& path, WeightsView<T> weights, const Tokenizer& tokenizer);

}  // namespace glassbox
