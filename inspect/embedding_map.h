// The words by their embeddings: in the plane, and next to each other.
#pragma once

#include <span>
#include <vector>

#include "model/model_file.h"

namespace glassbox {

// The two directions in which the embeddings differ the most (principal components).
struct EmbeddingMap {
  struct Place {
    double x, y;
  };
  std::vector<Place> words;  // of every token
  double shown;              // how much of all variance the two directions hold, from 0 to 1
};
EmbeddingMap embedding_map(const Model<double>& model);

struct WordDistance {
  TokenId word;
  double cosine;
};

// Finds the words whose embeddings point the most the same way, among all words or some of them.
class NearestWords {
 public:
  explicit NearestWords(const Model<double>& model);
  NearestWords(const Model<double>& model, std::span<const TokenId> among);

  // The nearest first, `word` itself left out. `word` need not be one of those it looks among.
  std::vector<WordDistance> of(TokenId word, std::size_t count) const;

 private:
  const Model<double>& model_;
  std::vector<TokenId> words_;
  std::vector<double> columns_;  // (C, words): dot products with all words go along the words
  std::vector<double> squares_;  // of their lengths
};

}  // namespace glassbox
