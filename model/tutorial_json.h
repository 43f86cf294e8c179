// The model file of the tutorial "LLMs, the Hard Way": a JSON object with the shape and one flat
// list of weights in the order in which they are drawn, each matrix row by row [out][in]. It holds
// no vocabulary.
#pragma once

#include <string>

#include "data/corpus.h"
#include "data/tokenizer.h"
#include "model/model_file.h"
#include "model/weights.h"

namespace glassbox {

// The vocabulary that the tutorial makes of that corpus: like ours, but sorted as JavaScript sorts,
// by UTF-16 units. That puts U+E000 to U+FFFF behind all that lies beyond U+FFFF.
Tokenizer tutorial_tokenizer(const Corpus& corpus);

// Doubles, as the tutorial computes. Throws FileError, or FormatError for a field that is missing
// or impossible, for a weight that is no number, for counts that do not match: `tokenizer` must
// have the file's vocabSize.
Model<double> read_tutorial_model(const std::string& path, Tokenizer tokenizer);

// Each weight as the shortest text that reads back as the same double, so that the tutorial
// computes with exactly these weights. The vocabulary stays behind. Throws ConfigError for what the
// tutorial cannot express, NumericError for a weight that is not finite, FileError.
template <class T>
void write_tutorial_model(const std::string& path, WeightsView<T> weights);

}  // namespace glassbox
