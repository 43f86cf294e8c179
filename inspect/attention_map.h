// Where each head looks, and the cache of keys and values as it grows.
#pragma once

#include <vector>

#include "inspect/inspection.h"

namespace glassbox {

// Row q, column k: how position q looks back at position k, k = 0 .. q.
using LowerTriangle = std::vector<std::vector<double>>;

struct AttentionMap {
  std::size_t layer, head;
  LowerTriangle scores;   // before the softmax
  LowerTriangle weights;  // after it; each row sums to 1
};
// The maps of all layers and heads, layer by layer.
std::vector<AttentionMap> attention_maps(Inspection& inspection);

// What the cache holds after a token, and what that token's query made of it.
struct CacheStep {
  struct Layer {
    std::vector<std::vector<double>> keys, values;     // (position, C)
    std::vector<std::vector<double>> scores, weights;  // (head, position)
  };
  std::string token;
  std::vector<Layer> layers;
};
// Computes the sentence one token at a time with a fresh cache, as when the model writes.
std::vector<CacheStep> cache_growth(Inspection& inspection);

}  // namespace glassbox
