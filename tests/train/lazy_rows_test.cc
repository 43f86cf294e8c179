// Rows that lazy updates skip are caught up with to the very bits of rows that were not skipped.
#include <cstring>
#include <vector>

#include "autograd/scope.h"
#include "nn/gpt.h"
#include "tests/catch_compat.hpp"
#include "train/optimizer.h"

using namespace glassbox;

namespace {

// Trains a small model on sentences in which most words are rare, and returns its weights.
template <class T>
std::vector<T> train(bool fused, int steps, double (*rate)(int), double epsilon) {
  Random random(7);
  Gpt<T> model({.vocab_size = 40, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 16},
               random);
  Optimizer<T> adam(model.tape(), model.layout().slab_size(), {.epsilon = epsilon});
  Batch batch;
  for (int i = 0; i < steps; ++i) {
    const TokenId rare = i % 97 == 0 ? static_cast<TokenId>(i / 97 % 30 + 5) : 1;
    const std::vector<TokenId> sentence = {39, static_cast<TokenId>(i % 5), rare, 2, 39};
    batch.clear();
    batch.add(sentence, 8);
    batch.set_weights();
    const StepScope<T> scope(model.tape());
    model.tape().zero_grad();
    const auto loss = model.loss(batch);
    if (fused) {
      adam.backward_step(loss.mean, rate(i), false);
    } else {
      loss.mean.backward();
      adam.step(rate(i));
    }
  }
  const T* weights = model.weights().data;
  return {weights, weights + model.layout().slab_size()};
}

template <class T>
bool equal_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("Adam: rows that were skipped end with the bits of rows that were not",
                   "[train][adam]", float, double) {
  const auto falling = [](int i) { return 0.01 * (1 - i / 1000.0); };
  REQUIRE(equal_bits(train<TestType>(true, 1000, falling, 1e-8),
                     train<TestType>(false, 1000, falling, 1e-8)));
}

TEMPLATE_TEST_CASE("Adam: after a rate that jumps no row is skipped", "[train][adam]", float,
                   double) {
  const auto jumping = [](int i) { return i % 250 < 200 ? 1e-9 : 0.5; };
  REQUIRE(equal_bits(train<TestType>(true, 1000, jumping, 1e-8),
                     train<TestType>(false, 1000, jumping, 1e-8)));
}

TEST_CASE("Adam: with a tiny epsilon no row is skipped", "[train][adam]") {
  const auto falling = [](int i) { return 0.01 * (1 - i / 1000.0); };
  REQUIRE(equal_bits(train<float>(true, 1000, falling, 1e-30),
                     train<float>(false, 1000, falling, 1e-30)));
}

TEMPLATE_TEST_CASE("Adam: after a negative rate that grows no row is skipped", "[train][adam]",
                   float, double) {
  const auto growing = [](int i) { return i % 250 < 200 ? -1e-9 : -0.5; };
  REQUIRE(equal_bits(train<TestType>(true, 1000, growing, 1e-8),
                     train<TestType>(false, 1000, growing, 1e-8)));
}
