// A trained model that learns new words: its tables grow, and no old word loses its row.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "model/model_file.h"

namespace glassbox {

// The same model with `words` behind its old ones, in that order, then, with `unk` or if it was
// there,
// `<unk>`, then BOS. Rows of old tokens keep their bits, and old words their ids too; the new rows
// are drawn as in an untrained model, first those of token_embedding, then those of output. Throws
// ConfigError if the model gets too large or `<unk>` is an ordinary word of it, FormatError for a
// word that is there already.
template <class T>
Model<T> extend_vocabulary(const Model<T>& model, const std::vector<std::string>& words, bool unk,
                           Random& random);

}  // namespace glassbox
