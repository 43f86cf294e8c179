// A batch: the positions of all its sentences stacked into rows, ragged, without padding. Only
// attention and the labels know where a sentence begins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizer.h"

namespace glassbox {

struct Batch {
  std::vector<std::uint32_t> tokens;     // (N) the token at each row
  std::vector<std::uint32_t> positions;  // (N) its place in its sentence, from 0
  std::vector<std::uint32_t> targets;    // (N) the token that follows
  std::vector<double> weights;        // (N) of each row's loss: 1 / (B * positions of its sentence)
  std::vector<std::uint32_t> starts;  // (B + 1) first row of each sentence; the last is N

  std::size_t rows() const { return tokens.size(); }
  std::size_t sentences() const { return starts.empty() ? 0 : starts.size() - 1; }
  void clear();
  // Adds one sentence, BOS at both ends: min(block_size, length - 1) rows. Call set_weights() when
  // all are in. Throws TapeError for fewer than two tokens.
  void add(std::span<const TokenId> sentence, std::size_t block_size);
  // Each sentence counts the same, and each position within it.
  void set_weights() { set_weights(sentences()); }
  // The same for a part of a batch of so many sentences.
  void set_weights(std::size_t of_sentences);
};

}  // namespace glassbox
