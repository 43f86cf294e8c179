#include "infer/score.h"

#include <algorithm>
#include <cmath>

namespace glassbox {

template <class T>
std::vector<double> log_probabilities(Decoder<T>& model, std::span<const TokenId> tokens) {
  const std::size_t count = std::min(tokens.size() - 1, model.config().block_size);
  const std::size_t width = model.config().vocab_size;
  const std::vector<T> logits = model.logits(tokens.first(count));

  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const T> row(logits.data() + i * width, width);
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const T logit : row) sum += std::exp(static_cast<double>(logit) - largest);
    result[i] = static_cast<double>(row[tokens[i + 1]]) - largest - std::log(sum);
  }
  return result;
}

template std::vector<double> log_probabilities(Decoder<float>&, std::span<const TokenId>);
template std::vector<double> log_probabilities(Decoder<double>&, std::span<const TokenId>);

}  // namespace glassbox
