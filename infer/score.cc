#include "infer/score.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

namespace glassbox {

namespace {
constexpr double kNearOne = 1 + 1.0 / 1024;
}

template <class T>
double log_probability(std::span<const T> logits, TokenId token) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const T logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  // Near 1 a sum has lost the digits of what it adds to 1, and they are all that the logarithm is.
  if (logits[token] == largest && sum < kNearOne) {
    double others = 0;
    for (std::size_t id = 0; id < logits.size(); ++id)
      if (id != token) others += std::exp(static_cast<double>(logits[id]) - largest);
    return -std::log1p(others);
  }
  return static_cast<double>(logits[token]) - largest - std::log(sum);
}

template <class T>
std::vector<TokenId> likeliest(std::span<const T> logits, std::size_t count) {
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), TokenId{0});
  count = std::min(count, ids.size());
  std::ranges::partial_sort(
      ids, ids.begin() + static_cast<std::ptrdiff_t>(count),
      [&](TokenId a, TokenId b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  ids.resize(count);
  return ids;
}

template <class T>
std::vector<double> log_probabilities(Decoder<T>& model, std::span<const TokenId> tokens) {
  const std::size_t count = std::min(tokens.size() - 1, model.config().block_size);
  const std::size_t width = model.config().vocab_size;
  const std::vector<T> logits = model.logits(tokens.first(count));
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] =
        log_probability(std::span<const T>(logits.data() + i * width, width), tokens[i + 1]);
  return result;
}

template <class T>
std::vector<std::vector<double>> log_probabilities(
    const Decoder<T>& model, std::span<const std::vector<TokenId>> sentences,
    kernels::Threads& threads, std::size_t sentences_at_once,
    const std::function<void(std::size_t)>& progress) {
  std::vector<Decoder<T>> models;
  for (std::size_t i = 0; i < threads.size(); ++i) models.push_back(model.another());
  std::vector<std::vector<double>> result(sentences.size());
  std::atomic<std::size_t> next = 0;
  threads.parallel_for(threads.size(), [&](std::size_t thread) {
    for (std::size_t begin; (begin = next.fetch_add(sentences_at_once)) < sentences.size();) {
      if (thread == 0 && progress) progress(begin);
      for (std::size_t i = begin; i < std::min(begin + sentences_at_once, sentences.size()); ++i)
        result[i] = log_probabilities(models[thread], std::span<const TokenId>(sentences[i]));
    }
  });
  return result;
}

template double log_probability(std::span<const float>, TokenId);
template double log_probability(std::span<const double>, TokenId);
template std::vector<TokenId> likeliest(std::span<const float>, std::size_t);
template std::vector<TokenId> likeliest(std::span<const double>, std::size_t);
template std::vector<double> log_probabilities(Decoder<float>&, std::span<const TokenId>);
template std::vector<std::vector<double>> log_probabilities(
    const Decoder<float>&, std::span<const std::vector<TokenId>>, kernels::Threads&, std::size_t,
    const std::function<void(std::size_t)>&);
template std::vector<double> log_probabilities(Decoder<double>&, std::span<const TokenId>);
template std::vector<std::vector<double>> log_probabilities(
    const Decoder<double>&, std::span<const std::vector<TokenId>>, kernels::Threads&, std::size_t,
    const std::function<void(std::size_t)>&);

}  // namespace glassbox
