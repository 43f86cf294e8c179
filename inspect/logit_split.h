// A logit taken apart. The model has no norm at its end, so its last stream is a plain sum, and so
// is a logit: what the token and the position gave (through the one norm at the beginning, which
// multiplies both by the same number), what each head added, what each MLP added. The split is
// exact.
#pragma once

#include <string>
#include <vector>

#include "inspect/inspection.h"

namespace glassbox {

struct LogitSplit {
  struct Part {
    std::string name;  // "token_embedding", "layers.0.attention head 1", "layers.0.mlp"
    double amount;
  };
  std::vector<Part> parts;
  double sum;    // of the parts
  double logit;  // as the model computed it: the same within rounding
};
// REQUIRES: position < positions(), word < vocabulary.
LogitSplit logit_split(Inspection& inspection, std::size_t position, TokenId word);

// The stream after a layer, put straight to the output matrix: what the model would say if it ended
// there.
struct LayerGuess {
  std::string after;  // "embedding", "layers.0", ...
  std::vector<double> probabilities;
};
std::vector<LayerGuess> guesses_by_layer(Inspection& inspection, std::size_t position);

}  // namespace glassbox
