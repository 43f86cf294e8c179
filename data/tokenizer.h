// Words to token ids and back. Ids: the words sorted by code point, BOS last. BOS stands at both ends of
// a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/corpus.h"

namespace glassbox {

using TokenId = std::uint32_t;

class Tokenizer {
 public:
  // Every word of the corpus.
  static Tokenizer words(const Corpus& corpus);
  // From a model file. Throws FormatError, its message beginning with `where`, for an empty or repeated
  // word and for one with white space in it.
  static Tokenizer from_words(std::vector<std::string> words, bool lowercase,
                              const std::string& where);

  // Words and BOS.
  std::size_t size() const { return words_.size() + 1; }
  TokenId bos() const { return static_cast<TokenId>(words_.size()); }
  bool lowercase() const { return lowercase_; }
  // In id order, without BOS.
  const std::vector<std::string>& words() const { return words_; }
  // The word of an id; BOS is "<bos>". REQUIRES: id < size().
  std::string_view word(TokenId id) const;
  // The id of a word, or size() if it is not known. Looked up by hash.
  TokenId find(std::string_view word) const;

  // A sentence's words, without BOS; folded and lower-cased as the corpus was. Throws VocabularyError
  // naming every unknown word.
  std::vector<TokenId> encode(std::string_view text) const;
  // BOS, the words, BOS.
  std::vector<TokenId> encode_sentence(std::string_view text) const;
  // Words joined by single blanks; BOS is left out.
  std::string decode(const std::vector<TokenId>& ids) const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, TokenId> ids_;  // looked up by string_view through a hash of our own
  bool lowercase_ = true;
};

}  // namespace glassbox
