// Many sentences side by side: each has the bits it has alone.
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "infer/generate.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/error_message.h"
#include "tests/support/small_models.h"

using namespace glassbox;

namespace {

template <class T>
Decoder<T> decoder_of(const Weights<T>& weights) {
  return Decoder<T>(model_of(weights.view(), numbered_words(weights.config().vocab_size)));
}

// Caches whose memory holds NaN throughout, and which count as empty.
template <class T>
std::vector<KvCache<T>> poisoned_caches(const GptConfig& config, std::size_t count) {
  Weights<T> weights(config);
  std::fill_n(weights.data(), weights.layout().slab_size(), std::numeric_limits<T>::quiet_NaN());
  auto decoder = decoder_of(weights);
  std::vector<KvCache<T>> caches;
  for (std::size_t i = 0; i < count; ++i) {
    caches.emplace_back(config);
    while (!caches.back().full()) decoder.step(0, caches.back());
    REQUIRE(std::isnan(caches.back().keys(0)(config.block_size - 1, 0)));
    caches.back().clear();
  }
  return caches;
}

}  // namespace

TEMPLATE_TEST_CASE("Decoder: a row among others at other positions has the bits it has alone",
                   "[infer][slots]", float, double) {
  using T = TestType;
  std::mt19937_64 bits(921);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    const auto weights = drawn_weights<T>(config, 922);
    auto many = decoder_of(weights);
    auto alone = many.another();
    for (const std::size_t slots : {1, 2, 7, 64}) {
      auto caches = poisoned_caches<T>(config, slots);
      std::vector<KvCache<T>> own;
      for (std::size_t i = 0; i < slots; ++i) own.emplace_back(config);
      for (int pass = 0; pass < 12; ++pass) {
        std::vector<std::size_t> active;  // some stand still, so that positions differ
        for (std::size_t i = 0; i < slots; ++i)
          if (bits() % 4 != 0) active.push_back(i);
        std::shuffle(active.begin(), active.end(), bits);
        std::vector<TokenId> tokens;
        std::vector<KvCache<T>*> at;
        for (const std::size_t i : active) {
          if (caches[i].full()) {  // a reused slot
            caches[i].clear();
            own[i] = KvCache<T>(config);
          }
          tokens.push_back(static_cast<TokenId>(bits() % config.vocab_size));
          at.push_back(&caches[i]);
        }
        const LogitRows<T> rows = many.step(tokens, at);
        REQUIRE(rows.size() == active.size());
        for (std::size_t r = 0; r < rows.size(); ++r)
          REQUIRE(different_bits<T>(rows[r], alone.step(tokens[r], own[active[r]])) == 0);
      }
    }
  }
}

TEST_CASE("Decoder: a token refused in one row changes no cache", "[infer][slots]") {
  const GptConfig config = small_shape(5);
  auto decoder = decoder_of(drawn_weights<float>(config, 923));
  KvCache<float> a(config), b(config);
  KvCache<float>* const both[] = {&a, &b};
  const TokenId wrong[] = {1, 5}, right[] = {1, 4};
  CHECK_THAT(error_message<VocabularyError>([&] { decoder.step(wrong, both); }),
             text_contains("below 5, found 5"));
  CHECK((a.size() == 0 && b.size() == 0));
  CHECK(decoder.step(right, both).size() == 2);
  CHECK((a.size() == 1 && b.size() == 1));
}

TEST_CASE(
    "KvCache: one filled with another's entries goes on as that does, whatever its memory held",
    "[infer][slots]") {
  std::mt19937_64 bits(924);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    auto decoder = decoder_of(drawn_weights<float>(config, 925));
    auto copy = std::move(poisoned_caches<float>(config, 1)[0]);
    KvCache<float> original(config);
    for (std::size_t i = 0; i < 3; ++i)
      decoder.step(static_cast<TokenId>(bits() % config.vocab_size), original);
    std::vector<float> entry(original.entry_size());
    for (const std::size_t position : {1, 2, 0}) {
      original.get(position, entry.data());
      copy.set(position, entry.data());
    }
    CHECK(copy.size() == 3);
    while (!original.full()) {
      const auto token = static_cast<TokenId>(bits() % config.vocab_size);
      const auto row = decoder.step(token, original);
      const std::vector<float> want(row.begin(), row.end());
      REQUIRE(different_bits<float>(decoder.step(token, copy), want) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("Generator: every sentence is generate_tokens', for any slots, part and sharing",
                   "[infer][slots]", float, double) {
  using T = TestType;
  std::mt19937_64 bits(926);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    auto decoder = decoder_of(drawn_weights<T>(config, 927));
    const TokenId word = static_cast<TokenId>(bits() % (config.vocab_size - 1));
    const std::vector<TokenId> prompts[] = {{}, {word}, {word, 0, word}};
    for (const auto& prompt : prompts)
      for (const std::size_t max_tokens : {0, 3, 12})
        for (const SamplerConfig sampling :
             {SamplerConfig{}, SamplerConfig{.temperature = 1.3, .top_k = 4},
              SamplerConfig{.min_p = 0.2, .repetition_penalty = 1.7, .repeat_last_n = 2}}) {
          Sampler sampler(sampling);
          std::vector<GeneratedSentence> want;
          for (std::uint64_t i = 0; i < 90; ++i)
            want.push_back(generate_tokens(decoder, sampler, std::span(prompt), max_tokens,
                                           UniformStream(5, i)));
          for (const auto& [slots, shared] : {std::pair<std::size_t, std::size_t>{1, 0},
                                              {1, kSharedBytes},
                                              {2, 20'000},
                                              {7, kSharedBytes},
                                              {64, 0},
                                              {100, 100'000}})
            for (const auto& [first, count] : {std::pair{0, 90}, {17, 40}, {89, 1}, {3, 0}}) {
              const auto got = Generator<T>(decoder, sampling, prompt, max_tokens, 5, shared)
                                   .samples(static_cast<std::uint64_t>(first),
                                            static_cast<std::size_t>(count), slots);
              REQUIRE(got.size() == static_cast<std::size_t>(count));
              for (std::size_t i = 0; i < got.size(); ++i) {
                REQUIRE(got[i].tokens == want[first + i].tokens);
                REQUIRE(got[i].stopped == want[first + i].stopped);
              }
            }
        }
  }
}

TEMPLATE_TEST_CASE(
    "Generator: one that has drawn much draws what a fresh one does, within its memory",
    "[infer][slots]", float, double) {
  using T = TestType;
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    auto decoder = decoder_of(drawn_weights<T>(config, 928));
    const std::vector<TokenId> prompt{1};
    for (const SamplerConfig sampling :
         {SamplerConfig{.temperature = 0.3}, SamplerConfig{.temperature = 0.5, .top_p = 0.8}}) {
      const auto want = Generator<T>(decoder, sampling, prompt, 5, 9, 0).samples(0, 400, 7);
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{30'000}, kSharedBytes}) {
        Generator<T> generator(decoder, sampling, prompt, 5, 9, bytes);
        const std::size_t root = generator.shared().bytes();
        const std::size_t node = root + 2 * config.vocab_size * sizeof(double) + 1000;
        for (int round = 0; round < 2; ++round)
          for (const std::size_t first : {200, 0, 300, 100}) {
            const auto got = generator.samples(first, 100, 3);
            for (std::size_t i = 0; i < got.size(); ++i)
              REQUIRE(got[i].tokens == want[first + i].tokens);
            REQUIRE(generator.shared().bytes() <= bytes + node);
          }
        if (bytes > 0) CHECK(generator.shared().bytes() > root);
      }
    }
  }
}

static_assert(!std::is_copy_constructible_v<Generator<float>>);

TEST_CASE("Generator: one that was moved draws what it drew, from memory that moved with it",
          "[infer][slots]") {
  auto decoder = decoder_of(drawn_weights<float>(small_shape(), 931));
  std::optional<Generator<float>> first;
  first.emplace(decoder, SamplerConfig{}, std::span<const TokenId>(), 0, 5u);
  const auto before = first->samples(0, 200);
  Generator<float> moved = std::move(*first);
  first.reset();
  const auto after = moved.samples(0, 200);
  for (std::size_t i = 0; i < before.size(); ++i) REQUIRE(after[i].tokens == before[i].tokens);
}
