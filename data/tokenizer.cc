#include "data/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
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

// Each code point is a token, and so is a blank within the text.
std::string_view next_character(std::string_view text, std::size_t& offset) {
  const std::size_t begin = offset;
  while (const std::size_t blank = white_space_at(text, offset)) offset += blank;
  if (offset == text.size()) return {};
  if (offset > begin && begin > 0) return " ";
  const std::size_t length = utf8_length(text, offset);
  offset += length;
  return text.substr(offset - length, length);
}

bool is_word(std::string_view text) {
  std::size_t offset = 0;
  return next_word(text, offset) == text;
}

bool is_character(std::string_view text) {
  return text == " " || (utf8_length(text, 0) == text.size() && white_space_at(text, 0) == 0);
}

constexpr TokenizerKind kKinds[] = {
    {"word", "a word without white space", "word", next_word, is_word, " "},
    {"char", "a single character", "character", next_character, is_character, ""},
};

const TokenizerKind& require_kind(std::string_view name) {
  if (const TokenizerKind* const kind = find_tokenizer_kind(name)) return *kind;
  std::string names;
  for (const TokenizerKind& kind : kKinds)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  throw ConfigError(fmt::format("tokenizer: expected one of {}, found {}", names, quotation(name)));
}

// Calls f(token) for each token of a text.
template <class F>
void for_each_token(const TokenizerKind& kind, std::string_view text, F f) {
  std::size_t offset = 0;
  for (auto token = kind.next(text, offset); !token.empty(); token = kind.next(text, offset))
    f(token);
}

}  // namespace

std::span<const TokenizerKind> tokenizer_kinds() { return kKinds; }

const TokenizerKind* find_tokenizer_kind(std::string_view name) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const TokenizerKind& kind) { return name == kind.name; });
  return found == std::end(kKinds) ? nullptr : found;
}

Tokenizer Tokenizer::of(const Corpus& corpus, std::string_view kind) {
  const TokenizerKind& cut = require_kind(kind);
  std::unordered_set<std::string_view> distinct;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    for_each_token(cut, corpus[i], [&](std::string_view word) { distinct.insert(word); });
  }
  std::vector<std::string> words(distinct.begin(), distinct.end());
  // UTF-8 keeps the order of code points in its bytes, and strings compare bytes as unsigned.
  std::sort(words.begin(), words.end());
  return from_words(std::move(words), corpus.lowercase(), corpus.name(), {}, kind);
}

Tokenizer Tokenizer::from_words(std::vector<std::string> words, bool lowercase,
                                const std::string& where, std::optional<TokenId> unk,
                                std::string_view kind) {
  Tokenizer tokenizer(require_kind(kind), lowercase, unk);
  tokenizer.words_ = std::move(words);
  tokenizer.ids_.reserve(tokenizer.words_.size());
  for (std::size_t id = 0; id < tokenizer.words_.size(); ++id) {
    const std::string& word = tokenizer.words_[id];
    const auto refuse = [&](const std::string& expected, const std::string& found) {
      throw FormatError(fmt::format("{}: token {}: expected {}, found {}; {}", where, id, expected,
                                    found, "the vocabulary is damaged: use a backup"));
    };
    if (find_invalid_utf8(word) != kValidUtf8) refuse("UTF-8", "other bytes");
    if (word.empty() || (id != unk && !tokenizer.kind().is_token(word))) {
      refuse(tokenizer.kind().token, quotation(word));
    }
    const auto [at, is_new] = tokenizer.ids_.emplace(word, static_cast<TokenId>(id));
    if (!is_new) {
      refuse("a new word", fmt::format("{} again, which is token {}", quotation(word), at->second));
    }
  }
  if (unk && (*unk >= tokenizer.bos() || tokenizer.words_[*unk] != kUnk)) {
    throw FormatError(
        fmt::format("{}: expected {} as token {}, found {}; {}", where, kUnk, *unk,
                    *unk < tokenizer.bos() ? quotation(tokenizer.words_[*unk]) : "fewer tokens",
                    "the vocabulary is damaged: use a backup"));
  }
  while (tokenizer.ids_.contains(tokenizer.bos_name_))
    tokenizer.bos_name_ = '<' + tokenizer.bos_name_ + '>';
  return tokenizer;
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
  for_each_token(*kind_, text, [&](std::string_view word) {
    TokenId id = find(word);
    if (id == size() && unk_) id = *unk_;
    ids.push_back(id);
    if (id == size()) unknown.push_back(word);
  });
  if (unknown.empty()) return;

  std::unordered_set<std::string_view> named;
  std::vector<std::string> names;
  for (const std::string_view word : unknown)
    if (named.insert(word).second) names.push_back(quotation(word));
  throw VocabularyError(fmt::format("expected {}s that the model knows, found {}; {}", kind_->unit,
                                    listed(names), "use others or train on text that has them"));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  append(text, ids);
  return ids;
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, const std::string& where) const {
  try {
    return encode(text);
  } catch (const VocabularyError& error) {
    throw VocabularyError(where + ": " + error.what());
  } catch (const FormatError& error) {
    throw FormatError(where + ": " + error.what());
  }
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
    for_each_token(*kind_, corpus[i], [&](std::string_view word) {
      if (find(word) != size()) return;
      const auto [at, is_new] = lines.emplace(word, corpus.line_number(i));
      if (!is_new) at->second = std::min(at->second, corpus.line_number(i));
    });
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
    if (!text.empty()) text += kind_->separator;
    text += words_[id];
  }
  return text;
}

}  // namespace glassbox
