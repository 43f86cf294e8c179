#include "data/bpe.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/random.h"
#include "data/tokenizer.h"
#include "tests/support/error_message.h"

using namespace glassbox;

namespace {

using Pieces = std::vector<std::string>;

Pieces pieces(std::string_view text) {
  Pieces cut;
  cut_pieces(text, [&](std::string_view piece) { cut.emplace_back(piece); });
  return cut;
}

Tokenizer bpe(std::string_view text, const VocabularyConfig& config = {}) {
  return Tokenizer::of(Corpus::from_text(text, "text", {.lowercase = false, .exact = true}), "bpe",
                       config);
}

// By the definition: all neighbours are counted again for every merge, and every merge is tried in
// its order on every piece.
struct PlainBpe {
  std::vector<std::string> tokens;
  std::vector<std::pair<std::string, std::string>> merges;

  static void apply(std::vector<std::string>& piece, const std::string& a, const std::string& b) {
    std::vector<std::string> merged;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const bool is_pair = i + 1 < piece.size() && piece[i] == a && piece[i + 1] == b;
      merged.push_back(is_pair ? a + b : piece[i]);
      i += is_pair;
    }
    piece = merged;
  }
  static std::vector<std::string> bytes(const std::string& piece) {
    std::vector<std::string> bytes;
    for (const char byte : piece) bytes.push_back(spelling_of_bytes(std::string(1, byte)));
    return bytes;
  }
  PlainBpe(std::string_view text, std::size_t size, std::size_t min_count) {
    for (std::size_t byte = 0; byte < 256; ++byte)
      tokens.push_back(spelling_of_bytes(std::string(1, static_cast<char>(byte))));
    std::vector<std::vector<std::string>> all;
    for (const auto& piece : pieces(text)) all.push_back(bytes(piece));
    while (tokens.size() < size) {
      std::map<std::pair<std::size_t, std::size_t>, std::size_t> counts;
      const auto id = [&](const std::string& token) {
        return static_cast<std::size_t>(std::ranges::find(tokens, token) - tokens.begin());
      };
      for (const auto& piece : all)
        for (std::size_t i = 0; i + 1 < piece.size(); ++i)
          ++counts[{id(piece[i]), id(piece[i + 1])}];
      std::pair<std::size_t, std::size_t> best;
      std::size_t most = 0;
      for (const auto& [pair, count] : counts)
        if (count > most) std::tie(best, most) = std::pair(pair, count);
      if (most < min_count) break;
      const std::string a = tokens[best.first], b = tokens[best.second];
      merges.emplace_back(a, b);
      if (id(a + b) == tokens.size()) tokens.push_back(a + b);
      for (auto& piece : all) apply(piece, a, b);
    }
  }
  std::vector<std::string> encode(std::string_view text) const {
    std::vector<std::string> result;
    for (const auto& piece : pieces(text)) {
      std::vector<std::string> parts = bytes(piece);
      for (const auto& [a, b] : merges) apply(parts, a, b);
      result.insert(result.end(), parts.begin(), parts.end());
    }
    return result;
  }
};

// Few letters, so that neighbours repeat and overlap.
std::string random_text(Random& random, std::size_t length, std::string_view letters) {
  std::string text;
  while (text.size() < length)
    text +=
        letters[static_cast<std::size_t>(random.uniform() * static_cast<double>(letters.size()))];
  return text;
}

std::vector<std::string> spelled(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> words;
  for (const TokenId id : tokenizer.encode(text)) words.emplace_back(tokenizer.word(id));
  return words;
}

}  // namespace

TEST_CASE("BPE: pieces are those of GPT-2's rule", "[data][bpe]") {
  CHECK(pieces("He'll go, it's 10 o'clock.") ==
        Pieces{"He", "'ll", " go", ",", " it", "'s", " 10", " o", "'", "clock", "."});
  CHECK(pieces("a  b") == Pieces{"a", " ", " b"});
  CHECK(pieces("a   ") == Pieces{"a", "   "});
  CHECK(pieces("a\n\n b\nc") == Pieces{"a", "\n\n", " b", "\n", "c"});
  CHECK(pieces(" 's") == Pieces{" '", "s"});
  CHECK(pieces("Größe Ж中文२ !?") == Pieces{"Größe", " Ж中文", "२", " !?"});
  CHECK(pieces("e\u0301a") == Pieces{"e", "\u0301", "a"});  // a combining mark is no letter
  CHECK(pieces("a\u00A0\u3000b") == Pieces{"a", "\u00A0", "\u3000", "b"});
  CHECK(pieces("x\uFEFFy\u200Bz") == Pieces{"x", "\uFEFF", "y", "\u200B", "z"});
  CHECK(pieces("a\xFF\x80z") == Pieces{"a", "\xFF\x80", "z"});
  CHECK(pieces("").empty());
}

TEST_CASE("BPE: training and encoding are those of the definition", "[data][bpe]") {
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    const std::string_view letters = round % 2 ? "aab " : "abc d\xC3\xA4'1.\n";
    const std::string text = "a" + random_text(random, 300, letters);
    const PlainBpe plain(text, 256 + 60, 2);
    BpeTrainer trainer;
    trainer.add(text);
    const BpeVocabulary learnt = trainer.train(256 + 60, 2);
    CAPTURE(round, text);
    REQUIRE(learnt.tokens == plain.tokens);
    REQUIRE(learnt.merges.size() == plain.merges.size());
    const Bpe bpe(learnt.tokens, learnt.merges, "test");
    for (int probe = 0; probe < 10; ++probe) {
      const std::string other = random_text(random, 80, letters);
      std::vector<TokenId> ids;
      bpe.encode(other, ids);
      std::vector<std::string> tokens;
      for (const TokenId id : ids) tokens.push_back(learnt.tokens[id]);
      REQUIRE(tokens == plain.encode(other));
    }
  }
}

TEST_CASE("BPE: any bytes come back exactly", "[data][bpe]") {
  const Tokenizer tokenizer = bpe("the cat sat on the mat\nthe hat\n", {.size = 260});
  CHECK(tokenizer.size() == 260);
  CHECK(spelled(tokenizer, "the cat") == std::vector<std::string>{"the", "Ġ", "c", "at"});
  Random random(9);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int i = 0; i < 100; ++i) bytes += static_cast<char>(random.uniform() * 256);
    REQUIRE(tokenizer.decode(tokenizer.encode(bytes)) == bytes);
  }
  for (const char* text :
       {"", " ", "\n\n", "  The  CAT ", "\xEF\xBB\xBF\r\n\t", "猫とネコ 🐈‍⬛"})
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
}

TEST_CASE("BPE: a piece of megabytes takes no time that grows with its square", "[data][bpe]") {
  Random random(3);
  const std::string many = random_text(random, 2'000'000, "abcdefghijklmnopqrstuvwxyz");
  const std::string same(2'000'000, 'a');
  for (const std::string& text : {many, same}) {
    const Tokenizer tokenizer = bpe(text, {.size = 2000});
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
}

TEST_CASE("BPE: the vocabulary is as large as was asked for, or as the text has pairs",
          "[data][bpe]") {
  const std::string text = "low low low lower lowest newer newest widest\n";
  CHECK(bpe(text, {.size = 260}).size() == 260);
  CHECK(bpe(text).merges().size() < 40);  // no pair is left that is there twice
  CHECK(bpe(text, {.min_count = 1}).merges().size() > bpe(text).merges().size());
  CHECK(bpe(text, {.min_count = 1000}).size() == 257);
  CHECK_THAT(error_message<ConfigError>([&] { bpe(text, {.size = 256}); }),
             text_contains("expected at least 257 tokens of bpe"));
  CHECK_THAT(error_message<ConfigError>([&] { bpe(text, {.unk = true}); }),
             text_contains("no <unk> of bpe"));
}

TEST_CASE("BPE: a damaged vocabulary is refused", "[data][bpe]") {
  const Tokenizer good = bpe("the cat sat on the mat\n", {.size = 260});
  const auto refusal = [&](auto change) {
    auto words = good.words();
    auto merges = good.merges();
    change(words, merges);
    return error_message<FormatError>(
        [&] { Tokenizer::from_words(words, false, "file", {}, "bpe", merges); });
  };
  CHECK_THAT(refusal([](auto& words, auto&) { words[7] = "aa"; }), text_contains("none for 7"));
  CHECK_THAT(refusal([](auto& words, auto&) { words[258] = "a b"; }), text_contains("token 258"));
  CHECK_THAT(refusal([](auto&, auto& merges) { merges.push_back(merges[0]); }),
             text_contains("a new pair"));
  CHECK_THAT(refusal([](auto&, auto& merges) { merges.emplace_back('z', 'z'); }),
             text_contains("no \"zz\""));
  CHECK_THAT(refusal([](auto&, auto& merges) { merges.emplace_back('z', 999); }),
             text_contains("an id beyond them"));
}
