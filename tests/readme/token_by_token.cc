// The model by its definition: on the graph, one token at a time, with a growing cache of Values a
// layer, as the tutorial trains.
#include <fmt/core.h>

#include <vector>

#include "nn/gpt.h"
#include "nn/layers.h"

int main() {
  glassbox::Random random(42);
  glassbox::GptConfig config{.vocab_size = 5};
  glassbox::Gpt<double> model(config, random);
  std::vector<glassbox::TokenId> tokens = {4, 0, 1, 2, 3, 4};
  std::vector<glassbox::Value<double>> losses;

  glassbox::GraphCache<double> cache(config);
  for (std::size_t position = 0; position + 1 < tokens.size(); ++position) {
    auto logits = model.forward(tokens[position], position, cache);  // keys and values grow by one
    losses.push_back(cross_entropy(logits, tokens[position + 1]));
  }
  mean(losses).backward();  // the gradient reaches the keys and values of every earlier position

  for (std::size_t position = 0; position < cache.size(); ++position) {
    auto key = cache.key(0, position, 0);
    fmt::print("{} = {:.3f}, gradient {:.6f}\n", key.label(), key.data(), key.grad());
  }
}
