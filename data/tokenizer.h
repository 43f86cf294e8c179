// Text to token ids and back. Ids: the tokens sorted by code point, BOS last. BOS is at both ends
// of a sentence. A token is a word, or whatever else the tokenizer's kind cuts a text into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/corpus.h"

namespace glassbox {

using TokenId = std::uint32_t;

// The word that stands for every unknown one, in a vocabulary that has it.
inline constexpr std::string_view kUnk = "<unk>";

// A way of cutting a text into tokens. All of them are in one table in tokenizer.cc: a new one is a
// row there, and the command line and the model file take its name from the row.
struct TokenizerKind {
  const char* name;   // as on the command line and in the model file
  const char* token;  // what its tokens are, for messages: "a word without white space"
  const char* unit;   // what one of them is called: "word"
  // The next token at or after `offset`, which moves to the token's end; empty when there is none.
  // White space at the ends of the text is no token, and a run of it counts as one blank.
  std::string_view (*next)(std::string_view text, std::size_t& offset);
  bool (*is_token)(std::string_view text);  // REQUIRES: valid UTF-8, not empty
  std::string_view separator;               // what decode() puts between two tokens
};
std::span<const TokenizerKind> tokenizer_kinds();
// nullptr if there is none of that name.
const TokenizerKind* find_tokenizer_kind(std::string_view name);

class Tokenizer {
 public:
  // Every token of the corpus, by the kind of that name. Throws ConfigError if there is none.
  static Tokenizer of(const Corpus& corpus, std::string_view kind);
  static Tokenizer words(const Corpus& corpus) { return of(corpus, "word"); }
  // From a model file, ids in the order given. Throws FormatError, its message beginning with
  // `where`, for an empty or repeated token, for one that the kind would cut otherwise (a word with
  // white space in it) and for one that is not UTF-8. With `has_unk` the last of them must be
  // "<unk>", which unknown tokens are read as.
  static Tokenizer from_words(std::vector<std::string> words, bool lowercase,
                              const std::string& where, std::optional<TokenId> unk = {},
                              std::string_view kind = "word");

  // Words and BOS.
  std::size_t size() const { return words_.size() + 1; }
  TokenId bos() const { return static_cast<TokenId>(words_.size()); }
  const TokenizerKind& kind() const { return *kind_; }
  bool lowercase() const { return lowercase_; }
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
  // FormatError for text that is not UTF-8.
  std::vector<TokenId> encode(std::string_view text) const;
  // The same, every message beginning with `where`.
  std::vector<TokenId> encode(std::string_view text, const std::string& where) const;
  // BOS, the words, BOS.
  std::vector<TokenId> encode_sentence(std::string_view text) const;
  // Every line so, in the corpus's order. VocabularyError names the file and the line.
  std::vector<std::vector<TokenId>> encode_lines(const Corpus& corpus) const;
  // The corpus's words that are not among words(), each with the first line of the file that has
  // it, in the order of these lines.
  struct UnknownWord {
    std::string word;
    std::size_t line;
  };
  std::vector<UnknownWord> unknown_words(const Corpus& corpus) const;
  // The tokens joined by the kind's separator; BOS is left out. REQUIRES: every id < size().
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
  std::optional<TokenId> unk_;
};

}  // namespace glassbox
