// Any scalar of a sentence's computation by its name, and its neighbours in the graph.
//
//   loss, loss@2                            the mean, and one position's
//   layers.0.attention.query[7][3]          a parameter, [out][in]
//   token_embedding[cat][3], output[4][3]   where a row is a token's: its id, or else the word
//   layers.0.attention.q@2[5]               a value; every stage of nn/labels.h has such a name
//   logits@2[cat]                           a word, or else its id
//   layers.0.attention.scores@2[1][0]       inside a matrix: head 1 at position 2, looking at 0
//   layers.0.attention.weights@2[1][0]      its softmax
//   norm.scale@2, layers.0.mlp.norm.scale@2 what a norm multiplied its row by
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/inspection.h"

namespace glassbox {

struct NamedScalar {
  std::string name;  // as its label has it
  Value<double> value;
  std::shared_ptr<const Expansion<double>> inner;  // the tape of a scalar inside a matrix
  std::optional<TokenId> token = {};               // whose row of a parameter it lies in
};

// What a look-up by name refuses. Both throw ConfigError: "NAME: expected EXPECTED; ADVICE", and
// the range for an index that is not below `size`. Else it returns the index.
[[noreturn]] void refuse_name(std::string_view name, const std::string& expected,
                              const std::string& advice);
std::size_t checked_index(std::string_view name, const char* what, std::size_t index,
                          std::size_t size);

// The token that a name means by `word`, a part of `text`: the word as it stands or folded as the
// model's text was, in quotes or without, or its id. "<bos>" is one. Throws ConfigError naming the
// nearest word.
TokenId find_word(std::string_view text, std::string_view word, const Tokenizer& tokenizer);

// The row and the column in the brackets of a parameter's name, if they are given. A row that
// belongs to a token may be called by its word, except that a number is always an id: the word "3"
// is written in quotes, output["3"]. Throws ConfigError.
struct ElementIndex {
  std::optional<std::size_t> row, col;
};
ElementIndex element_index(std::string_view text, const ScalarName& name,
                           const ParameterSpec& parameter, const Tokenizer& tokenizer);

// Throws ConfigError, naming the nearest name or the range an index must lie in.
NamedScalar find_scalar(Inspection& inspection, std::string_view name);

// A scalar next to another: as child, `local` is d scalar / d child; as parent, d parent / d
// scalar.
struct GraphNeighbour {
  Value<double> value;
  std::string name, op;
  double data, grad, local;
};
std::vector<GraphNeighbour> children_of(const Value<double>& value);
// All that were computed from it. The sum of grad * local over them is its own gradient.
std::vector<GraphNeighbour> parents_of(const Value<double>& value);

// Its label; of an unnamed constant its number, of an unnamed result its operation and node.
std::string scalar_name(const Value<double>& value);

// The plain graph of the row that a scalar lies in, inner nodes named.
std::shared_ptr<const Expansion<double>> expand_named(const Value<double>& value);
}  // namespace glassbox
