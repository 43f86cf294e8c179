// However many threads, the same bits.
#include <vector>

#include "tests/catch_compat.hpp"
#include "train/trainer.h"

using namespace glassbox;

namespace {

template <class T>
std::vector<T> weights_after(std::size_t threads, const GptConfig& shape, bool keep_gradients) {
  Random random(42);
  auto corpus = Corpus::read(GLASSBOX_GOLDEN_DIR "/tiny.txt");
  corpus.shuffle(random);
  const auto tokenizer = Tokenizer::words(corpus);
  GptConfig config = shape;
  config.vocab_size = tokenizer.size();
  Gpt<T> model(config, random);
  Trainer trainer(
      model, tokenizer, corpus,
      {.steps = 12, .batch_size = 24, .threads = threads, .keep_gradients = keep_gradients});
  trainer.run();
  const auto view = model.weights();
  return {view.data, view.data + view.layout->slab_size()};
}

}  // namespace

TEMPLATE_TEST_CASE("Trainer: 1, 2, 3, 7 and 64 threads give the same bits", "[train][threads]",
                   float, double) {
  for (const GptConfig& shape :
       {GptConfig{}, GptConfig{.block_size = 12, .n_layer = 2, .n_head = 3, .n_embd = 72}}) {
    const auto alone = weights_after<TestType>(1, shape, false);
    for (const std::size_t threads : {2, 3, 7, 64}) {
      CAPTURE(threads, shape.n_embd);
      REQUIRE(weights_after<TestType>(threads, shape, threads % 2 == 1) == alone);
    }
  }
}
