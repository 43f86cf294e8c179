// Words to token ids and back. Ids: the words sorted by code point, BOS last. BOS stands at both
// ends of a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/corpus.h"

namespace glassbox {

using TokenId = std::uint32_t;

// The word that stands for every unknown one, in a vocabulary that has it.
inline constexpr std::string_view kUnk = "<unk>";

class Tokenizer {
 public:
  // Every word of the corpus.
  static Tokenizer words(const Corpus& corpus);
  // From a model file, ids in the order given. Throws FormatError, its message beginning with
  // `where`, for an empty or repeated word, for one with white space in it and for one that is not
  // UTF-8.
  // With `has_unk` the last of them must be "<unk>": what an unknown word is read as.
  static Tokenizer from_words(std::vector<std::string> words, bool lowercase,
                              const std::string& where, bool has_unk = false);

  // Words and BOS.
  std::size_t size() const { return words_.size() + 1; }
  TokenId bos() const { return static_cast<TokenId>(words_.size()); }
  bool lowercase() const { return lowercase_; }
  // Unknown words are read as `<unk>`, the last of the words, and not refused.
  bool has_unk() const { return has_unk_; }
  // In id order, without BOS.
  const std::vector<std::string>& words() const { return words_; }
  // The word of an id; BOS is "<bos>". REQUIRES: id < size().
  std::string_view word(TokenId id) const;
  // The id of a word, or size() if it is not known. Looked up by hash, as it is: nothing is folded.
  TokenId find(std::string_view word) const;

  // A sentence's words, without BOS; folded and lower-cased as the corpus was. Throws
  // VocabularyError naming every unknown word once, quoted as JSON (unless has_unk()), and
  // FormatError for text that is not UTF-8.
  std::vector<TokenId> encode(std::string_view text) const;
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
  // Words joined by single blanks; BOS is left out. REQUIRES: every id < size().
  std::string decode(const std::vector<TokenId>& ids) const;

 private:
  // "Transparent": a string_view is looked up as it is, without a string made of it.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };
  void append(std::string_view text, std::vector<TokenId>& ids) const;

  std::vector<std::string> words_;
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> ids_;
  bool lowercase_ = true;
  bool has_unk_ = false;
};

}  // namespace glassbox
