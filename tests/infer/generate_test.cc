#include "infer/generate.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "model/tutorial_json.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"

using namespace glassbox;

namespace {

const std::string kGolden = GLASSBOX_GOLDEN_DIR;

// The tutorial's trained model: 1 layer, 8 wide, 2 heads, block 8.
Decoder<double> small_model() {
  const Corpus corpus = Corpus::read(kGolden + "/tiny.txt");
  return Decoder<double>(
      read_tutorial_model(kGolden + "/tutorial-small-model.json", tutorial_tokenizer(corpus)));
}

// Weights of 0: every word is as likely as every other, and as the end.
Decoder<double> indifferent_model(std::size_t block_size) {
  const Tokenizer words = Tokenizer::from_words({"a", "b", "c"}, true, "test");
  return Decoder<double>(Model<double>{
      words,
      Weights<double>(
          {.vocab_size = 4, .block_size = block_size, .n_layer = 1, .n_head = 2, .n_embd = 8}),
      "{}"});
}

std::string first_sentence(Decoder<double>& model, const SamplerConfig& config) {
  Sampler sampler(config);
  return model.tokenizer().decode(
      generate_tokens(model, sampler, {}, 0, UniformStream(7, 0)).tokens);
}

}  // namespace

TEST_CASE("generate: the first sentence of each of the tutorial's generations",
          "[infer][generate]") {
  auto model = small_model();
  CHECK(first_sentence(model, {}) == "a bird the steep rest");
  CHECK(first_sentence(model, {.temperature = 0.3}) == "a bird sings");
  CHECK(first_sentence(model, {.temperature = 1.5}) == "a bird");
  CHECK(first_sentence(model, {.top_k = 3}) == "a bird sings");
  CHECK(first_sentence(model, {.top_p = 0.7}) == "a bird stone is rest");
  CHECK(first_sentence(model, {.temperature = 0.7, .top_k = 10, .top_p = 0.9}) ==
        "a bird stone is rest");
}

TEST_CASE("generate: a prompt begins the sentence and counts toward the block",
          "[infer][generate]") {
  auto model = small_model();
  Random random(3);
  const std::string sentence = generate(model, {}, random, " The\tLAMP ");
  CHECK(sentence.rfind("the lamp", 0) == 0);
  CHECK(model.tokenizer().encode(sentence).size() <= 8);
}

TEST_CASE("generate: an unknown word of the prompt is named", "[infer][generate]") {
  auto model = small_model();
  Random random(3);
  CHECK_THAT(error_message<VocabularyError>([&] { generate(model, {}, random, "the zebraxyz"); }),
             text_contains("zebraxyz"));
}

TEST_CASE("generate: a prompt must leave room for one token", "[infer][generate]") {
  auto model = small_model();
  Random random(3);
  const std::string seven = "the the the the the the the";
  const std::string sentence = generate(model, {}, random, seven);
  const std::size_t words = model.tokenizer().encode(sentence).size();
  CHECK((words == 7 || words == 8));
  const std::string message =
      error_message<ConfigError>([&] { generate(model, {}, random, seven + " the"); });
  CHECK_THAT(message, text_contains("at most 7 words"));
  CHECK_THAT(message, text_contains("found 8"));
}

TEST_CASE("generate: the block or max_tokens ends a sentence, else the model does",
          "[infer][generate]") {
  auto model = indifferent_model(5);
  Sampler sampler({.temperature = 1});
  const auto never_the_end = [] { return 0.3; };
  const GeneratedSentence full = generate_tokens(model, sampler, {}, 0, never_the_end);
  CHECK(full.tokens == std::vector<TokenId>(5, 1));
  CHECK_FALSE(full.stopped);
  const GeneratedSentence short_one = generate_tokens(model, sampler, {}, 2, never_the_end);
  CHECK(short_one.tokens == std::vector<TokenId>(2, 1));
  CHECK_FALSE(short_one.stopped);
  const GeneratedSentence none = generate_tokens(model, sampler, {}, 0, [] { return 0.9; });
  CHECK(none.tokens.empty());
  CHECK(none.stopped);
  const std::vector<TokenId> prompt{2, 0};
  CHECK(
      generate_tokens(model, sampler, std::span<const TokenId>(prompt), 1, never_the_end).tokens ==
      std::vector<TokenId>{2, 0, 1});
}

TEST_CASE("generate: no end within a sentence and none longer than the block, a thousand times",
          "[infer][generate]") {
  auto model = indifferent_model(6);
  Sampler sampler({.temperature = 1});
  std::size_t empty = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const GeneratedSentence sentence = generate_tokens(model, sampler, {}, 0, UniformStream(42, i));
    REQUIRE(sentence.tokens.size() <= 6);
    for (const TokenId token : sentence.tokens) REQUIRE(token < 3);
    if (sentence.tokens.size() < 6) REQUIRE(sentence.stopped);
    empty += sentence.tokens.empty() ? 1 : 0;
  }
  CHECK(empty > 200);  // a quarter is expected
  CHECK(empty < 300);
}

TEST_CASE("generate: a sentence does not depend on those before it", "[infer][generate]") {
  auto model = small_model();
  Sampler sampler({.temperature = 1});
  const auto sentence = [&](Decoder<double>& from, std::uint64_t i) {
    return generate_tokens(from, sampler, {}, 0, UniformStream(9, i)).tokens;
  };
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto fresh = small_model();
    CHECK(sentence(model, i) == sentence(fresh, i));
  }
}

TEST_CASE(
    "UniformStream: sample 0 draws from the seed's own stream and the others from streams apart",
    "[infer][generate]") {
  Random random(7);
  UniformStream first(7, 0);
  for (int i = 0; i < 10; ++i) CHECK(first() == random.uniform());
  std::set<double> seen;
  for (std::uint64_t index = 0; index < 100; ++index) {
    UniformStream stream(7, index), again(7, index);
    for (int i = 0; i < 10; ++i) {
      const double u = stream();
      CHECK(u == again());
      CHECK((u >= 0 && u < 1));
      seen.insert(u);
    }
  }
  CHECK(seen.size() == 1000);
}

TEST_CASE("generate: more tokens than the block holds come through a window that slides by half",
          "[infer][generate]") {
  auto model = small_model();  // block 8
  Sampler sampler({.temperature = 4});
  const TokenId bos = model.tokenizer().bos();
  std::size_t longer = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    UniformStream uniform(42, i);
    const GeneratedSentence got = generate_tokens(model, sampler, {}, 30, UniformStream(42, i));
    // The window by its definition: begun anew from the tokens themselves for every draw.
    std::vector<TokenId> tokens, window{bos};
    bool stopped = false;
    while (tokens.size() < 30) {
      if (window.size() > 8) window.assign(tokens.end() - 5, tokens.end());
      const std::vector<double> all = model.logits(window);
      const std::size_t size = model.config().vocab_size;
      const TokenId token = sampler.sample(std::span<const double>(all).last(size), uniform(),
                                           std::span<const TokenId>(tokens));
      stopped = token == bos;
      if (stopped) break;
      tokens.push_back(token);
      window.push_back(token);
    }
    REQUIRE(got.tokens == tokens);
    REQUIRE(got.stopped == stopped);
    longer += tokens.size() > 8 ? 1 : 0;
  }
  CHECK(longer > 5);
}

TEST_CASE("generate: a block of one has a window of the newest token", "[infer][generate]") {
  auto model = indifferent_model(1);
  Sampler sampler({.temperature = 1});
  CHECK(generate_tokens(model, sampler, {}, 4, [] { return 0.3; }).tokens ==
        std::vector<TokenId>(4, 1));
}

TEST_CASE("generate: for_each_logits sees what each token was drawn from", "[infer][generate]") {
  auto model = small_model();
  Sampler sampler({.temperature = 0});
  const GeneratedSentence sentence = generate_tokens(model, sampler, {}, 25, [] { return 0.5; });
  std::size_t seen = 0;
  for_each_logits<double>(model, sentence.tokens,
                          [&](std::size_t i, std::span<const double> logits) {
                            CHECK(i == seen++);
                            const auto top = std::max_element(logits.begin(), logits.end());
                            CHECK(top - logits.begin() == sentence.tokens[i]);
                          });
  CHECK(seen == sentence.tokens.size());
}

TEST_CASE("generate: a callback sees each token and can end the sentence", "[infer][generate]") {
  auto model = indifferent_model(9);
  Sampler sampler({.temperature = 1});
  std::vector<std::size_t> sizes;
  const GeneratedSentence sentence = generate_tokens(
      model, sampler, {}, 0, [] { return 0.3; },
      [&](auto tokens) {
        sizes.push_back(tokens.size());
        return tokens.size() < 4;
      });
  CHECK(sizes == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(sentence.tokens.size() == 4);
  CHECK(sentence.stopped);
}

TEST_CASE("generate: a stop text cuts the sentence before it, behind the prompt",
          "[infer][generate]") {
  const Tokenizer words = Tokenizer::from_words({"at", "cat", "the", "zoo"}, true, "test");
  const std::vector<TokenId> prompt{1, 2};  // cat the
  const auto cut = [&](std::vector<std::string> texts, std::vector<TokenId> tokens) {
    const StopTexts stop(words, std::move(texts), prompt);
    GeneratedSentence sentence{std::move(tokens), false};
    const bool found = stop.found(sentence.tokens);
    const std::string text = stop.cut(sentence);
    return fmt::format("{}|{}|{}", text, sentence.tokens.size(), found);
  };
  CHECK(cut({"zoo"}, {1, 2, 0, 3}) == "cat the at|3|true");
  CHECK(cut({"cat"}, {1, 2, 0, 3}) == "cat the at zoo|4|false");  // the prompt's does not count
  CHECK(cut({"at"}, {1, 2, 1}) == "cat the c|2|true");            // within a word; the word goes
  CHECK(cut({"zoo", " at zoo"}, {1, 2, 3, 0, 3}) == "cat the|2|true");
  CHECK(cut({}, {1, 2, 0}) == "cat the at|3|false");
  // What is certain of a text is never beyond where it will be cut.
  const StopTexts stop(words, {"zoo"}, prompt);
  CHECK(stop.certain("cat the at") == 7);  // " at" may become "zoo"'s separator
  CHECK(stop.certain("cat the at zoo cat") == 10);
  CHECK(StopTexts(words, {}, prompt).certain("cat the at") == 10);
  CHECK(StopTexts(words, {}, prompt).certain("cat \xC3") == 4);  // a part of a character
  CHECK_THAT(error_message<ConfigError>([&] { StopTexts(words, {""}, prompt); }),
             text_contains("empty"));
}
