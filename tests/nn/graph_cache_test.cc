// The tutorial's own form, one token at a time, against the stacked pass.
#include "nn/graph_cache.h"

#include "autograd/errors.h"
#include "nn/gpt.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/small_models.h"

using namespace glassbox;

namespace {

// Every parameter's gradient, and none left on the tape.
template <class T>
std::vector<T> take_gradients(Gpt<T>& model) {
  std::vector<T> gradients;
  for (const ParameterSpec& p : model.layout().parameters())
    for (std::size_t row = 0; row < p.rows; ++row)
      for (std::size_t col = 0; col < p.cols; ++col)
        gradients.push_back(model.tape().grad(static_cast<NodeId>(p.index(row, col))));
  model.tape().zero_grad();
  return gradients;
}

// The loss of each position, token by token.
template <class T>
std::vector<Value<T>> cached_losses(Gpt<T>& model, const std::vector<TokenId>& sentence,
                                    GraphCache<T>& cache) {
  std::vector<Value<T>> losses;
  for (std::size_t t = 0; t + 1 < sentence.size(); ++t)
    losses.push_back(cross_entropy(model.forward(sentence[t], t, cache), sentence[t + 1]));
  return losses;
}

// The two passes add the same terms in another order. What cancels is held to the largest gradient.
template <class T>
void require_near(const std::vector<T>& got, const std::vector<T>& want) {
  double largest = 0;
  for (const T g : want) largest = std::max(largest, static_cast<double>(std::abs(g)));
  REQUIRE(largest > 0);
  const double relative = sizeof(T) == 8 ? 1e-12 : 1e-4, absolute = relative * largest / 100;
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i, got[i], want[i]);
    REQUIRE(excess(got[i], want[i], relative, absolute) <= 1);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("GraphCache: logits have the stacked pass's bits at every position",
                   "[nn][graph_cache]", float, double) {
  std::mt19937_64 bits(701);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    Gpt<TestType> model(drawn_weights<TestType>(config, 702).view());
    for (const std::size_t length : {config.block_size + 1, std::size_t{2}, std::size_t{6}}) {
      const auto sentence = drawn_sentence(bits, config.vocab_size, length);
      const Batch batch = batch_of({&sentence, 1}, config.block_size);
      const auto stacked = model.forward(batch);
      GraphCache<TestType> cache(config);
      for (std::size_t t = 0; t + 1 < sentence.size(); ++t) {
        CHECK(cache.size() == t);
        const auto logits = model.forward(sentence[t], t, cache);
        for (std::size_t v = 0; v < config.vocab_size; ++v)
          REQUIRE(bits_of(logits.data(0, v)) == bits_of(stacked.data(t, v)));
      }
      CHECK(cache.full() == (length == config.block_size + 1));
    }
  }
}

TEMPLATE_TEST_CASE("GraphCache: the mean loss gives the stacked pass's gradients",
                   "[nn][graph_cache]", float, double) {
  std::mt19937_64 bits(703);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    Gpt<TestType> model(drawn_weights<TestType>(config, 704).view());
    for (const std::size_t length : {config.block_size + 1, std::size_t{5}}) {
      const auto sentence = drawn_sentence(bits, config.vocab_size, length);
      const Batch batch = batch_of({&sentence, 1}, config.block_size);
      model.loss(batch).mean.backward();
      const auto want = take_gradients(model);
      GraphCache<TestType> cache(config);
      mean(cached_losses(model, sentence, cache)).backward();
      require_near(take_gradients(model), want);
      model.tape().clear();
    }
  }
}

TEMPLATE_TEST_CASE("GraphCache: the last position's loss alone gives the stacked pass's gradients",
                   "[nn][graph_cache]", float, double) {
  std::mt19937_64 bits(705);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    Gpt<TestType> model(drawn_weights<TestType>(config, 706).view());
    const auto sentence = drawn_sentence(bits, config.vocab_size, 9);
    const Batch batch = batch_of({&sentence, 1}, config.block_size);
    model.loss(batch).rows(batch.rows() - 1, 0).backward();
    const auto want = take_gradients(model);
    GraphCache<TestType> cache(config);
    cached_losses(model, sentence, cache).back().backward();
    require_near(take_gradients(model), want);
  }
}

TEMPLATE_TEST_CASE("GraphCache: the last position's loss reaches keys and values of every position",
                   "[nn][graph_cache]", float, double) {
  std::mt19937_64 bits(707);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    Gpt<TestType> model(drawn_weights<TestType>(config, 708, 0.2).view());
    const auto sentence = drawn_sentence(bits, config.vocab_size, 9);
    GraphCache<TestType> cache(config);
    cached_losses(model, sentence, cache).back().backward();
    for (std::size_t l = 0; l < config.n_layer; ++l) {
      for (std::size_t t = 0; t < cache.size(); ++t) {
        for (std::size_t c = 0; c < config.n_embd; ++c) {
          CAPTURE(l, t, c);
          REQUIRE(cache.key(l, t, c).grad() != 0);
          REQUIRE(cache.value(l, t, c).grad() != 0);
        }
      }
    }
  }
}

TEST_CASE("GraphCache: no position's loss reaches the keys and values of later ones",
          "[nn][graph_cache]") {
  const GptConfig config = {.vocab_size = 47};
  std::mt19937_64 bits(709);
  Gpt<double> model(drawn_weights<double>(config, 710).view());
  const auto sentence = drawn_sentence(bits, config.vocab_size, 9);
  GraphCache<double> cache(config);
  cached_losses(model, sentence, cache)[3].backward();
  for (std::size_t l = 0; l < config.n_layer; ++l)
    for (std::size_t t = 4; t < cache.size(); ++t)
      for (std::size_t c = 0; c < config.n_embd; ++c) {
        REQUIRE(cache.key(l, t, c).grad() == 0);
        REQUIRE(cache.value(l, t, c).grad() == 0);
      }
}

TEST_CASE("GraphCache: a position out of turn and a full block are refused", "[nn][graph_cache]") {
  const GptConfig config = small_shape(5);
  Gpt<double> model(drawn_weights<double>(config, 711).view());
  GraphCache<double> cache(config);
  CHECK_THROWS_AS(model.forward(4, 1, cache), TapeError);
  for (std::size_t t = 0; t < 8; ++t) model.forward(1, t, cache);
  CHECK_THROWS_AS(model.forward(1, 8, cache), TapeError);
  CHECK_THROWS_AS(model.forward(1, 7, cache), TapeError);
  CHECK(cache.size() == 8);
}

TEST_CASE("GraphCache: a token beyond the vocabulary is refused and the cache stays as it was",
          "[nn][graph_cache]") {
  const GptConfig config = small_shape(5);
  Gpt<double> model(drawn_weights<double>(config, 712).view());
  GraphCache<double> cache(config);
  CHECK_THROWS_AS(model.forward(5, 0, cache), TapeError);
  CHECK(cache.size() == 0);
}

TEST_CASE("GraphCache: one made for another shape is refused", "[nn][graph_cache]") {
  Gpt<double> model(drawn_weights<double>(small_shape(5), 713).view());
  GptConfig two_layers = small_shape(5), wide = small_shape(5);
  two_layers.n_layer = 2;
  wide.n_embd = 16;
  GraphCache<double> first(two_layers), second(wide);
  CHECK_THROWS_AS(model.forward(1, 0, first), TapeError);
  CHECK_THROWS_AS(model.forward(1, 0, second), TapeError);
}

TEST_CASE("GraphCache: one that holds a step that was cleared is refused", "[nn][graph_cache]") {
  const GptConfig config = small_shape(5);
  Gpt<double> model(drawn_weights<double>(config, 714).view());
  GraphCache<double> cache(config);
  model.forward(4, 0, cache);
  model.tape().clear();
  CHECK_THROWS_AS(model.forward(1, 1, cache), TapeError);
}
