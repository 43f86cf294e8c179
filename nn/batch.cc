#include "nn/batch.h"

#include <algorithm>

#include "autograd/errors.h"

namespace glassbox {

void Batch::clear() {
  tokens.clear();
  positions.clear();
  targets.clear();
  weights.clear();
  starts.assign(1, 0);
}

void Batch::add(std::span<const TokenId> sentence, std::size_t block_size) {
  if (sentence.size() < 2)
    throw TapeError("batch: expected a sentence of at least two tokens, found fewer");
  if (starts.empty()) starts.assign(1, 0);
  const std::size_t rows_here = std::min(block_size, sentence.size() - 1);
  for (std::size_t i = 0; i < rows_here; ++i) {
    tokens.push_back(sentence[i]);
    positions.push_back(static_cast<std::uint32_t>(i));
    targets.push_back(sentence[i + 1]);
  }
  starts.push_back(static_cast<std::uint32_t>(tokens.size()));
}

void Batch::set_weights(std::size_t of_sentences) {
  weights.clear();
  for (std::size_t b = 0; b < sentences(); ++b) {
    const std::size_t rows_here = starts[b + 1] - starts[b];
    const double weight = 1.0 / static_cast<double>(rows_here) / static_cast<double>(of_sentences);
    weights.insert(weights.end(), rows_here, weight);
  }
}

}  // namespace glassbox
