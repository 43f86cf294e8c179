#include "nn/batch.h"

#include "nn/gpt.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/small_models.h"

using namespace glassbox;
using Ids = std::vector<std::uint32_t>;

TEST_CASE("Batch: sentences are stacked without padding, cut to the block", "[nn][batch]") {
  const std::vector<std::vector<TokenId>> sentences = {{9, 1, 2, 9}, {9, 9}, {9, 3, 4, 5, 6, 9}};
  const Batch batch = batch_of(sentences, 4);
  CHECK(batch.rows() == 8);
  CHECK(batch.sentences() == 3);
  CHECK(batch.starts == Ids{0, 3, 4, 8});
  CHECK(batch.tokens == Ids{9, 1, 2, 9, 9, 3, 4, 5});
  CHECK(batch.positions == Ids{0, 1, 2, 0, 0, 1, 2, 3});
  CHECK(batch.targets == Ids{1, 2, 9, 9, 3, 4, 5, 6});
}

TEST_CASE("Batch: each sentence weighs the same, and each position within it", "[nn][batch]") {
  const std::vector<std::vector<TokenId>> sentences = {{9, 1, 2, 9}, {9, 9}};
  const Batch batch = batch_of(sentences, 4);
  CHECK(batch.weights == std::vector<double>{1.0 / 3 / 2, 1.0 / 3 / 2, 1.0 / 3 / 2, 0.5});
}

TEST_CASE("Batch: cleared, it takes the next step's sentences and nothing is left of the last",
          "[nn][batch]") {
  const std::vector<std::vector<TokenId>> first = {{9, 1, 2, 9}, {9, 9}}, second = {{9, 3, 9}};
  Batch batch = batch_of(first, 4);
  batch.clear();
  batch.add(second[0], 4);
  batch.set_weights();
  const Batch fresh = batch_of(second, 4);
  CHECK(batch.tokens == fresh.tokens);
  CHECK(batch.positions == fresh.positions);
  CHECK(batch.targets == fresh.targets);
  CHECK(batch.starts == fresh.starts);
  CHECK(batch.weights == fresh.weights);
}

TEMPLATE_TEST_CASE("Batch: a sentence's logits have the same bits alone and between others",
                   "[nn][batch]", float, double) {
  std::mt19937_64 bits(801);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    Gpt<TestType> model(drawn_weights<TestType>(config, 802).view());
    std::vector<std::vector<TokenId>> sentences;
    for (const std::size_t length : {3, 9, 2, 7, 5})
      sentences.push_back(drawn_sentence(bits, config.vocab_size, length));
    const Batch together = batch_of(sentences, config.block_size);
    const auto all = model.forward(together);
    for (std::size_t b = 0; b < sentences.size(); ++b) {
      const Batch alone = batch_of({&sentences[b], 1}, config.block_size);
      const auto logits = model.forward(alone);
      for (std::size_t n = 0; n < alone.rows(); ++n)
        for (std::size_t v = 0; v < config.vocab_size; ++v)
          REQUIRE(bits_of(logits.data(n, v)) == bits_of(all.data(together.starts[b] + n, v)));
    }
  }
}
