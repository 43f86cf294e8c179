// Byte-level byte-pair encoding (Sennrich, Haddow, Birch 2016, on bytes as in GPT-2). A text is cut
// into pieces by GPT-2's rule; within a piece, the two neighbours whose merge has the lowest rank
// become one token, until no neighbours have a merge. docs/formats.md has all the rules.
//
// A token is spelled with a printable character for each byte, as GPT-2 and Hugging Face do: the
// 188 bytes that are printable in Latin-1 as themselves, the 68 others, in order, as U+0100 to
// U+0143: a blank is "Ġ" and a line feed "Ċ".
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace glassbox {

using TokenId = std::uint32_t;
using Merge = std::pair<TokenId, TokenId>;  // of left and right neighbour

inline constexpr std::size_t kByteValues = 256;

// Visits the pieces of a text, which together are the text: "'s", "'t", "'re", "'ve", "'m", "'ll",
// "'d"; letters, numbers or other characters with a blank before them or none; white space up to
// the last one before a piece. A byte that is not part of valid UTF-8 counts as another character.
void cut_pieces(std::string_view text, const std::function<void(std::string_view)>& visit);

std::string spelling_of_bytes(std::string_view bytes);
bool is_bytes_spelling(std::string_view text);
// REQUIRES: is_bytes_spelling(each).
std::string join_bytes(std::span<const std::string_view> spellings);

// Encodes. Immutable, so that threads may share it.
class Bpe {
 public:
  // Ids in the order of the tokens, which are spelled as above; merges by rank. Throws FormatError,
  // its message beginning with `where`, if one of the 256 bytes is no token, or a merge is there
  // twice, of ids that do not exist or without its result among the tokens.
  Bpe(const std::vector<std::string>& tokens, std::vector<Merge> merges, const std::string& where);

  const std::vector<Merge>& merges() const { return merges_; }
  // Appends a text's token ids. Takes n log n for a piece of n bytes.
  void encode(std::string_view text, std::vector<TokenId>& ids) const;

 private:
  struct Result {
    std::uint32_t rank;
    TokenId id;
  };
  const Result* find(TokenId left, TokenId right) const;
  void encode_piece(std::string_view piece, std::vector<TokenId>& ids) const;

  std::array<TokenId, kByteValues> byte_ids_;
  std::vector<Merge> merges_;
  std::unordered_map<std::uint64_t, Result> results_;
};

// What training makes: the 256 bytes in order, then each merge's result that is new.
struct BpeVocabulary {
  std::vector<std::string> tokens;  // as they are spelled
  std::vector<Merge> merges;
};

// Learns merges from pieces. The next merge is the pair of neighbours that is there most often in
// all pieces, each place counted, overlapping ones too ("aaa" has "aa" twice); of equal ones that
// of the lowest left id, then of the lowest right id. A piece is cut as cut_pieces() says.
class BpeTrainer {
 public:
  // Counts the pieces of a text in. The text must outlive the trainer.
  void add(std::string_view text);
  // At most `tokens` tokens, the bytes among them; each merge is of a pair that is there at least
  // `min_count` times. Takes time in proportion to the distinct pieces' bytes and the changes
  // there, whatever the pieces' lengths: 12 bytes of memory a byte of distinct pieces and about as
  // much again for the pairs. Throws ConfigError for more than 4 GB of distinct pieces.
  BpeVocabulary train(std::size_t tokens, std::size_t min_count) const;

 private:
  std::unordered_map<std::string_view, std::uint64_t> pieces_;
};

}  // namespace glassbox
