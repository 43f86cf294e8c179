// How likely a model finds a text: what `eval` prints and what the loss of training is made of.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "infer/decoder.h"
#include "kernels/parallel.h"

namespace glassbox {

// ln p(tokens[i + 1] | tokens[0] to tokens[i]) for each i in turn, in nats: what the model itself
// says, before any temperature or filter. One number a prediction, at most block_size of them: a
// longer sentence is cut as it is in training. The arithmetic is double whatever T is. REQUIRES:
// two tokens. Throws as Decoder::logits does.
template <class T>
std::vector<double> log_probabilities(Decoder<T>& model, std::span<const TokenId> tokens);

// The same of each sentence of a text, by as many threads as there are, which take
// `sentences_at_once` at a time. Neither changes a bit. The first thread calls progress(so many
// begun) between them.
template <class T>
std::vector<std::vector<double>> log_probabilities(
    const Decoder<T>& model, std::span<const std::vector<TokenId>> sentences,
    kernels::Threads& threads, std::size_t sentences_at_once = 1,
    const std::function<void(std::size_t)>& progress = {});

// ln of the probability that the softmax of `logits` gives the token. REQUIRES: token <
// logits.size().
template <class T>
double log_probability(std::span<const T> logits, TokenId token);
// The `count` likeliest tokens, or all: likeliest first, and of equal ones the lowest id first.
template <class T>
std::vector<TokenId> likeliest(std::span<const T> logits, std::size_t count);

// The loss of a text: sentence after sentence is added, so the sum has one fixed order.
struct TextLoss {
  double nats = 0;  // the sum of -ln p
  std::size_t tokens = 0;

  // Nats a token.
  double loss() const { return nats / static_cast<double>(tokens); }
  void add(std::span<const double> log_probabilities) {
    for (const double value : log_probabilities) nats -= value;
    tokens += log_probabilities.size();
  }
  void add(const TextLoss& other) {
    nats += other.nats;
    tokens += other.tokens;
  }
};

}  // namespace glassbox
