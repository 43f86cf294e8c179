#include "data/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace glassbox {
namespace {

// The printable character of each byte.
constexpr std::array<char32_t, kByteValues> kCharacters = [] {
  std::array<char32_t, kByteValues> characters{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < kByteValues; ++byte) {
    const bool is_printable =
        (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    characters[byte] = is_printable ? byte : next++;
  }
  return characters;
}();
constexpr std::size_t kEnd = 0x144;  // behind the last of them

// The byte of each of these characters, or kByteValues for one that stands for none.
constexpr std::array<std::uint16_t, kEnd> kBytes = [] {
  std::array<std::uint16_t, kEnd> bytes{};
  bytes.fill(kByteValues);
  for (std::uint16_t byte = 0; byte < kByteValues; ++byte) bytes[kCharacters[byte]] = byte;
  return bytes;
}();

std::size_t byte_of(char32_t c) { return c < kEnd ? kBytes[c] : kByteValues; }

constexpr std::uint64_t key(TokenId left, TokenId right) {
  return std::uint64_t{left} << 32 | right;
}

enum class Piece { space, letter, number, other };

// What begins at `offset`, and its length.
std::pair<Piece, std::size_t> look(std::string_view text, std::size_t offset) {
  const auto byte = static_cast<unsigned char>(text[offset]);
  if (byte < 0x80) {
    if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') return {Piece::letter, 1};
    if (byte >= '0' && byte <= '9') return {Piece::number, 1};
    return {byte == ' ' || (byte >= '\t' && byte <= '\r') ? Piece::space : Piece::other, 1};
  }
  const std::size_t length = character_length(text, offset);
  if (length == 1) return {Piece::other, 1};
  std::size_t at = offset;
  switch (character_class(next_code_point(text, at))) {
    case CharacterClass::space:
      return {Piece::space, length};
    case CharacterClass::letter:
      return {Piece::letter, length};
    case CharacterClass::number:
      return {Piece::number, length};
    default:
      return {Piece::other, length};
  }
}

// The length of "'s" and its like at `offset`, or 0.
std::size_t contraction_at(std::string_view text, std::size_t offset) {
  if (text[offset] != '\'') return 0;
  const std::string_view two = text.substr(offset + 1, 2);
  if (two == "re" || two == "ve" || two == "ll") return 3;
  return !two.empty() && std::string_view("stmd").find(two[0]) != std::string_view::npos ? 2 : 0;
}

}  // namespace

void cut_pieces(std::string_view text, const std::function<void(std::string_view)>& visit) {
  std::size_t begin = 0;
  const auto end_piece = [&](std::size_t end) {
    visit(text.substr(begin, end - begin));
    begin = end;
  };
  while (begin < text.size()) {
    if (const std::size_t length = contraction_at(text, begin)) {
      end_piece(begin + length);
      continue;
    }
    std::size_t at = begin;
    auto [what, length] = look(text, at);
    if (what == Piece::space) {
      std::size_t last = at;
      while (at < text.size() && what == Piece::space) {
        last = at;
        at += length;
        if (at < text.size()) std::tie(what, length) = look(text, at);
      }
      if (at < text.size()) {
        // The last white space before a piece: a blank belongs to that one, another stands alone.
        if (last > begin) end_piece(last);
        if (text[begin] != ' ') {
          end_piece(at);
          continue;
        }
      } else {
        end_piece(at);
        continue;
      }
    }
    for (const Piece kind = what; at < text.size();) {
      std::tie(what, length) = look(text, at);
      if (what != kind) break;
      at += length;
    }
    end_piece(at);
  }
}

std::string spelling_of_bytes(std::string_view bytes) {
  std::string spelling;
  for (const char byte : bytes) {
    const char32_t c = kCharacters[static_cast<unsigned char>(byte)];
    if (c < 0x80) {
      spelling += static_cast<char>(c);
    } else {
      spelling += static_cast<char>(0xC0 | c >> 6);
      spelling += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  return spelling;
}

bool is_bytes_spelling(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (byte_of(next_code_point(text, at)) == kByteValues) return false;
  return true;
}

std::string join_bytes(std::span<const std::string_view> spellings) {
  std::string bytes;
  for (const std::string_view spelling : spellings)
    for (std::size_t at = 0; at < spelling.size();)
      bytes += static_cast<char>(byte_of(next_code_point(spelling, at)));
  return bytes;
}

Bpe::Bpe(const std::vector<std::string>& tokens, std::vector<Merge> merges,
         const std::string& where)
    : merges_(std::move(merges)) {
  const auto refuse = [&](const std::string& what, const std::string& expected,
                          const std::string& found) {
    throw FormatError(fmt::format("{}: {}: expected {}, found {}; {}", where, what, expected, found,
                                  "the vocabulary is damaged: use a backup"));
  };
  std::unordered_map<std::string_view, TokenId> ids;
  for (const std::string& token : tokens) ids.emplace(token, static_cast<TokenId>(ids.size()));
  for (std::size_t byte = 0; byte < kByteValues; ++byte) {
    const auto found = ids.find(spelling_of_bytes(std::string(1, static_cast<char>(byte))));
    if (found == ids.end()) refuse("tokens", "one for each byte", fmt::format("none for {}", byte));
    byte_ids_[byte] = found->second;
  }
  for (std::size_t rank = 0; rank < merges_.size(); ++rank) {
    const auto [left, right] = merges_[rank];
    const std::string name = fmt::format("merge {}", rank);
    if (left >= tokens.size() || right >= tokens.size())
      refuse(name, "two tokens", "an id beyond them");
    const auto result = ids.find(tokens[left] + tokens[right]);
    if (result == ids.end())
      refuse(name, "a token for its result", "no " + quotation(tokens[left] + tokens[right]));
    if (!results_
             .emplace(key(left, right), Result{static_cast<std::uint32_t>(rank), result->second})
             .second)
      refuse(name, "a new pair",
             fmt::format("{} and {} again", quotation(tokens[left]), quotation(tokens[right])));
  }
}

const Bpe::Result* Bpe::find(TokenId left, TokenId right) const {
  const auto found = results_.find(key(left, right));
  return found == results_.end() ? nullptr : &found->second;
}

void Bpe::encode(std::string_view text, std::vector<TokenId>& ids) const {
  cut_pieces(text, [&](std::string_view piece) { encode_piece(piece, ids); });
}

void Bpe::encode_piece(std::string_view piece, std::vector<TokenId>& ids) const {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  // Tokens so far, each at the place of its first byte, linked by places.
  struct Node {
    TokenId id;
    std::uint32_t previous, next;
  };
  struct Candidate {
    std::uint32_t rank, place;
    TokenId left, right, id;
    bool operator<(const Candidate& other) const {  // the top of the heap is the lowest rank
      return std::tie(rank, place) > std::tie(other.rank, other.place);
    }
  };
  if (piece.size() >= kNone)
    throw ConfigError("tokenizer: expected less than 4 GB without a blank");
  std::vector<Node> nodes(piece.size());
  std::vector<Candidate> heap;
  const auto propose = [&](std::uint32_t place) {
    const Node& left = nodes[place];
    if (left.next == kNone) return false;
    const TokenId right = nodes[left.next].id;
    const Result* const result = find(left.id, right);
    if (result == nullptr) return false;
    heap.push_back({result->rank, place, left.id, right, result->id});
    return true;
  };
  const auto count = static_cast<std::uint32_t>(piece.size());
  for (std::uint32_t i = 0; i < count; ++i)
    nodes[i] = {byte_ids_[static_cast<unsigned char>(piece[i])], i > 0 ? i - 1 : kNone,
                i + 1 < count ? i + 1 : kNone};
  for (std::uint32_t i = 0; i < count; ++i) propose(i);
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Candidate best = heap.back();
    heap.pop_back();
    Node& left = nodes[best.place];
    // A token that was merged away is no id any more, so its old candidates do not match.
    if (left.id != best.left || left.next == kNone || nodes[left.next].id != best.right) continue;
    Node& right = nodes[left.next];
    left.id = best.id;
    right.id = kNone;
    left.next = right.next;
    if (left.next != kNone) nodes[left.next].previous = best.place;
    if (left.previous != kNone && propose(left.previous)) std::push_heap(heap.begin(), heap.end());
    if (propose(best.place)) std::push_heap(heap.begin(), heap.end());
  }
  for (std::uint32_t i = 0; i != kNone && i < count; i = nodes[i].next) ids.push_back(nodes[i].id);
}

void BpeTrainer::add(std::string_view text) {
  cut_pieces(text, [&](std::string_view piece) { ++pieces_[piece]; });
}

namespace {

// The distinct pieces as tokens, one behind the other. Token t of n bytes that begins at place p
// has its id in cells[p] and in cells[p + n - 1], so both neighbours of a place are found without
// links; what is between is kNoToken, and so is a cell before, between and behind the pieces.
class Places {
 public:
  static constexpr TokenId kNoToken = std::numeric_limits<TokenId>::max();

  explicit Places(const std::unordered_map<std::string_view, std::uint64_t>& pieces) {
    // By the pieces themselves: the order of a hash table is another on another machine.
    std::vector<std::pair<std::string_view, std::uint64_t>> sorted(pieces.begin(), pieces.end());
    std::sort(sorted.begin(), sorted.end());
    std::size_t bytes = 1;
    for (const auto& [piece, count] : sorted) bytes += piece.size() + 1;
    if (bytes >= kNoToken)
      throw ConfigError(
          "tokenizer: expected less than 4 GB of distinct pieces, found more; train "
          "it on a part of the text");
    cells_.assign(bytes, kNoToken);
    piece_of_.resize(bytes);
    lengths_.assign(kByteValues, 1);
    std::size_t at = 1;
    for (const auto& [piece, count] : sorted) {
      for (const char byte : piece) {
        piece_of_[at] = static_cast<std::uint32_t>(counts_.size());
        cells_[at++] = static_cast<unsigned char>(byte);
      }
      ++at;
      counts_.push_back(count);
    }
    for (std::size_t p = 1; p + 1 < cells_.size(); ++p)
      if (cells_[p] != kNoToken && cells_[p + 1] != kNoToken)
        add(cells_[p], cells_[p + 1], static_cast<std::uint32_t>(p));
    push_grown();
  }

  // The pair that is next, and how often it is there; 0 if there is none.
  std::pair<Merge, std::uint64_t> next() {
    while (!heap_.empty()) {
      const Candidate top = heap_.top();
      heap_.pop();
      const std::uint64_t pair = ~top.second;
      const auto found = pairs_.find(pair);
      const std::uint64_t count = found == pairs_.end() ? 0 : found->second.count;
      if (count == top.first && count > 0)
        return {{static_cast<TokenId>(pair >> 32), static_cast<TokenId>(pair)}, count};
      if (count > 0) heap_.push(candidate(pair, count));  // it became rarer meanwhile
    }
    return {{}, 0};
  }

  void merge(Merge pair, TokenId id) {
    const auto [left, right] = pair;
    const std::uint32_t left_length = lengths_[left], right_length = lengths_[right];
    if (id == lengths_.size()) lengths_.push_back(left_length + right_length);
    std::vector<std::uint32_t> places = std::move(pairs_[key(left, right)].places);
    std::sort(places.begin(), places.end());
    for (const std::uint32_t begin : places) {
      const std::uint32_t middle = begin + left_length, end = middle + right_length;
      // Of overlapping places the first is merged, and the other is gone.
      if (cells_[begin] != left || middle >= cells_.size() || cells_[middle] != right ||
          cells_[middle - 1] != left)
        continue;
      const std::uint64_t count = counts_[piece_of_[begin]];
      const TokenId before = cells_[begin - 1], after = cells_[end];
      if (before != kNoToken) remove(before, left, count);
      if (after != kNoToken) remove(right, after, count);
      remove(left, right, count);
      cells_[middle - 1] = cells_[middle] = kNoToken;
      cells_[begin] = cells_[end - 1] = id;
      if (before != kNoToken) add(before, id, begin - lengths_[before]);
      if (after != kNoToken) add(id, after, begin);
    }
    pairs_.erase(key(left, right));
    push_grown();
  }

 private:
  struct State {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> places;  // where it was seen; it may be gone from some
    bool has_grown = false;             // and is to be pushed
  };
  using Candidate = std::pair<std::uint64_t, std::uint64_t>;  // count; of equal ones the lowest key
  static Candidate candidate(std::uint64_t pair, std::uint64_t count) { return {count, ~pair}; }

  void add(TokenId left, TokenId right, std::uint32_t place) {
    State& state = pairs_[key(left, right)];
    if (!std::exchange(state.has_grown, true)) grown_.push_back(key(left, right));
    state.count += counts_[piece_of_[place]];
    state.places.push_back(place);
  }
  void remove(TokenId left, TokenId right, std::uint64_t count) {
    const auto found = pairs_.find(key(left, right));
    if (found != pairs_.end()) found->second.count -= count;
  }

  // The heap has each pair with its count or, where it has become rarer since, a higher one.
  void push_grown() {
    for (const std::uint64_t pair : grown_) {
      const auto found = pairs_.find(pair);
      if (found == pairs_.end()) continue;
      found->second.has_grown = false;
      heap_.push(candidate(pair, found->second.count));
    }
    grown_.clear();
  }

  std::vector<TokenId> cells_;
  std::vector<std::uint32_t> piece_of_;  // of a place
  std::vector<std::uint64_t> counts_;    // of a piece
  std::vector<std::uint32_t> lengths_;   // of a token, in bytes
  std::unordered_map<std::uint64_t, State> pairs_;
  std::priority_queue<Candidate> heap_;
  std::vector<std::uint64_t> grown_;
};

}  // namespace

BpeVocabulary BpeTrainer::train(std::size_t tokens, std::size_t min_count) const {
  BpeVocabulary learnt;
  std::unordered_map<std::string, TokenId> ids;
  const auto add = [&](std::string spelling) {
    const auto [at, is_new] = ids.emplace(spelling, static_cast<TokenId>(learnt.tokens.size()));
    if (is_new) learnt.tokens.push_back(std::move(spelling));
    return at->second;
  };
  for (std::size_t byte = 0; byte < kByteValues; ++byte)
    add(spelling_of_bytes(std::string(1, static_cast<char>(byte))));
  if (tokens <= kByteValues) return learnt;
  Places places(pieces_);
  while (learnt.tokens.size() < tokens) {
    const auto [pair, times] = places.next();
    if (times < std::max<std::size_t>(1, min_count)) break;
    learnt.merges.push_back(pair);
    // Two merges may have one result: "ab" and "c", "a" and "bc".
    places.merge(pair, add(learnt.tokens[pair.first] + learnt.tokens[pair.second]));
  }
  return learnt;
}

}  // namespace glassbox
