// Text to token ids and back. Ids: the tokens sorted by code point, BOS last. BOS is at both ends
// of a sentence. A token is a word, or whatever else the tokenizer's kind cuts a text into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/bpe.h"
#include "data/corpus.h"
#include "data/token_kinds.h"

namespace glassbox {

// The word that stands for every unknown one, in a vocabulary that has it.
inline constexpr std::string_view kUnk = "<unk>";

// What becomes a token of those that a text has.
struct VocabularyConfig {
  // The most frequent so many tokens, of equal ones the first by code point; 0: all. Of bpe the
  // size of the vocabulary, BOS included; 0: 1000.
  std::size_t size = 0;
  // What is rarer is no token: it becomes <unk>. Of bpe the least places that a merge must have; 0:
  // 1, of bpe 2.
  std::size_t min_count = 0;
  bool unk = false;  // the vocabulary has <unk> even if no token is left out; not of bpe

  // Throws ConfigError if it is no vocabulary of that kind.
  void validate(const TokenizerKind& kind) const;
};

class Tokenizer {
 public:
  // The tokens of the corpus, by the kind of that name. For bpe, the corpus is best read as
  // {.lowercase = false, .exact = true}. Throws ConfigError if there is no such kind.
  static Tokenizer of(const Corpus& corpus, std::string_view kind,
                      const VocabularyConfig& config = {});
  static Tokenizer words(const Corpus& corpus) { return of(corpus, "word"); }
  // From a model file, ids in the order given. Throws FormatError, its message beginning with
  // `where`, for an empty or repeated token, for one that the kind would cut otherwise (a word with
  // white space in it) and for one that is not UTF-8. With `has_unk` the last of them must be
  // "<unk>", which unknown tokens are read as. The words of bpe are spelled as bpe.h says, and only
  // bpe has merges.
  static Tokenizer from_words(std::vector<std::string> words, bool lowercase,
                              const std::string& where, std::optional<TokenId> unk = {},
                              std::string_view kind = "word", std::vector<Merge> merges = {},
                              Split split = Split::line);

  // Words and BOS.
  std::size_t size() const { return words_.size() + 1; }
  TokenId bos() const { return static_cast<TokenId>(words_.size()); }
  const TokenizerKind& kind() const { return *kind_; }
  bool lowercase() const { return lowercase_; }
  // How a text is read that this is to encode, split as the corpus was that it was made of.
  CorpusOptions reading() const { return {lowercase_, kind_->exact, split_}; }
  // The same tokens for texts that are split so.
  Tokenizer with_split(Split split) const;
  // By rank; empty unless of bpe.
  const std::vector<Merge>& merges() const;
  // The id that unknown words are read as; nothing if they are refused.
  std::optional<TokenId> unk() const { return unk_; }
  // In id order, without BOS.
  const std::vector<std::string>& words() const { return words_; }
  // The word of an id; BOS is "<bos>", or "<<bos>>" where a word of the text is spelled so, in as
  // many brackets as tell it apart. REQUIRES: id < size().
  std::string_view word(TokenId id) const { return id == bos() ? bos_name_ : words_[id]; }
  // The id of a word, or size() if it is not known. Looked up by hash, as it is: nothing is folded.
  TokenId find(std::string_view word) const;

  // A sentence's words, without BOS; folded and lower-cased as the corpus was. Throws
  // VocabularyError naming the first unknown words, quoted as JSON (unless there is an unk()), and
  // FormatError for text that is not UTF-8, but for bpe, which takes any bytes.
  std::vector<TokenId> encode(std::string_view text) const;
  // The same, every message beginning with `where`.
  std::vector<TokenId> encode(std::string_view text, const std::string& where) const;
  // BOS, the words, BOS.
  std::vector<TokenId> encode_sentence(std::string_view text) const;
  // Sequence i so, without the last BOS if the text goes on behind it.
  std::vector<TokenId> encode_line(const Corpus& corpus, std::size_t i) const;
  // The corpus, each of its texts cut into windows of `tokens` tokens, a word or piece whole. A
  // piece of more tokens is cut, and a window may encode to a token or two more where marks join
  // otherwise at its beginning. REQUIRES: tokens > 0.
  Corpus windows(Corpus corpus, std::size_t tokens) const;
  // Every line so, in the corpus's order. VocabularyError names the file and the line.
  std::vector<std::vector<TokenId>> encode_lines(const Corpus& corpus) const;
  // The corpus's words that are not among words(), each with the first line of the text that has
  // it, in the order of these lines.
  struct UnknownWord {
    std::string word;
    std::size_t line;
    std::size_t first;  // the sequence that begins on that line, in today's order
  };
  std::vector<UnknownWord> unknown_words(const Corpus& corpus) const;
  // The way back; BOS is left out. Of bpe the very bytes, which need not be UTF-8 where the ids end
  // within a character. REQUIRES: every id < size().
  std::string decode(const std::vector<TokenId>& ids) const;

 private:
  // "Transparent": a string_view is looked up as it is, without a string made of it.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };
  Tokenizer(const TokenizerKind& kind, bool lowercase, std::optional<TokenId> unk)
      : kind_(&kind), lowercase_(lowercase), unk_(unk) {}
  void append(std::string_view text, std::vector<TokenId>& ids) const;

  const TokenizerKind* kind_;
  std::vector<std::string> words_;
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> ids_;
  std::string bos_name_ = "<bos>";
  bool lowercase_;
  Split split_ = Split::line;
  std::optional<TokenId> unk_;
  std::shared_ptr<const Bpe> bpe_;  // of bpe
};

// Texts as the sequences of a model of that tokenizer and block. Throws as Corpus::read does.
Corpus read_corpus(const std::vector<std::string>& paths, const Tokenizer& tokenizer,
                   std::size_t block_size);

}  // namespace glassbox
