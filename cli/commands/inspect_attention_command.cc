// glassbox inspect attention, cache
#include <fmt/core.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/view/heat.h"
#include "cli/view/svg.h"
#include "cli/view/text.h"
#include "inspect/attention_map.h"

namespace glassbox::cli {

namespace {

std::size_t checked(const Arguments& arguments, const char* option, std::size_t size) {
  const std::size_t value = arguments.integer(option);
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

}  // namespace

int inspect_attention_command(const Arguments& arguments) {
  if (arguments.given("svg"))
    refuse_overwriting("svg", arguments.text("svg"), {{"MODEL", arguments.operand(0)}});
  Inspection inspection(read_model_as<double>(arguments.operand(0)), arguments.operand(1));
  std::vector<AttentionMap> maps = attention_maps(inspection);
  if (arguments.given("layer")) {
    const std::size_t layer = checked(arguments, "layer", inspection.config().n_layer);
    std::erase_if(maps, [&](const AttentionMap& m) { return m.layer != layer; });
  }
  if (arguments.given("head")) {
    const std::size_t head = checked(arguments, "head", inspection.config().n_head);
    std::erase_if(maps, [&](const AttentionMap& m) { return m.head != head; });
  }
  std::vector<std::string> tokens;
  for (std::size_t t = 0; t < inspection.positions(); ++t) tokens.push_back(inspection.token(t));
  if (arguments.given("svg")) {
    write_file(arguments.text("svg"), attention_svg(maps, tokens));
    if (!arguments.given("json")) return 0;
  }
  std::string text;
  if (arguments.given("json")) {
    std::string words;
    for (const std::string& token : tokens) words += (words.empty() ? "" : ",") + json_quote(token);
    for (const AttentionMap& map : maps)
      text += fmt::format(R"({}{{"layer":{},"head":{},"scores":{},"weights":{}}})",
                          text.empty() ? "" : ",", map.layer, map.head, triangle_json(map.scores),
                          triangle_json(map.weights));
    print(fmt::format("{{\"tokens\":[{}],\"maps\":[{}]}}\n", words, text));
    return 0;
  }
  const bool color = color_wanted(arguments.text("color"));
  for (const AttentionMap& map : maps)
    text += (text.empty() ? "" : "\n") + heat_text(map, tokens, color);
  print(text + '\n' + heat_legend(color));
  return 0;
}

int inspect_cache_command(const Arguments& arguments) {
  Inspection inspection(read_model_as<double>(arguments.operand(0)), arguments.operand(1));
  const GptConfig& config = inspection.config();
  const std::size_t layer = checked(arguments, "layer", config.n_layer);
  const std::size_t head = checked(arguments, "head", config.n_head);
  const std::size_t begin = head * config.head_dim(), end = begin + config.head_dim();
  const auto steps = cache_growth(inspection);
  std::string text = fmt::format("layer {}, head {}: columns {} to {} of {}\n", layer, head, begin,
                                 end - 1, config.n_embd);
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const auto& now = steps[t].layers[layer];
    text +=
        fmt::format("\nafter token {}, {}: {} key{} and value{} in the cache\n", t,
                    escape_controls(steps[t].token), t + 1, t == 0 ? "" : "s", t == 0 ? "" : "s");
    Table table({1});
    table.row({"", "token", "key", "value", "score", "weight"});
    for (std::size_t p = 0; p <= t; ++p)
      table.row({fmt::format("{}", p), escape_controls(steps[p].token),
                 vector_text(now.keys[p], begin, end), vector_text(now.values[p], begin, end),
                 fmt::format("{:.4f}", now.scores[head][p]),
                 fmt::format("{:.4f}", now.weights[head][p])});
    text += table.text();
  }
  print(text);
  return 0;
}

}  // namespace glassbox::cli
