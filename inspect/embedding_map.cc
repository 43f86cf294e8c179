#include "inspect/embedding_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "inspect/gradients.h"
#include "inspect/inspection.h"
#include "inspect/scale.h"

namespace glassbox {

namespace {

using Covariance = std::vector<std::vector<double>>;

// The direction of the largest variance, by power iteration; sized 1. `variance` is along it.
std::vector<double> main_direction(const Covariance& covariance, double& variance) {
  const std::size_t n = covariance.size();
  std::vector<double> direction(n);
  for (std::size_t i = 0; i < n; ++i)
    direction[i] = 1 + static_cast<double>(i) / 10;  // not across any axis
  for (int round = 0; round < 500;
       ++round) {  // more than enough to see; close variances need the most
    std::vector<double> next(n);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) next[i] += covariance[i][j] * direction[j];
      squares += next[i] * next[i];
    }
    variance = std::sqrt(squares);
    if (variance == 0) return std::vector<double>(n);
    for (std::size_t i = 0; i < n; ++i) direction[i] = next[i] / variance;
  }
  return direction;
}

}  // namespace

EmbeddingMap embedding_map(const Model<double>& model) {
  const ParameterSpec& table = *model.weights.layout().find("token_embedding");
  const std::size_t width = table.cols;
  const auto rows = static_cast<double>(table.rows);
  const double scale = scale_to_one(summarize_parameter(table, model.weights.data()).largest);
  const auto at = [&](std::size_t word, std::size_t c) {
    return model.weights.data()[table.index(word, c)] * scale;
  };
  std::vector<double> mean(width);
  for (std::size_t w = 0; w < table.rows; ++w)
    for (std::size_t c = 0; c < width; ++c) mean[c] += at(w, c) / rows;
  Covariance covariance(width, std::vector<double>(width));
  std::vector<double> centred(width);
  for (std::size_t w = 0; w < table.rows; ++w) {
    for (std::size_t c = 0; c < width; ++c) centred[c] = at(w, c) - mean[c];
    for (std::size_t i = 0; i < width; ++i)
      for (std::size_t j = 0; j <= i; ++j) covariance[i][j] += centred[i] * centred[j] / rows;
  }
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t j = i + 1; j < width; ++j) covariance[i][j] = covariance[j][i];
  double all = 0;
  for (std::size_t c = 0; c < width; ++c) all += covariance[c][c];

  std::vector<std::vector<double>> axes;
  double held = 0;
  for (int axis = 0; axis < 2; ++axis) {
    double variance = 0;
    axes.push_back(main_direction(covariance, variance));
    held += variance;
    for (std::size_t i = 0; i < width; ++i)  // what is left lies across it
      for (std::size_t j = 0; j < width; ++j)
        covariance[i][j] -= variance * axes.back()[i] * axes.back()[j];
  }
  EmbeddingMap map{{}, all > 0 ? held / all : 0};
  for (std::size_t w = 0; w < table.rows; ++w) {
    EmbeddingMap::Place place{0, 0};
    for (std::size_t c = 0; c < width; ++c) {
      place.x += (at(w, c) - mean[c]) * axes[0][c];
      place.y += (at(w, c) - mean[c]) * axes[1][c];
    }
    map.words.push_back({place.x / scale, place.y / scale});
  }
  return map;
}

namespace {
std::vector<TokenId> all_words(const Model<double>& model) {
  std::vector<TokenId> words(model.config().vocab_size);
  std::iota(words.begin(), words.end(), TokenId{0});
  return words;
}

// A word's embedding, its largest channel brought to about 1: the cosine does not see it.
std::vector<double> scaled_row(const Model<double>& model, TokenId word) {
  const ParameterSpec& table = *model.weights.layout().find("token_embedding");
  const double* const begin = model.weights.data() + table.index(word, 0);
  std::vector<double> row(begin, begin + table.cols);
  double largest = 0;
  for (const double x : row) largest = std::max(largest, std::abs(x));
  const double scale = scale_to_one(largest);
  for (double& x : row) x *= scale;
  return row;
}
}  // namespace

NearestWords::NearestWords(const Model<double>& model) : NearestWords(model, all_words(model)) {}

NearestWords::NearestWords(const Model<double>& model, std::span<const TokenId> among)
    : model_(model),
      words_(among.begin(), among.end()),
      columns_(among.size() * model.config().n_embd),
      squares_(among.size()) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::vector<double> row = scaled_row(model, words_[i]);
    for (std::size_t c = 0; c < row.size(); ++c) {
      columns_[c * words_.size() + i] = row[c];
      squares_[i] += row[c] * row[c];
    }
  }
}

std::vector<WordDistance> NearestWords::of(TokenId word, std::size_t count) const {
  const std::vector<double> row = scaled_row(model_, word);
  std::vector<double> cosine(words_.size());
  double square = 0;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double x = row[c];
    square += x * x;
    const double* const column = columns_.data() + c * words_.size();
    for (std::size_t i = 0; i < words_.size(); ++i) cosine[i] += x * column[i];
  }
  std::size_t others = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const double sizes = std::sqrt(square * squares_[i]);
    cosine[i] = sizes > 0 ? cosine[i] / sizes : 0;
    if (words_[i] == word)
      cosine[i] = -2;  // behind all others
    else
      ++others;
  }
  std::vector<WordDistance> result;
  for (const TokenId i : likeliest_tokens(cosine, std::min(count, others)))
    result.push_back({words_[i], cosine[i]});
  return result;
}

}  // namespace glassbox
