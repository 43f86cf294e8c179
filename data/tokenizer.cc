#include "data/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/closest_match.h"
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

constexpr std::size_t kBpeSize = 1000;      // of the vocabulary, if nothing is said
constexpr std::size_t kBpeLeastPlaces = 2;  // of a merge

bool is_spacing(std::string_view token) { return token == kBlankToken || token == kJoinToken; }

const TokenizerKind& require_kind(std::string_view name) {
  if (const TokenizerKind* const kind = find_tokenizer_kind(name)) return *kind;
  std::string names;
  for (const TokenizerKind& kind : tokenizer_kinds())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  throw ConfigError(fmt::format("tokenizer: expected one of {}, found {}", names, quotation(name)));
}

}  // namespace

void VocabularyConfig::validate(const TokenizerKind& kind) const {
  if (kind.exact && size != 0 && size <= kByteValues)
    throw ConfigError(
        fmt::format("vocabulary: expected at least {} tokens of {}, the bytes and BOS, found {}",
                    kByteValues + 1, kind.name, size));
  if (kind.exact && unk)
    throw ConfigError(
        fmt::format("vocabulary: expected no {} of {}, which knows all bytes", kUnk, kind.name));
}

Tokenizer Tokenizer::of(const Corpus& corpus, std::string_view kind,
                        const VocabularyConfig& config) {
  const TokenizerKind& cut = require_kind(kind);
  config.validate(cut);
  if (cut.exact) {
    BpeTrainer trainer;
    for (std::size_t i = 0; i < corpus.size(); ++i) trainer.add(corpus[i]);
    auto [tokens, merges] =
        trainer.train((config.size != 0 ? config.size : kBpeSize) - 1,
                      config.min_count != 0 ? config.min_count : kBpeLeastPlaces);
    return from_words(std::move(tokens), corpus.lowercase(), corpus.name(), {}, kind,
                      std::move(merges), corpus.options().split);
  }
  std::unordered_map<std::string_view, std::size_t> counts;
  for (std::size_t i = 0; i < corpus.size(); ++i)
    cut.cut(corpus[i], [&](std::string_view word) { ++counts[word]; });
  std::vector<std::pair<std::string_view, std::size_t>> kept;
  for (const auto& each : counts)
    if (each.second >= config.min_count && each.first != kUnk) kept.push_back(each);
  if (config.size != 0 && config.size < kept.size()) {
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    kept.resize(config.size);
  }
  const bool has_word_unk = counts.contains(kUnk);
  const std::size_t most = config.size != 0 ? config.size : counts.size();
  const bool has_unk =
      config.unk || std::min(kept.size() + (has_word_unk ? 1 : 0), most) < counts.size();
  std::vector<std::string> words;
  for (const auto& each : kept) words.emplace_back(each.first);
  if (has_word_unk && !has_unk) words.emplace_back(kUnk);
  // UTF-8 keeps the order of code points in its bytes, and strings compare bytes as unsigned.
  std::sort(words.begin(), words.end());
  std::optional<TokenId> unk;
  if (has_unk) {
    unk = static_cast<TokenId>(words.size());
    words.emplace_back(kUnk);
  }
  return from_words(std::move(words), corpus.lowercase(), corpus.name(), unk, kind, {},
                    corpus.options().split);
}

Tokenizer Tokenizer::from_words(std::vector<std::string> words, bool lowercase,
                                const std::string& where, std::optional<TokenId> unk,
                                std::string_view kind, std::vector<Merge> merges, Split split) {
  Tokenizer tokenizer(require_kind(kind), lowercase, unk);
  tokenizer.split_ = split;
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
  if (tokenizer.kind().exact) {
    tokenizer.bpe_ = std::make_shared<const Bpe>(tokenizer.words_, std::move(merges), where);
  } else if (!merges.empty()) {
    throw FormatError(fmt::format("{}: expected no merges of the tokenizer {}, found {}", where,
                                  tokenizer.kind().name, merges.size()));
  }
  while (tokenizer.ids_.contains(tokenizer.bos_name_))
    tokenizer.bos_name_ = '<' + tokenizer.bos_name_ + '>';
  return tokenizer;
}

TokenId Tokenizer::find(std::string_view word) const {
  const auto at = ids_.find(word);
  return at == ids_.end() ? static_cast<TokenId>(size()) : at->second;
}

Tokenizer Tokenizer::with_split(Split split) const {
  Tokenizer other = *this;
  other.split_ = split;
  return other;
}

const std::vector<Merge>& Tokenizer::merges() const {
  static const std::vector<Merge> none;
  return bpe_ ? bpe_->merges() : none;
}

void Tokenizer::append(std::string_view text, std::vector<TokenId>& ids) const {
  if (!kind_->exact || lowercase_) check_is_utf8(text);
  std::string lowered;
  if (lowercase_) text = lowered = lower_case(text);
  if (bpe_) return bpe_->encode(text, ids);
  std::vector<std::string_view> unknown;
  kind_->cut(text, [&](std::string_view word) {
    TokenId id = find(word);
    if (id == size() && is_spacing(word)) return;  // the text is written as is usual
    if (id == size() && unk_) id = *unk_;
    ids.push_back(id);
    if (id == size()) unknown.push_back(word);
  });
  if (unknown.empty()) return;

  std::unordered_set<std::string_view> named;
  std::vector<std::string> names, near;
  for (const std::string_view word : unknown) {
    if (!named.insert(word).second) continue;
    names.push_back(quotation(word));
    if (names.size() > 3) continue;
    if (const std::string match = closest_match(word, words_); !match.empty())
      near.push_back(quotation(match));
  }
  throw VocabularyError(fmt::format(
      "expected {}s that the model knows, found {}; {}use others or train on text that has them",
      kind_->unit, listed(names), near.empty() ? "" : fmt::format("it knows {}; ", listed(near))));
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

std::vector<TokenId> Tokenizer::encode_line(const Corpus& corpus, std::size_t i) const {
  std::vector<TokenId> ids = {bos()};
  append(corpus[i], ids);
  if (!corpus.goes_on(i)) ids.push_back(bos());
  return ids;
}

Corpus Tokenizer::windows(Corpus corpus, std::size_t tokens) const {
  std::vector<std::vector<std::size_t>> ends(corpus.size());
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const std::string_view text = corpus[i];
    std::size_t end = 0, count = 0;  // of the window so far
    kind_->cut(text, [&](std::string_view piece) {
      const bool is_of_text =
          piece.data() >= text.data() && piece.data() < text.data() + text.size();
      ids.clear();
      if (bpe_ && is_of_text) bpe_->encode(piece, ids);
      const std::size_t size = bpe_ ? ids.size() : 1;
      if (!is_of_text) {  // a blank or a joint, which belongs to what follows
        ++count;
        return;
      }
      if (count + size > tokens && end > 0) {
        if (ends[i].empty() || ends[i].back() < end) ends[i].push_back(end);
        count = 0;
      }
      const auto begin = static_cast<std::size_t>(piece.data() - text.data());
      if (size > tokens) {  // a token has a byte or more
        for (std::size_t at = begin; at + tokens < begin + piece.size();) {
          std::size_t next = at + tokens;
          while (next > at && (text[next] & 0xC0) == 0x80) --next;
          at = next > at ? next : at + tokens;
          ends[i].push_back(at);
          end = at;
        }
        ids.clear();
        bpe_->encode(text.substr(end, begin + piece.size() - end), ids);
        count = ids.size();
      } else {
        count += size;
      }
      end = begin + piece.size();
    });
    if (end > 0 && (ends[i].empty() || ends[i].back() < end)) ends[i].push_back(end);
  }
  corpus.cut(ends);
  return corpus;
}

Corpus read_corpus(const std::vector<std::string>& paths, const Tokenizer& tokenizer,
                   std::size_t block_size) {
  Corpus corpus = Corpus::read(paths, tokenizer.reading());
  if (tokenizer.reading().split != Split::window) return corpus;
  return tokenizer.windows(std::move(corpus), block_size);
}

std::vector<std::vector<TokenId>> Tokenizer::encode_lines(const Corpus& corpus) const {
  std::vector<std::vector<TokenId>> sentences;
  sentences.reserve(corpus.size());
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    try {
      sentences.push_back(encode_line(corpus, i));
    } catch (const VocabularyError& error) {
      throw VocabularyError(fmt::format("{}: {}", corpus.where(i), error.what()));
    }
  }
  return sentences;
}

std::vector<Tokenizer::UnknownWord> Tokenizer::unknown_words(const Corpus& corpus) const {
  std::unordered_map<std::string_view, std::size_t> firsts;
  if (bpe_) return {};
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    kind_->cut(corpus[i], [&](std::string_view word) {
      if (find(word) != size() || is_spacing(word)) return;
      const auto [at, is_new] = firsts.emplace(word, i);
      if (!is_new && corpus.comes_before(i, at->second)) at->second = i;
    });
  }
  std::vector<UnknownWord> words;
  for (const auto& [word, first] : firsts)
    words.push_back({std::string(word), corpus.line_number(first), first});
  std::sort(words.begin(), words.end(), [&](const UnknownWord& a, const UnknownWord& b) {
    return a.first != b.first ? corpus.comes_before(a.first, b.first) : a.word < b.word;
  });
  return words;
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids) const {
  std::vector<std::string_view> tokens;
  tokens.reserve(ids.size());
  for (const TokenId id : ids)
    if (id != bos()) tokens.push_back(words_[id]);
  return kind_->join(tokens);
}

}  // namespace glassbox
