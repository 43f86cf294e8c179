#include "inspect/embedding_map.h"

#include <cmath>
#include <cstddef>

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
  const auto at = [&](std::size_t word, std::size_t c) {
    return model.weights.data()[table.index(word, c)];
  };
  std::vector<double> mean(width);
  for (std::size_t w = 0; w < table.rows; ++w)
    for (std::size_t c = 0; c < width; ++c) mean[c] += at(w, c) / static_cast<double>(table.rows);
  Covariance covariance(width, std::vector<double>(width));
  for (std::size_t w = 0; w < table.rows; ++w)
    for (std::size_t i = 0; i < width; ++i)
      for (std::size_t j = 0; j < width; ++j)
        covariance[i][j] +=
            (at(w, i) - mean[i]) * (at(w, j) - mean[j]) / static_cast<double>(table.rows);
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
    map.words.push_back(place);
  }
  return map;
}

}  // namespace glassbox
