#include "infer/batcher.h"

#include <atomic>
#include <random>

#include "base/error.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"
#include "tests/support/small_models.h"

using namespace glassbox;

TEMPLATE_TEST_CASE("Batcher: each sentence is generate_tokens', for any threads and slots",
                   "[infer][batcher]", float, double) {
  using T = TestType;
  const GptConfig config{.vocab_size = 12, .block_size = 6, .n_layer = 2, .n_head = 2, .n_embd = 8};
  auto decoder = Decoder<T>(drawn_weights<T>(config, 5).view(), numbered_words(12));
  for (const auto& [threads, slots] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {1, 24}, {2, 3}, {3, 5}}) {
    constexpr std::size_t kCount = 60;
    std::vector<GeneratedSentence> got(kCount), want(kCount);
    std::vector<std::size_t> tokens_told(kCount);
    std::atomic<std::size_t> ended = 0;
    {
      Batcher<T> batcher(decoder, threads, slots);
      for (std::size_t i = 0; i < kCount; ++i) {
        const std::vector<TokenId> prompt(i % 4, static_cast<TokenId>(i % 11));
        const SamplerConfig sampling{.temperature = 1 + 0.1 * static_cast<double>(i % 3),
                                     .top_k = i % 5,
                                     .repetition_penalty = i % 2 ? 1.0 : 1.5};
        const std::size_t max_tokens = i % 3 == 0 ? 0 : 4 * (i % 7);
        Sampler sampler(sampling);
        want[i] = generate_tokens(decoder, sampler, std::span<const TokenId>(prompt), max_tokens,
                                  UniformStream(9, i));
        batcher.begin({.prompt = prompt,
                       .sampling = sampling,
                       .max_tokens = max_tokens,
                       .seed = 9,
                       .index = i,
                       .on_event = [&, i](const GenerationEvent<T>& event) {
                         if (!event.ended) {
                           ++tokens_told[i];
                           return true;
                         }
                         got[i] = event.sentence;
                         ++ended;
                         return true;
                       }});
      }
      while (ended < kCount) std::this_thread::yield();
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      CAPTURE(i, threads, slots);
      CHECK(got[i].tokens == want[i].tokens);
      CHECK(got[i].stopped == want[i].stopped);
      CHECK(tokens_told[i] == want[i].tokens.size() - i % 4);
    }
  }
}

TEST_CASE("Batcher: a caller ends its own sentence and no other, and a bad request is refused",
          "[infer][batcher]") {
  const GptConfig config{.vocab_size = 12, .block_size = 6, .n_layer = 1, .n_head = 2, .n_embd = 8};
  auto decoder = Decoder<float>(drawn_weights<float>(config, 5).view(), numbered_words(12));
  Batcher<float> batcher(decoder);
  CHECK_THAT(error_message<ConfigError>([&] {
               batcher.begin({.prompt = {0, 1, 2, 3, 4, 5}});
             }),
             text_contains("at most 5"));
  CHECK_THAT(error_message<ConfigError>([&] { batcher.begin({.sampling = {.top_p = 2}}); }),
             text_contains("top_p"));
  std::atomic<int> ended = 0, tokens = 0;
  batcher.begin({.sampling = {.temperature = 1e300},
                 .max_tokens = 1000,
                 .on_event = [&](const GenerationEvent<float>& event) {
                   if (event.ended) ++ended;
                   return event.sentence.tokens.size() < 2;
                 }});
  batcher.begin({.sampling = {.temperature = 0},
                 .max_tokens = 20,
                 .on_event = [&](const GenerationEvent<float>& event) {
                   if (event.ended)
                     ++ended;
                   else
                     ++tokens;
                   return true;
                 }});
  while (ended < 2) std::this_thread::yield();
  Sampler greedy({.temperature = 0});
  CHECK(tokens ==
        static_cast<int>(
            generate_tokens(decoder, greedy, {}, 20, UniformStream(42, 0)).tokens.size()));
  CHECK(batcher.pending() == 0);
}
