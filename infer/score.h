// How likely a model finds a text: what `eval` prints and what the loss of training is made of.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infer/decoder.h"

namespace glassbox {

// ln p(tokens[i + 1] | tokens[0] to tokens[i]) for each i in turn, in nats: what the model itself
// says, before any temperature or filter. One number a prediction, at most block_size of them: a
// longer sentence is cut as it is in training. The arithmetic is double whatever T is. REQUIRES:
// two tokens. Throws as Decoder::logits does.
template <class T>
std::vector<double> log_probabilities(Decoder<T>& model, std::span<const TokenId> tokens);

// The loss of a text: sentence after sentence is added, so the sum has one fixed order.
struct Score {
  double nats = 0;  // the sum of -ln p
  std::size_t tokens = 0;

  // Nats a token.
  double loss() const { return nats / static_cast<double>(tokens); }
  void add(std::span<const double> log_probabilities) {
    for (const double value : log_probabilities) nats -= value;
    tokens += log_probabilities.size();
  }
};

}  // namespace glassbox
