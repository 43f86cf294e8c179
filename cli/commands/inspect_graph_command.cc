// glassbox inspect graph MODEL SENTENCE, or --expr FORMULA NAME=NUMBER...
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <map>

#include "base/file.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/view/svg.h"
#include "cli/view/text.h"
#include "inspect/expression.h"
#include "inspect/graph.h"

namespace glassbox::cli {

namespace {

std::map<std::string, double> numbers_of(std::span<const std::string> words) {
  std::map<std::string, double> numbers;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    double value = 0;
    const char* const begin = word.data() + std::min(equals, word.size() - 1) + 1;
    const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
    if (equals == 0 || equals == std::string::npos || error != std::errc() ||
        end != word.data() + word.size() || !std::isfinite(value))
      throw UsageError(
          fmt::format("--expr: expected a name and a number behind the formula, found '{}'; write "
                      "for instance a=2",
                      word));
    if (!numbers.emplace(word.substr(0, equals), value).second)
      throw UsageError(fmt::format("--expr: expected each name once, found {} again", word));
  }
  return numbers;
}

void deliver(const Arguments& arguments, const Drawing& drawing) {
  const std::string text = arguments.text("format") == "svg" ? as_svg(drawing) : as_dot(drawing);
  if (arguments.given("out")) {
    write_file(arguments.text("out"), text);
  } else {
    print(text);
  }
}

std::string tape_text(Tape<double>& tape) {
  Table table({1, 2, 3});
  table.row({"node", "name", "operation", "operands", "data", "gradient"});
  for (const TapeRow& row : tape_rows(tape)) {
    std::string operands;
    for (const std::string& operand : row.operands)
      operands += (operands.empty() ? "" : ", ") + operand;
    table.row({fmt::format("{}", row.node), escape_controls(row.name), row.op, operands,
               rounded(row.data), rounded(row.grad)});
  }
  return table.text();
}

std::string tape_text(const std::vector<MatrixRow>& runs) {
  Table table({1, 2, 5});
  table.row({"run", "name", "operation", "scalars", "operations", "operands"});
  std::size_t scalars = 0, operations = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string operands;
    for (const std::size_t operand : runs[i].operands)
      operands += fmt::format("{}{}", operands.empty() ? "" : ", ", operand);
    scalars += runs[i].rows * runs[i].cols;
    operations += runs[i].plain_nodes;
    table.row({fmt::format("{}", i), runs[i].name, runs[i].op,
               fmt::format("{} x {}", runs[i].rows, runs[i].cols),
               runs[i].plain_nodes > 0 ? fmt::format("{}", runs[i].plain_nodes) : "", operands});
  }
  return table.text() + fmt::format("{} runs, {} scalars, {} operations of micrograd's kind\n",
                                    runs.size(), scalars, operations);
}

}  // namespace

int inspect_graph_command(const Arguments& arguments) {
  if (arguments.given("around") && (arguments.given("expr") || arguments.given("tape")))
    throw UsageError("--around: expected it alone, found --expr or --tape as well; leave one out");
  if (arguments.given("out")) {
    if (!arguments.given("expr"))
      refuse_overwriting("out", arguments.text("out"), {{"MODEL", arguments.operand(0)}});
    check_writable(arguments.text("out"));
  }
  if (arguments.given("expr")) {
    Tape<double> tape;
    const auto root =
        evaluate_expression(tape, arguments.text("expr"), numbers_of(arguments.operands_from(0)));
    root.backward();
    if (arguments.given("tape")) {
      print(tape_text(tape));
    } else {
      deliver(arguments,
              drawing_of(graph_around(root, {.depth = tape.size(), .width = tape.size()}),
                         arguments.text("expr")));
    }
    return 0;
  }
  if (arguments.operand(0).empty() || arguments.operands_from(1).empty() ||
      arguments.operand(1).empty())
    throw UsageError(
        "inspect graph: expected MODEL and SENTENCE, or --expr; see glassbox help inspect graph");
  if (const auto extra = arguments.operands_from(2); !extra.empty() && !extra[0].empty())
    throw UsageError(fmt::format(
        "inspect graph: expected no more than MODEL and SENTENCE without --expr, found '{}'",
        extra[0]));
  Inspection inspection(read_model_as<double>(arguments.operand(0)), arguments.operand(1));
  if (arguments.given("around")) {
    const NamedScalar scalar = find_scalar(inspection, arguments.text("around"));
    const GraphLimits limits{.depth = arguments.integer("depth"),
                             .width = arguments.integer("width")};
    deliver(arguments, drawing_of(graph_around(scalar.value, limits), scalar.name));
  } else if (arguments.given("tape")) {
    print(tape_text(matrix_rows(inspection)));
  } else {
    deliver(arguments, drawing_of(matrix_rows(inspection), arguments.operand(1)));
  }
  return 0;
}

}  // namespace glassbox::cli
