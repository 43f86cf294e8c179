// From a prompt to sentences: one at a time, or many side by side that share their beginnings.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "infer/decoder.h"
#include "infer/prefix_tree.h"
#include "infer/sampler.h"

namespace glassbox {

// The uniform numbers of sample `index` of a prompt: they depend on the seed and the index alone.
// Index 0 draws from mulberry32(seed), the others from a counter-based stream of their own.
class UniformStream {
 public:
  UniformStream(std::uint32_t seed, std::uint64_t index);
  double operator()();

 private:
  bool first_;
  Random random_;
  CounterRandom stream_;
};

struct GeneratedSentence {
  std::vector<TokenId> tokens;  // prompt and continuation, without BOS
  bool stopped = false;  // the model or the caller ended it; else the block or max_tokens did
};

// Asked after each token, with the sentence so far, prompt included: whether it goes on.
using TokenCallback = std::function<bool(std::span<const TokenId>)>;

// One sentence in a fresh cache: BOS and the prompt are fed, then each token is drawn with the next
// of `uniform`'s numbers, until BOS comes, `goes_on` says no, or `max_tokens` are there (0: as many
// as the block has room for). Where more are asked for than the block holds, its window slides: the
// last block_size / 2 tokens are read again as the first ones of a full block, and the sentence
// goes on. BOS and a prompt of at most block_size - 1 words leave room for one token; a longer
// prompt is a ConfigError with both numbers.
template <class T>
GeneratedSentence generate_tokens(Decoder<T>& model, Sampler& sampler,
                                  std::span<const TokenId> prompt, std::size_t max_tokens,
                                  const std::function<double()>& uniform,
                                  const TokenCallback& goes_on = {});

// The logits that each token of a generated sentence was drawn from: visit(i, logits) for
// tokens[i], with the same bits and the same windows as when it was generated.
template <class T>
void for_each_logits(Decoder<T>& model, std::span<const TokenId> tokens,
                     const std::function<void(std::size_t, std::span<const T>)>& visit);

// The parts that every loop of generation is made of.
//
// Feeds BOS and the prompt to an empty cache; the logits of what comes next. Throws ConfigError for
// a prompt that leaves no room in the block.
template <class T>
std::span<const T> read_prompt(Decoder<T>& model, std::span<const TokenId> prompt,
                               KvCache<T>& cache);
void check_prompt(std::size_t tokens, const GptConfig& config, const char* unit);
// Makes room in a full cache: of `tokens`, whose last is yet to be fed, it then holds those before
// that one, half a block of them.
template <class T>
void slide(Decoder<T>& model, std::span<const TokenId> tokens, KvCache<T>& cache);

// Texts that end a sentence: what is written after the prompt is cut before the first of them.
class StopTexts {
 public:
  // `prompt` tokens at the beginning are not searched. Throws ConfigError for an empty text.
  StopTexts(const Tokenizer& tokenizer, std::vector<std::string> texts,
            std::span<const TokenId> prompt);
  bool empty() const { return texts_.empty(); }
  // Whether one of them has been written.
  bool found(std::span<const TokenId> tokens) const;
  // The sentence's text. If a stop text was found, it ends before it, and the tokens that lie
  // behind the end are dropped.
  std::string cut(GeneratedSentence& sentence) const;
  // Of the text of an unfinished sentence the bytes that no further token can take back: what
  // follows them may be the beginning of a stop text, or a part of a character.
  std::size_t certain(std::string_view text) const;

 private:
  std::size_t longest() const;
  // Where a stop text ends this one, or npos.
  std::size_t end_of(std::string_view text) const;

  const Tokenizer* tokenizer_;
  std::vector<std::string> texts_;
  std::size_t prompt_tokens_, prompt_bytes_;
};

// Four tiles of the kernels; more gain nothing and fill the cache.
inline constexpr std::size_t kDecodeBatch = 24;
inline constexpr std::size_t kSharedBytes = std::size_t{16} << 20;

// Many sentences of one prompt, sentence i drawn with UniformStream(seed, i). What they have in
// common is computed once: the prompt, and then beginnings that came up, up to `shared_bytes` of
// memory. A sentence is the same for any number of slots, whatever is drawn beside it, whatever was
// drawn before it and whatever is shared.
template <class T>
class Generator {
 public:
  // Throws as generate_tokens does. The model must outlive it.
  Generator(Decoder<T>& model, const SamplerConfig& config, std::span<const TokenId> prompt,
            std::size_t max_tokens, std::uint32_t seed, std::size_t shared_bytes = kSharedBytes,
            TokenCallback goes_on = {});

  // Sentences `first` to `first` + `count` - 1, in order. `slots` of them are decoded side by side,
  // and where one ends the next begins at once. REQUIRES: slots > 0.
  std::vector<GeneratedSentence> samples(std::uint64_t first, std::size_t count,
                                         std::size_t slots = kDecodeBatch);

  const PrefixTree<T>& shared() const { return prefixes_; }

 private:
  PrefixTree<T> read_prompt(std::size_t shared_bytes);

  Decoder<T>& model_;
  Sampler sampler_;
  std::vector<TokenId> prompt_;
  std::size_t max_tokens_;
  std::uint32_t seed_;
  TokenCallback goes_on_;
  PrefixTree<T> prefixes_;
};

// One sentence as text. Throws VocabularyError for a word of the prompt that the model does not
// know.
template <class T>
std::string generate(Decoder<T>& model, const SamplerConfig& config, Random& random,
                     std::string_view prompt = "", std::size_t max_tokens = 0);

}  // namespace glassbox
