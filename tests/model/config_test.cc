#include "model/config.h"

#include "base/error.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"

namespace glassbox {
namespace {

// What validate() says of the default shape with that change.
template <class Change>
std::string told(Change change) {
  GptConfig config{.vocab_size = 597};
  change(config);
  return error_message<ConfigError>([&] { config.validate(); });
}

TEST_CASE("GptConfig: parameters are counted as the tutorial counts them", "[model][config]") {
  CHECK(GptConfig{.vocab_size = 597}.parameter_count() == 63296);
  CHECK(GptConfig{.vocab_size = 47}.parameter_count() == 28096);
  CHECK(GptConfig{.vocab_size = 47, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 8}
            .parameter_count() == 1584);
}

TEST_CASE("GptConfig: the default shape and the smallest one are possible", "[model][config]") {
  CHECK_NOTHROW(GptConfig{.vocab_size = 597}.validate());
  CHECK_NOTHROW(GptConfig{.vocab_size = 1, .block_size = 1, .n_layer = 1, .n_head = 1, .n_embd = 1}
                    .validate());
}

TEST_CASE("GptConfig: every setting must be at least 1", "[model][config]") {
  CHECK_THAT(told([](auto& c) { c.vocab_size = 0; }),
             text_contains("vocab_size: expected at least 1"));
  CHECK_THAT(told([](auto& c) { c.block_size = 0; }),
             text_contains("block_size: expected at least 1"));
  CHECK_THAT(told([](auto& c) { c.n_layer = 0; }), text_contains("n_layer: expected at least 1"));
  CHECK_THAT(told([](auto& c) { c.n_head = 0; }), text_contains("n_head: expected at least 1"));
  CHECK_THAT(told([](auto& c) { c.n_embd = 0; }), text_contains("n_embd: expected at least 1"));
}

TEST_CASE("GptConfig: a number of heads that does not divide n_embd is told with those that do",
          "[model][config]") {
  CHECK(told([](auto& c) { c.n_head = 5; }) ==
        "n_head: expected a divisor of n_embd (32), found 5; choose 1, 2, 4, 8, 16 or 32");
  CHECK_THAT(told([](auto& c) { c.n_embd = 7; }), text_contains("found 4; choose 1 or 7"));
  CHECK_THAT(told([](auto& c) { c.n_embd = 1; }), text_contains("found 4; choose 1"));
}

TEST_CASE("GptConfig: a model beyond 32-bit node ids is refused whatever overflows",
          "[model][config]") {
  for (const std::size_t huge : {std::size_t{1} << 31, std::size_t{1} << 63, ~std::size_t{0}}) {
    CHECK_THAT(told([&](auto& c) { c.vocab_size = huge; }),
               text_contains("vocab_size: expected at most"));
    CHECK_THAT(told([&](auto& c) { c.block_size = huge; }),
               text_contains("block_size: expected at most"));
    CHECK_THAT(told([&](auto& c) { c.n_layer = huge; }),
               text_contains("n_layer: expected at most"));
    CHECK_THAT(told([&](auto& c) { c.n_embd = huge; }), text_contains("n_embd: expected at most"));
  }
  CHECK_THAT(told([](auto& c) { c.n_embd = 1 << 16; }), text_contains("model: expected at most"));
  CHECK_THAT(told([](auto& c) { c.n_layer = 1 << 30; }), text_contains("n_layer 1073741824"));
  // 16 times the room that its 1 column needs.
  CHECK_THAT(told([](auto& c) { c = {.vocab_size = 1 << 28, .n_head = 1, .n_embd = 1}; }),
             text_contains("vocab_size 268435456"));
}

TEST_CASE("GptConfig: an epsilon that is no small number above 0 is refused", "[model][config]") {
  for (const double epsilon : {0.0, -1e-5, 1.0 / 0.0, 0.0 / 0.0}) {
    CHECK_THAT(told([&](auto& c) { c.norm_epsilon = epsilon; }),
               text_contains("norm_epsilon: expected"));
  }
}

}  // namespace
}  // namespace glassbox
