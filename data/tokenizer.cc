#include "data/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace glassbox {
namespace {

// `text` is of the user's typing: a prompt, a line of a file.
void check_is_utf8(std::string_view text) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == kValidUtf8) return;
  throw FormatError(fmt::format("expected UTF-8 text, found the byte 0x{:02X} at byte {}; {}",
                                static_cast<unsigned char>(text[bad]), bad,
                                "write the text in UTF-8"));
}

}  // namespace

Tokenizer Tokenizer::words(const Corpus& corpus) {
  std::unordered_set<std::string_view> distinct;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    std::size_t offset = 0;
    for (auto word = next_word(corpus[i], offset); !word.empty();
         word = next_word(corpus[i], offset)) {
      distinct.insert(word);
    }
  }
  std::vector<std::string> words(distinct.begin(), distinct.end());
  // UTF-8 keeps the order of code points in its bytes, and strings compare bytes as unsigned.
  std::sort(words.begin(), words.end());
  return from_words(std::move(words), corpus.lowercase(), corpus.name());
}

Tokenizer Tokenizer::from_words(std::vector<std::string> words, bool lowercase,
                                const std::string& where, bool has_unk) {
  Tokenizer tokenizer;
  tokenizer.lowercase_ = lowercase;
  tokenizer.has_unk_ = has_unk;
  tokenizer.words_ = std::move(words);
  tokenizer.ids_.reserve(tokenizer.words_.size());
  for (std::size_t id = 0; id < tokenizer.words_.size(); ++id) {
    const std::string& word = tokenizer.words_[id];
    const auto refuse = [&](const std::string& expected, const std::string& found) {
      throw FormatError(fmt::format("{}: token {}: expected {}, found {}; {}", where, id, expected,
                                    found, "the vocabulary is damaged: use a backup"));
    };
    if (find_invalid_utf8(word) != kValidUtf8) refuse("UTF-8", "other bytes");
    std::size_t offset = 0;
    if (next_word(word, offset) != word || word.empty()) {
      refuse("a word without white space", json_quote(word));
    }
    const auto [at, is_new] = tokenizer.ids_.emplace(word, static_cast<TokenId>(id));
    if (!is_new) {
      refuse("a new word",
             fmt::format("{} again, which is token {}", json_quote(word), at->second));
    }
  }
  if (has_unk && (tokenizer.words_.empty() || tokenizer.words_.back() != kUnk)) {
    throw FormatError(
        fmt::format("{}: expected {} as the last word, found {}; {}", where, kUnk,
                    tokenizer.words_.empty() ? "none" : json_quote(tokenizer.words_.back()),
                    "the vocabulary is damaged: use a backup"));
  }
  return tokenizer;
}

std::string_view Tokenizer::word(TokenId id) const {
  return id == bos() ? std::string_view("<bos>") : words_[id];
}

TokenId Tokenizer::find(std::string_view word) const {
  const auto at = ids_.find(word);
  return at == ids_.end() ? static_cast<TokenId>(size()) : at->second;
}

void Tokenizer::append(std::string_view text, std::vector<TokenId>& ids) const {
  check_is_utf8(text);
  std::string lowered;
  if (lowercase_) text = lowered = lower_case(text);
  std::vector<std::string_view> unknown;
  std::size_t offset = 0;
  for (auto word = next_word(text, offset); !word.empty(); word = next_word(text, offset)) {
    TokenId id = find(word);
    if (id == size() && has_unk_) id = bos() - 1;
    ids.push_back(id);
    if (id == size()) unknown.push_back(word);
  }
  if (unknown.empty()) return;

  std::unordered_set<std::string_view> named;
  std::string names;
  for (const std::string_view word : unknown) {
    if (!named.insert(word).second) continue;
    names += (names.empty() ? "" : ", ") + json_quote(word);
  }
  throw VocabularyError(fmt::format("expected words that the model knows, found {}; {}", names,
                                    "use others or train on text that has them"));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  append(text, ids);
  return ids;
}

std::vector<TokenId> Tokenizer::encode_sentence(std::string_view text) const {
  std::vector<TokenId> ids = {bos()};
  append(text, ids);
  ids.push_back(bos());
  return ids;
}

std::vector<std::vector<TokenId>> Tokenizer::encode_lines(const Corpus& corpus) const {
  std::vector<std::vector<TokenId>> sentences;
  sentences.reserve(corpus.size());
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    try {
      sentences.push_back(encode_sentence(corpus[i]));
    } catch (const VocabularyError& error) {
      throw VocabularyError(
          fmt::format("{}: line {}: {}", corpus.name(), corpus.line_number(i), error.what()));
    }
  }
  return sentences;
}

std::vector<Tokenizer::UnknownWord> Tokenizer::unknown_words(const Corpus& corpus) const {
  std::unordered_map<std::string_view, std::size_t> lines;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    std::size_t offset = 0;
    for (auto word = next_word(corpus[i], offset); !word.empty();
         word = next_word(corpus[i], offset)) {
      if (find(word) != size()) continue;
      const auto [at, is_new] = lines.emplace(word, corpus.line_number(i));
      if (!is_new) at->second = std::min(at->second, corpus.line_number(i));
    }
  }
  std::vector<UnknownWord> words;
  for (const auto& [word, line] : lines) words.push_back({std::string(word), line});
  std::sort(words.begin(), words.end(), [](const UnknownWord& a, const UnknownWord& b) {
    return a.line != b.line ? a.line < b.line : a.word < b.word;
  });
  return words;
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids) const {
  std::string text;
  for (const TokenId id : ids) {
    if (id == bos()) continue;
    if (!text.empty()) text += ' ';
    text += words_[id];
  }
  return text;
}

}  // namespace glassbox
