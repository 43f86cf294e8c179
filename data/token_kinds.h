// How a text is cut into tokens and written again, one kind a row in a table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace glassbox {

using TokenVisitor = std::function<void(std::string_view token)>;

// A way of cutting a text into tokens. All of them are in one table in token_kinds.cc: a new one is
// a row there, and the command line and the model file take its name from the row.
struct TokenizerKind {
  const char* name;   // as on the command line and in the model file
  const char* token;  // what its tokens are, for messages: "a word without white space"
  const char* unit;   // what one of them is called: "word"
  // Visits the text's tokens in order, each spelled as in the vocabulary. White space at the ends
  // of the text is no token, and a run of it counts as one blank. REQUIRES: valid UTF-8. Of an
  // exact kind, these are the pieces of any bytes that the tokens are then made of.
  void (*cut)(std::string_view text, const TokenVisitor& visit);
  bool (*is_token)(std::string_view text);  // REQUIRES: valid UTF-8, not empty
  // The text of these tokens.
  std::string (*join)(std::span<const std::string_view> tokens);
  std::string_view separator;  // what the way back puts between two tokens unless a token says else
  // The way back from the last tokens of a sentence is the end of its text.
  bool ends_alone;
  // Every text comes back byte by byte, so a corpus is to be read as it is (CorpusOptions::exact).
  bool exact = false;
};
std::span<const TokenizerKind> tokenizer_kinds();
// nullptr if there is none of that name.
const TokenizerKind* find_tokenizer_kind(std::string_view name);

// Of word-punct, where a text has a blank that is not usual there, or has none that is. They can't
// be mistaken for what the text has: that would be three tokens each.
inline constexpr std::string_view kBlankToken = "<blank>";
inline constexpr std::string_view kJoinToken = "<join>";

}  // namespace glassbox
