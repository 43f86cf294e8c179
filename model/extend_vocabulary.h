// A trained model that learns new words: its tables grow, and no old word loses its row.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "model/model_file.h"

namespace glassbox {

// The same model with `words` after its old ones, in that order, then `<unk>` if `unk` asks for it,
// then BOS. Old words keep their ids and their rows the bits; a `<unk>` that was the last word
// stays the last, and an ordinary word that is spelled so becomes the token in its place. The new
// rows are drawn as in an untrained model, first those of token_embedding, then those of output.
// Throws ConfigError if the model gets too large, FormatError for a word that is there already.
template <class T>
Model<T> extend_vocabulary(const Model<T>& model, const std::vector<std::string>& words, bool unk,
                           Random& random);

}  // namespace glassbox
