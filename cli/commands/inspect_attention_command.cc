// glassbox inspect attention, cache
#include <fmt/core.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/view/heat.h"
#include "cli/view/svg.h"
#include "cli/view/text.h"
#include "inspect/attention_map.h"

namespace glassbox::cli {

namespace {

struct AttentionOptions {
  SentenceOperands operands;
  std::optional<std::string> svg;
  bool json = false;
  std::optional<std::size_t> layer, head;
  ColorChoice color = ColorChoice::automatic;

  void visit(OptionTable& table) {
    operands.visit(table);
    table.group("Output");
    table.file(svg, "svg", {.value = "FILE", .help = "write the maps to FILE as a picture"});
    table.flag(json, "json", {.help = "scores and weights as one object"});
    table.integer(layer, "layer", {.value = "L", .help = "this layer alone"});
    table.integer(head, "head", {.value = "H", .help = "this head alone"});
    table.choice(color, "color",
                 {.value = "auto|always|never",
                  .help = "shade the cells; auto on a terminal without NO_COLOR",
                  .not_with = "svg json"});
  }
};

struct CacheOptions {
  SentenceOperands operands;
  std::size_t layer = 0, head = 0;

  void visit(OptionTable& table) {
    operands.visit(table);
    table.group("Output");
    table.integer(layer, "layer", {.value = "L", .help = "the layer whose cache to show"});
    table.integer(head, "head", {.value = "H", .help = "the head whose columns to show"});
  }
};

std::size_t checked(const char* option, std::size_t value, std::size_t size) {
  if (value >= size)
    throw UsageError(fmt::format("--{}: expected a number from 0 to {}, found {}; count from 0",
                                 option, size - 1, value));
  return value;
}

std::string triangle_json(const LowerTriangle& rows) {
  std::string text;
  for (const auto& row : rows) {
    std::string cells;
    for (const double x : row) cells += (cells.empty() ? "" : ",") + json_number(x);
    text += fmt::format("{}[{}]", text.empty() ? "" : ",", cells);
  }
  return '[' + text + ']';
}

std::string vector_text(const std::vector<double>& row, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t c = begin; c < end; ++c)
    text += fmt::format("{}{:6.2f}", c == begin ? "" : " ", row[c]);
  return text;
}

int show_attention(const AttentionOptions& options) {
  if (options.svg) {
    refuse_overwriting("svg", *options.svg, {{"MODEL", options.operands.model}});
    check_ending("svg", *options.svg, {".svg"});
    check_writable(*options.svg);
  }
  Inspection inspection(read_model_as<double>(options.operands.model), options.operands.sentence);
  std::vector<AttentionMap> maps = attention_maps(inspection);
  if (options.layer) {
    const std::size_t layer = checked("layer", *options.layer, inspection.config().n_layer);
    std::erase_if(maps, [&](const AttentionMap& m) { return m.layer != layer; });
  }
  if (options.head) {
    const std::size_t head = checked("head", *options.head, inspection.config().n_head);
    std::erase_if(maps, [&](const AttentionMap& m) { return m.head != head; });
  }
  std::vector<std::string> tokens;
  for (std::size_t t = 0; t < inspection.positions(); ++t) tokens.push_back(inspection.token(t));
  if (options.svg) {
    write_output(*options.svg, attention_svg(maps, tokens));
    if (!options.json) return 0;
  }
  std::string text;
  if (options.json) {
    std::string words;
    for (const std::string& token : tokens) words += (words.empty() ? "" : ",") + json_quote(token);
    for (const AttentionMap& map : maps)
      text += fmt::format(R"({}{{"layer":{},"head":{},"scores":{},"weights":{}}})",
                          text.empty() ? "" : ",", map.layer, map.head, triangle_json(map.scores),
                          triangle_json(map.weights));
    print(fmt::format("{{\"tokens\":[{}],\"maps\":[{}]}}\n", words, text));
    return 0;
  }
  const bool color = color_wanted(options.color);
  for (const AttentionMap& map : maps)
    text += (text.empty() ? "" : "\n") + heat_text(map, tokens, color);
  print_styled(text + '\n' + heat_legend(color));
  return 0;
}

int show_cache(const CacheOptions& options) {
  Inspection inspection(read_model_as<double>(options.operands.model), options.operands.sentence);
  const GptConfig& config = inspection.config();
  const std::size_t layer = checked("layer", options.layer, config.n_layer);
  const std::size_t head = checked("head", options.head, config.n_head);
  const std::size_t begin = head * config.head_dim(), end = begin + config.head_dim();
  const auto steps = cache_growth(inspection);
  std::string text = fmt::format("layer {}, head {}: columns {} to {} of {}\n", layer, head, begin,
                                 end - 1, config.n_embd);
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const auto& now = steps[t].layers[layer];
    text += fmt::format("\nafter token {}, {}: {} key{} and value{} in the cache\n", t,
                        shown_token(steps[t].token), t + 1, t == 0 ? "" : "s", t == 0 ? "" : "s");
    Table table({1});
    table.row({"", "token", "key", "value", "score", "weight"});
    for (std::size_t p = 0; p <= t; ++p)
      table.row({fmt::format("{}", p), shown_token(steps[p].token),
                 vector_text(now.keys[p], begin, end), vector_text(now.values[p], begin, end),
                 fmt::format("{:.4f}", now.scores[head][p]),
                 fmt::format("{:.4f}", now.weights[head][p])});
    text += table.text();
  }
  print(text);
  return 0;
}

}  // namespace

const Command inspect_attention_command = make_command<show_attention>(
    "inspect attention", "where each head looks",
    "Prints a map for each layer and head: row by row a position, column by column what it looks "
    "back at, each row of sum 1. The last line says what the marks mean.",
    {"glassbox inspect attention cats.safetensors 'the cat sat on the mat'",
     "glassbox inspect attention cats.safetensors 'the cat sat' --layer 0 --svg heads.svg"});

const Command inspect_cache_command = make_command<show_cache>(
    "inspect cache", "the cache of keys and values as it grows",
    "Feeds the sentence token by token and shows what one head's cache then holds: the keys and "
    "values of all tokens so far, and the scores and weights that the newest token's query gives "
    "them.",
    {"glassbox inspect cache cats.safetensors 'the cat eats'",
     "glassbox inspect cache cats.safetensors 'the cat eats' --layer 1 --head 3"});

}  // namespace glassbox::cli
