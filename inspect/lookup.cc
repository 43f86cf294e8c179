#include "inspect/lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/closest_match.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace glassbox {

void refuse_name(std::string_view name, const std::string& expected, const std::string& advice) {
  throw ConfigError(fmt::format("{}: expected {}; {}", shortened(name), expected, advice));
}

std::size_t checked_index(std::string_view name, const char* what, std::size_t index,
                          std::size_t size) {
  if (index >= size)
    refuse_name(name, fmt::format("{} from 0 to {}, found {}", what, size - 1, index),
                "count from 0");
  return index;
}

namespace {
std::optional<std::size_t> single_number(std::string_view index) {
  ScalarName name;
  name.index = index;
  const auto numbers = name.numbers();
  return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}
}  // namespace

TokenId find_word(std::string_view text, std::string_view word, const Tokenizer& tokenizer) {
  const auto known = [&](std::string_view as) {
    TokenId id = tokenizer.find(as);
    if (id == tokenizer.size() && as == tokenizer.word(tokenizer.bos())) id = tokenizer.bos();
    if (id == tokenizer.size() && tokenizer.lowercase()) id = tokenizer.find(lower_case(as));
    return id;
  };
  if (find_invalid_utf8(word) != kValidUtf8) refuse_name(text, "UTF-8", "no word has other bytes");
  if (const TokenId id = known(word); id < tokenizer.size()) return id;
  if (word.size() > 2 && word.front() == '"' && word.back() == '"')
    if (const TokenId id = known(word.substr(1, word.size() - 2)); id < tokenizer.size()) return id;
  if (const auto id = single_number(word))
    return static_cast<TokenId>(checked_index(text, "a word, or an id", *id, tokenizer.size()));

  const auto& words = tokenizer.words();
  const auto alike = std::ranges::find_if(words, [folded = lower_case(word)](const auto& other) {
    return lower_case(other) == folded;
  });
  const std::string near = alike == words.end() ? closest_match(word, words) : *alike;
  std::string advice = tokenizer.unk() ? fmt::format("it reads all others as {}", kUnk)
                                       : "its vocabulary is in the model file";
  if (!near.empty())
    advice = fmt::format("did you mean {}{}{}?", text.substr(0, text.rfind(word)), near,
                         text.substr(text.rfind(word) + word.size()));
  refuse_name(text, fmt::format("a {} that the model knows", tokenizer.kind().unit), advice);
}

ElementIndex element_index(std::string_view text, const ScalarName& name,
                           const ParameterSpec& parameter, const Tokenizer& tokenizer) {
  ElementIndex at;
  if (!name.index) return at;
  const auto numbers = name.numbers();
  if (numbers && numbers->size() <= 2) {
    at.row = numbers->front();
    if (numbers->size() == 2) at.col = numbers->back();
  } else if (!numbers && parameter.has_token_rows) {
    std::string_view word = *name.index;  // may itself have brackets in it
    const std::size_t cut = word.rfind("][");
    if (cut != word.npos && tokenizer.find(word) == tokenizer.size()) {
      at.col = single_number(word.substr(cut + 2));
      if (!at.col) refuse_name(text, "a number as column", "write output[cat][3]");
      word = word.substr(0, cut);
    }
    at.row = find_word(text, word, tokenizer);
  } else {
    refuse_name(text, "a row and a column in brackets",
                fmt::format("write {}[7][3]", parameter.name));
  }
  checked_index(text, "a row", *at.row, parameter.rows);
  if (at.col) checked_index(text, "a column", *at.col, parameter.cols);
  return at;
}

namespace {

// What an inner node is called, from the label of its row's first output:
// "layers.0.attention.heads@2[0]" and weights, 1, 0 give "layers.0.attention.weights@2[1][0]".
std::string inner_name(const std::string& row_label, const Expansion<double>::InnerNode& named) {
  const auto row = parse_scalar_name(row_label);
  if (!row || !row->position) return {};
  if (named.what == "scale") return fmt::format("{}.scale@{}", row->name, *row->position);
  const std::size_t dot = row->name.rfind('.');
  const std::string place = dot == std::string::npos ? "" : row->name.substr(0, dot + 1);
  return fmt::format("{}{}@{}[{}][{}]", place, named.what, *row->position, named.i, named.j);
}

// The only numbers between brackets that make sense: `count` of them.
std::vector<std::size_t> indices(std::string_view text, const ScalarName& name, std::size_t count,
                                 const char* example) {
  const auto numbers = name.numbers();
  if (!numbers || numbers->size() != count)
    refuse_name(text,
                count == 0   ? "no index"
                : count == 1 ? "one index in brackets"
                             : "two indices in brackets",
                fmt::format("write {}{}", name.name, example));
  return *numbers;
}

// A scalar inside a matrix, or nothing if no matrix has one of that name.
std::optional<NamedScalar> find_inner(Inspection& inspection, std::string_view text,
                                      const ScalarName& name, std::size_t position) {
  const std::size_t dot = std::min(name.name.rfind('.'), name.name.size());
  const std::string place = name.name.substr(0, dot), what = name.name.substr(dot);
  const bool scale = what == ".scale";
  if (!scale && what != ".scores" && what != ".weights") return {};
  const auto stage = find_stage(scale ? place : place + ".heads", inspection.config());
  if (!stage) return {};
  const auto at =
      scale ? indices(text, name, 0, "@0") : indices(text, name, 2, "@2[head][position]");
  if (!scale) {
    checked_index(text, "a head", at[0], inspection.config().n_head);
    if (at[1] > position)
      refuse_name(text,
                  fmt::format("a position from 0 to {} to look back at, found {}", position, at[1]),
                  "no position sees a later one");
  }
  const auto row = expand_named(inspection.matrix(stage->stage, stage->layer)(position, 0));
  for (const auto& node : row->inner_nodes())
    if (node.what == what.substr(1) && (scale || (node.i == at[0] && node.j == at[1])))
      return NamedScalar{row->tape().label(node.node), Value<double>(row->tape(), node.node), row};
  return {};
}

// The names that have values at a position: "embedding", ..., "layers.0.attention.weights", ...
std::vector<std::string> value_names(const GptConfig& config) {
  std::vector<std::string> names, inner;
  for (const StageRef& stage : all_stages(config)) {
    names.push_back(stage.name());
    if (names.back().ends_with("norm")) inner.push_back(names.back() + ".scale");
    if (stage.stage == Stage::attention_heads)
      for (const char* what : {"scores", "weights"})
        inner.push_back(fmt::format("layers.{}.attention.{}", stage.layer, what));
  }
  names.insert(names.end(), inner.begin(), inner.end());
  return names;
}

}  // namespace

NamedScalar find_scalar(Inspection& inspection, std::string_view text) {
  const auto name = parse_scalar_name(text);
  if (!name)
    refuse_name(text,
                "a name like layers.0.attention.query[7][3], embedding@2[5], logits@2[cat] or loss",
                "a position follows @, an index stands in brackets");
  if (text == "loss") return {"loss", inspection.loss(), nullptr};

  if (const ParameterSpec* spec = inspection.layout().find(name->name); spec && !name->position) {
    const ElementIndex at = element_index(text, *name, *spec, inspection.tokenizer());
    if (!at.col)
      refuse_name(text, "two indices in brackets", fmt::format("write {}[7][3]", spec->name));
    const auto value = inspection.gpt().parameter(spec->name, *at.row, *at.col);
    NamedScalar scalar{value.label(), value, nullptr};
    if (spec->has_token_rows) scalar.token = static_cast<TokenId>(*at.row);
    return scalar;
  }

  auto all = value_names(inspection.config());
  if (std::find(all.begin(), all.end(), name->name) == all.end()) {
    if (inspection.layout().find(name->name))
      refuse_name(text, "no position", fmt::format("write {}[7][3]", name->name));
    for (const ParameterSpec& spec : inspection.layout().parameters()) all.push_back(spec.name);
    refuse_name(text, "the name of a parameter or of a value",
                suggestion(name->name, all,
                           "inspect params lists the parameters, inspect graph the values"));
  }
  if (!name->position)
    refuse_name(text, "a position", fmt::format("write {}@0 for the first one", name->name));
  checked_index(text, "a sentence", name->sentence, 1);
  const std::size_t position =
      checked_index(text, "a position", *name->position, inspection.positions());
  if (auto inner = find_inner(inspection, text, *name, position)) return *inner;

  const auto stage = find_stage(name->name, inspection.config());
  const Matrix<double> matrix = inspection.matrix(stage->stage, stage->layer);
  std::size_t column = 0;
  if (stage->stage == Stage::logits) {
    if (!name->index) refuse_name(text, "a word in brackets", "write logits@0[word]");
    column = find_word(text, *name->index, inspection.tokenizer());
  } else if (stage->stage == Stage::loss) {
    indices(text, *name, 0, "@0");
  } else {
    const bool part = stage->stage == Stage::attention_qkv;
    const std::size_t width = part ? inspection.config().n_embd : matrix.cols();
    column = stage->part * width +
             checked_index(text, "an index", indices(text, *name, 1, "@0[5]")[0], width);
  }
  const Value<double> value = matrix(position, column);
  return {value.label(), value, nullptr};
}

std::string scalar_name(const Value<double>& value) {
  if (std::string label = value.label(); !label.empty()) return label;
  if (!value.tape().maker(value.id())) return fmt::format("{:.6g}", value.data());
  return fmt::format("{}#{}", value.op(), value.id());
}

namespace {
GraphNeighbour neighbour(const Value<double>& value, double local) {
  return {value, scalar_name(value), value.op(), value.data(), value.grad(), local};
}

// out[n][m] is the sum over k of x[n][k] w[k][m]. The general way would write out every row.
void add_parents_in_product(const Value<double>& value, const MatrixInfo& matrix,
                            std::vector<GraphNeighbour>& result) {
  Tape<double>& tape = value.tape();
  const MatrixInfo &x = tape.matrices()[matrix.operands[0]],
                   &w = tape.matrices()[matrix.operands[1]];
  const auto add = [&](std::size_t n, std::size_t m, std::size_t factor) {
    const Value<double> parent(tape, static_cast<NodeId>(matrix.out + n * matrix.pitch + m));
    result.push_back(neighbour(parent, tape.data(static_cast<NodeId>(factor))));
  };
  if (x.covers(value.id())) {
    const std::size_t n = (value.id() - x.out) / x.pitch, k = (value.id() - x.out) % x.pitch;
    for (std::size_t m = 0; m < matrix.cols; ++m) add(n, m, w.out + k * w.pitch + m);
  } else if (w.covers(value.id())) {
    const std::size_t k = (value.id() - w.out) / w.pitch, m = (value.id() - w.out) % w.pitch;
    for (std::size_t n = 0; n < matrix.rows; ++n) add(n, m, x.out + n * x.pitch + k);
  }
}
}  // namespace

std::vector<GraphNeighbour> children_of(const Value<double>& value) {
  std::vector<GraphNeighbour> result;
  for (const auto& child : value.children())
    result.push_back(neighbour(child.value, child.local_grad));
  return result;
}

std::vector<GraphNeighbour> parents_of(const Value<double>& value) {
  Tape<double>& tape = value.tape();
  std::vector<GraphNeighbour> result;
  const auto first = std::ranges::upper_bound(tape.records(), value.id(), {}, &ScalarRecord::out);
  for (auto record = first; record != tape.records().end(); ++record) {
    if (!record->is_matrix) {
      if (record->a != value.id() && record->b != value.id()) continue;
      const Value<double> parent(tape, record->out);
      double local = 0;
      for (const auto& child : parent.children())
        if (child.value.id() == value.id()) local += child.local_grad;
      result.push_back(neighbour(parent, local));
      continue;
    }
    const MatrixInfo& matrix = tape.matrices()[record->b];
    if (tape.table()[matrix.op].partition == kernels::Partition::product &&
        matrix.operands[0] != matrix.operands[1]) {
      add_parents_in_product(value, matrix, result);
      continue;
    }
    bool reads = tape.table()[matrix.op].reads_anywhere;
    matrix.for_each_operand([&](std::size_t, MatrixId operand) {
      reads = reads || tape.matrices()[operand].covers(value.id());
    });
    // Forward through the row's plain graph: `tangent` is d node / d value.
    for (std::size_t n = 0; reads && n < matrix.rows; ++n) {
      const auto out = static_cast<NodeId>(matrix.out + n * matrix.pitch);
      const auto row = Expansion<double>::of_node(tape, out);
      if (!row.contains(value.id())) continue;
      Tape<double>& plain = row.tape();
      std::vector<double> tangent(plain.size());
      std::vector<bool> depends(plain.size());
      tangent[row.at(value.id()).id()] = 1;
      depends[row.at(value.id()).id()] = true;
      for (const ScalarRecord& step : plain.records()) {
        depends[step.out] = depends[step.a] || depends[step.b];
        if (!depends[step.out]) continue;
        for (const auto& child : Value<double>(plain, step.out).children())
          tangent[step.out] += child.local_grad * tangent[child.value.id()];
      }
      for (NodeId m = 0; m < matrix.cols; ++m)
        if (const NodeId image = row.at(out + m).id(); depends[image])
          result.push_back(neighbour(Value<double>(tape, out + m), tangent[image]));
    }
  }
  return result;
}

std::shared_ptr<const Expansion<double>> expand_named(const Value<double>& value) {
  auto row = std::make_shared<Expansion<double>>(value.expand());
  for (const auto& named : row->inner_nodes())
    if (std::string name = inner_name(value.tape().label(named.row_output), named); !name.empty())
      row->tape().set_label(named.node, std::move(name));
  return row;
}

}  // namespace glassbox
