// The words in the plane: the two directions in which their embeddings differ the most (principal
// components).
#pragma once

#include <vector>

#include "model/model_file.h"

namespace glassbox {

struct EmbeddingMap {
  struct Place {
    double x, y;
  };
  std::vector<Place> words;  // of every token
  double shown;              // how much of all variance the two directions hold, from 0 to 1
};
EmbeddingMap embedding_map(const Model<double>& model);

}  // namespace glassbox
