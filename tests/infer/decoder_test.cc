// Inference against training's graph: equal bits, cached or not, whatever went before.
#include "infer/decoder.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "nn/gpt.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/error_message.h"
#include "tests/support/small_models.h"
#include "tests/support/temporary_folder.h"

using namespace glassbox;

namespace {

template <class T>
Decoder<T> decoder_of(const Weights<T>& weights) {
  return Decoder<T>(model_of(weights.view(), numbered_words(weights.config().vocab_size)));
}

// The logits after each token, (tokens, V).
template <class T>
std::vector<T> cached_logits(Decoder<T>& model, std::span<const TokenId> tokens,
                             KvCache<T>& cache) {
  std::vector<T> rows;
  for (const TokenId token : tokens) {
    const auto logits = model.step(token, cache);
    rows.insert(rows.end(), logits.begin(), logits.end());
  }
  return rows;
}
template <class T>
std::vector<T> cached_logits(Decoder<T>& model, std::span<const TokenId> tokens) {
  KvCache<T> cache(model.config());
  return cached_logits(model, tokens, cache);
}

template <class T>
std::size_t different(const std::vector<T>& a, const std::vector<T>& b) {
  return different_bits<T>(a, b);
}

// Every number of it is NaN.
template <class T>
Decoder<T> poisoned_decoder(const GptConfig& config) {
  Weights<T> weights(config);
  std::fill_n(weights.data(), weights.layout().slab_size(), std::numeric_limits<T>::quiet_NaN());
  return decoder_of(weights);
}

// A cache whose whole block holds NaN.
template <class T>
KvCache<T> poisoned_cache(const GptConfig& config) {
  auto decoder = poisoned_decoder<T>(config);
  KvCache<T> cache(config);
  while (!cache.full()) decoder.step(0, cache);
  REQUIRE(std::isnan(cache.keys(0)(config.block_size - 1, 0)));
  REQUIRE(std::isnan(cache.values(0)(0, config.n_embd - 1)));
  return cache;
}

// Fills the block.
std::vector<TokenId> full_block(std::mt19937_64& bits, const GptConfig& config) {
  auto tokens = drawn_sentence(bits, config.vocab_size, config.block_size + 1);
  tokens.pop_back();
  return tokens;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "Decoder: cached, recomputed and training's logits have equal bits at every position",
    "[infer][decoder]", float, double) {
  std::mt19937_64 bits(901);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    const auto weights = drawn_weights<TestType>(config, 902);
    auto decoder = decoder_of(weights);
    Gpt<TestType> graph(weights.view());
    for (int i = 0; i < 3; ++i) {
      const auto sentence = drawn_sentence(bits, config.vocab_size, config.block_size + 1);
      const std::span<const TokenId> tokens(sentence.data(), config.block_size);
      const Batch batch = batch_of({&sentence, 1}, config.block_size);
      const auto logits = graph.forward(batch);
      std::vector<TestType> trained;
      for (std::size_t n = 0; n < batch.rows(); ++n)
        for (std::size_t v = 0; v < config.vocab_size; ++v) trained.push_back(logits.data(n, v));
      const auto cached = cached_logits(decoder, tokens);
      CHECK(different(cached, trained) == 0);
      CHECK(different(decoder.logits(tokens), trained) == 0);
      // Recomputed at each length, as without a cache.
      for (std::size_t size = 1; size <= tokens.size(); ++size) {
        const auto rows = decoder.logits(tokens.first(size));
        REQUIRE(different<TestType>(
                    rows, {cached.begin(),
                           cached.begin() + static_cast<std::ptrdiff_t>(rows.size())}) == 0);
      }
    }
  }
}

TEMPLATE_TEST_CASE("Decoder: a cleared cache whose memory holds NaN changes nothing",
                   "[infer][decoder]", float, double) {
  std::mt19937_64 bits(903);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    auto decoder = decoder_of(drawn_weights<TestType>(config, 904));
    const auto tokens = full_block(bits, config);
    const auto want = cached_logits(decoder, tokens);
    auto cache = poisoned_cache<TestType>(config);
    cache.clear();
    CHECK(different(cached_logits(decoder, tokens, cache), want) == 0);
  }
}

TEST_CASE("Decoder: a sentence of NaN leaves nothing behind in the decoder", "[infer][decoder]") {
  std::mt19937_64 bits(905);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    auto decoder = decoder_of(drawn_weights<float>(config, 906));
    const auto tokens = full_block(bits, config);
    const auto want = decoder.logits(tokens);
    auto poison = poisoned_decoder<float>(config);
    KvCache<float> cache(config);
    poison.step(0, cache);
    REQUIRE(std::isnan(decoder.step(0, cache)[0]));  // its own arrays hold NaN now
    CHECK(different(decoder.logits(tokens), want) == 0);
    CHECK(different(cached_logits(decoder, tokens), want) == 0);
  }
}

TEST_CASE("Decoder: two sentences in turns do not influence each other", "[infer][decoder]") {
  std::mt19937_64 bits(907);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    auto decoder = decoder_of(drawn_weights<double>(config, 908));
    const auto a = full_block(bits, config), b = full_block(bits, config);
    const auto want_a = cached_logits(decoder, a), want_b = cached_logits(decoder, b);
    REQUIRE(different(want_a, want_b) > 0);
    KvCache<double> cache_a(config), cache_b(config);
    std::vector<double> got_a, got_b;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (auto [token, cache, got] :
           {std::tuple(a[i], &cache_a, &got_a), {b[i], &cache_b, &got_b}}) {
        const auto logits = decoder.step(token, *cache);
        got->insert(got->end(), logits.begin(), logits.end());
      }
    }
    CHECK(different(got_a, want_a) == 0);
    CHECK(different(got_b, want_b) == 0);
  }
}

TEST_CASE("Decoder: an unknown token is refused and changes neither cache nor what follows",
          "[infer][decoder]") {
  const GptConfig config = small_shape(5);
  auto decoder = decoder_of(drawn_weights<double>(config, 909));
  const std::vector<TokenId> tokens = {4, 1, 2, 3};
  const auto want = cached_logits(decoder, tokens);
  KvCache<double> cache(config);
  auto got = cached_logits(decoder, std::span(tokens).first(2), cache);
  CHECK_THAT(error_message<VocabularyError>([&] { decoder.step(5, cache); }),
             text_contains("below 5, found 5"));
  CHECK(cache.size() == 2);
  const auto rest = cached_logits(decoder, std::span(tokens).subspan(2), cache);
  got.insert(got.end(), rest.begin(), rest.end());
  CHECK(different(got, want) == 0);
}

TEST_CASE("Decoder: a full cache is refused and stays usable", "[infer][decoder]") {
  const GptConfig config = small_shape(5);
  auto decoder = decoder_of(drawn_weights<double>(config, 910));
  const std::vector<TokenId> tokens(8, 1);
  KvCache<double> cache(config);
  const auto want = cached_logits(decoder, tokens, cache);
  CHECK(cache.full());
  CHECK_THAT(error_message<ConfigError>([&] { decoder.step(1, cache); }),
             text_contains("at most 8 tokens, found 9"));
  CHECK(cache.size() == 8);
  cache.clear();
  CHECK(different(cached_logits(decoder, tokens, cache), want) == 0);
}

TEST_CASE("Decoder: more tokens than the block are refused, none give no logits",
          "[infer][decoder]") {
  auto decoder = decoder_of(drawn_weights<float>(small_shape(5), 911));
  const std::vector<TokenId> nine(9, 1);
  CHECK_THROWS_AS(decoder.logits(nine), ConfigError);
  CHECK(decoder.logits({}).empty());
}

TEST_CASE("Decoder: a cache made for another shape is refused", "[infer][decoder]") {
  const GptConfig config = small_shape(5);
  auto decoder = decoder_of(drawn_weights<double>(config, 912));
  GptConfig layers = config, width = config, block = config;
  layers.n_layer = 2;
  width.n_embd = 16;
  block.block_size = 9;
  for (const GptConfig& other : {layers, width, block}) {
    KvCache<double> cache(other);
    CHECK_THAT(error_message<ConfigError>([&] { decoder.step(1, cache); }),
               text_contains("make it from the model's config"));
    CHECK(cache.size() == 0);
  }
}

TEST_CASE(
    "load_model: a saved model's logits are those of the graph it was saved from, bit for bit",
    "[infer][decoder]") {
  const GptConfig config = small_shape(5);
  Gpt<double> graph(drawn_weights<double>(config, 913).view());
  const TemporaryFolder folder;
  save_model(folder / "m.safetensors", graph, numbered_words(5));
  auto model = load_model<double>(folder / "m.safetensors");
  CHECK(model.config() == config);
  CHECK(model.tokenizer().words() == numbered_words(5).words());
  const std::vector<TokenId> sentence = {4, 1, 2, 0, 4};
  const Batch batch = batch_of({&sentence, 1}, 8);
  const auto want = graph.forward(batch);
  const auto got = model.logits(std::span(sentence).first(4));
  for (std::size_t n = 0; n < 4; ++n)
    for (std::size_t v = 0; v < 5; ++v)
      REQUIRE(bits_of(got[n * 5 + v]) == bits_of(want.data(n, v)));
}

TEST_CASE("load_model: a file of doubles is rounded to floats where floats are asked for",
          "[infer][decoder]") {
  const auto weights = drawn_weights<double>(small_shape(5), 914);
  const TemporaryFolder folder;
  write_model(folder / "m.safetensors", weights.view(), numbered_words(5), "{}");
  auto loaded = load_model(folder / "m.safetensors");
  auto rounded = decoder_of(weights.as<float>());
  const std::vector<TokenId> tokens = {4, 1, 2};
  CHECK(different(loaded.logits(tokens), rounded.logits(tokens)) == 0);
}

TEST_CASE("Decoder: a tokenizer that does not fit the model's table is refused",
          "[infer][decoder]") {
  const auto weights = drawn_weights<float>(small_shape(5), 915);
  for (const std::size_t size : {4, 6})
    CHECK_THROWS_AS(Decoder<float>(weights.view(), numbered_words(size)), ConfigError);
}
