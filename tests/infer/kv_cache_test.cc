#include "infer/kv_cache.h"

#include <type_traits>

#include "base/error.h"
#include "infer/decoder.h"
#include "nn/gpt.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/small_models.h"

using namespace glassbox;

TEST_CASE("KvCache: empty at first, one entry more a token, empty again when cleared",
          "[infer][kv_cache]") {
  const GptConfig config = small_shape(5);
  Decoder<double> decoder(model_of(drawn_weights<double>(config, 921).view(), numbered_words(5)));
  KvCache<double> cache(config);
  CHECK(cache.capacity() == 8);
  for (std::size_t size = 0; size < 8; ++size) {
    CHECK(cache.size() == size);
    CHECK_FALSE(cache.full());
    CHECK(cache.keys(0).rows() == size);
    CHECK(cache.values(0).rows() == size);
    CHECK(cache.values(0).cols() == 8);
    decoder.step(1, cache);
  }
  CHECK(cache.full());
  cache.clear();
  CHECK(cache.size() == 0);
}

TEMPLATE_TEST_CASE("KvCache: keys and values are those of training's graph bit for bit",
                   "[infer][kv_cache]", float, double) {
  std::mt19937_64 bits(922);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    const auto weights = drawn_weights<TestType>(config, 923);
    Decoder<TestType> decoder(model_of(weights.view(), numbered_words(config.vocab_size)));
    Gpt<TestType> graph(weights.view());
    const auto sentence = drawn_sentence(bits, config.vocab_size, config.block_size + 1);
    KvCache<TestType> cache(config);
    GraphCache<TestType> graph_cache(config);
    for (std::size_t t = 0; t < config.block_size; ++t) {
      decoder.step(sentence[t], cache);
      graph.forward(sentence[t], t, graph_cache);
    }
    for (std::size_t l = 0; l < config.n_layer; ++l)
      for (std::size_t t = 0; t < config.block_size; ++t)
        for (std::size_t c = 0; c < config.n_embd; ++c) {
          REQUIRE(bits_of(cache.keys(l)(t, c)) == bits_of(graph_cache.key(l, t, c).data()));
          REQUIRE(bits_of(cache.values(l)(t, c)) == bits_of(graph_cache.value(l, t, c).data()));
        }
  }
}

static_assert(!std::is_copy_constructible_v<KvCache<float>>);
static_assert(std::is_move_constructible_v<KvCache<float>>);

TEST_CASE("KvCache: an impossible shape is refused", "[infer][kv_cache]") {
  CHECK_THROWS_AS(KvCache<float>({.vocab_size = 5, .n_head = 3}), ConfigError);
  CHECK_THROWS_AS(KvCache<float>({.vocab_size = 5, .block_size = 0}), ConfigError);
}
