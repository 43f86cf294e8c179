// glassbox inspect graph MODEL SENTENCE, or --expr FORMULA NAME=NUMBER...
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <map>

#include "base/file.h"
#include "base/quote.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/view/svg.h"
#include "cli/view/text.h"
#include "inspect/expression.h"
#include "inspect/graph.h"

namespace glassbox::cli {

namespace {

enum class GraphFormat { dot, svg };

struct GraphOptions {
  std::vector<std::string> operands;  // MODEL SENTENCE, or with --expr NAME=NUMBER...
  std::optional<std::string> around, expr, out;
  std::size_t depth = 1, width = 8;
  bool tape = false;
  std::optional<GraphFormat> format;

  void visit(OptionTable& table) {
    table.operand(operands, "[MODEL]", "model file, as train writes it; with --expr NAME=NUMBER");
    table.sentence(operands, "[SENTENCE]", kSentenceHelp);
    table.operand(operands, "[NAME=NUMBER...]", "with --expr: the numbers of its names");
    table.group("Graph");
    table.text(around, "around",
               {.value = "NAME", .help = "draw this scalar with what is around it"});
    table.integer(depth, "depth",
                  {.value = "D",
                   .range = between(1, 64),
                   .help = "steps from it, to children and to parents",
                   .only_with = "around"});
    table.integer(width, "width",
                  {.value = "N",
                   .range = at_least(1),
                   .help = "neighbours of each scalar, those that the most gradient flows through",
                   .only_with = "around"});
    static const std::string help =
        "draw a formula instead, its numbers behind it: a=2 b=-3; it may call " +
        expression_functions();
    table.text(expr, "expr", {.value = "FORMULA", .help = help.c_str()});
    table.flag(tape, "tape", {.help = "the tape as text, in the order in which it was recorded"});
    table.group("Output");
    table.choice(
        format, "format",
        {.value = "dot|svg",
         .help = "for Graphviz, or a picture; without it, as the ending of --out says, else "
                 "dot",
         .not_with = "tape"});
    table.file(out, "out", {.letter = 'o', .value = "FILE", .help = "write it to FILE"});
  }
  GraphFormat chosen_format() const {
    return format.value_or(out && out->ends_with(".svg") ? GraphFormat::svg : GraphFormat::dot);
  }
};

std::map<std::string, double> numbers_of(std::span<const std::string> words) {
  std::map<std::string, double> numbers;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    double value = 0;
    const char* const begin = word.data() + std::min(equals, word.size() - 1) + 1;
    const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
    if (equals == 0 || equals == std::string::npos || error != std::errc() ||
        end != word.data() + word.size() || !std::isfinite(value))
      throw UsageError(
          fmt::format("--expr: expected a name and a number behind the formula, found '{}'; write "
                      "for instance a=2",
                      shortened(word)));
    if (!numbers.emplace(word.substr(0, equals), value).second)
      throw UsageError(fmt::format("--expr: expected each name once, found {} again", word));
  }
  return numbers;
}

void deliver(const GraphOptions& options, const std::string& text) {
  if (options.out) {
    write_output(*options.out, text);
  } else {
    print(text);
  }
}

void deliver(const GraphOptions& options, const Drawing& drawing) {
  deliver(options, options.chosen_format() == GraphFormat::svg ? as_svg(drawing) : as_dot(drawing));
}

std::string tape_text(Tape<double>& tape) {
  Table table({1, 2, 3});
  table.row({"node", "name", "operation", "operands", "data", "gradient"});
  for (const TapeRow& row : tape_rows(tape)) {
    std::string operands;
    for (const std::string& operand : row.operands)
      operands += (operands.empty() ? "" : ", ") + shown_name(operand);
    table.row({fmt::format("{}", row.node), shown_name(row.name), row.op, operands,
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

int draw_graph(const GraphOptions& options) {
  if (options.around && (options.expr || options.tape))
    throw UsageError("--around: expected it alone, found --expr or --tape as well; leave one out");
  if (options.out) {
    if (!options.expr)
      refuse_overwriting("out", *options.out,
                         {{"MODEL", options.operands.empty() ? "" : options.operands[0]}});
    if (options.tape)
      check_ending("out", *options.out, {".txt"});
    else
      check_ending("out", *options.out, {".svg", ".dot", ".gv"});
    check_writable(*options.out);
  }
  if (options.expr) {
    Tape<double> tape;
    const auto root = evaluate_expression(tape, *options.expr, numbers_of(options.operands));
    root.backward();
    if (options.tape) {
      deliver(options, tape_text(tape));
    } else {
      deliver(options, drawing_of(graph_around(root, {.depth = tape.size(), .width = tape.size()}),
                                  *options.expr));
    }
    return 0;
  }
  if (options.operands.size() < 2)
    throw UsageError(
        "inspect graph: expected MODEL and SENTENCE, or --expr; see glassbox help inspect graph");
  if (options.operands.size() > 2)
    throw UsageError(fmt::format(
        "inspect graph: expected no more than MODEL and SENTENCE without --expr, found '{}'",
        shortened(options.operands[2])));
  Inspection inspection(read_model_as<double>(options.operands[0]), options.operands[1]);
  if (options.around) {
    const NamedScalar scalar = find_scalar(inspection, *options.around);
    const GraphLimits limits{.depth = options.depth, .width = options.width};
    deliver(options, drawing_of(graph_around(scalar.value, limits), scalar.name));
  } else if (options.tape) {
    deliver(options, tape_text(matrix_rows(inspection)));
  } else {
    deliver(options, drawing_of(matrix_rows(inspection), options.operands[1]));
  }
  return 0;
}

}  // namespace

const Command inspect_graph_command = make_command<draw_graph>(
    "inspect graph", "draw a computation",
    "Draws the scalars around one, or a formula, with data, gradients and local derivatives; "
    "without --around the whole sentence, every run of scalars as one box that counts the "
    "operations in it.",
    {"glassbox inspect graph --expr 'tanh(a*b + c)' a=2 b=-3 c=10 --format svg --out tanh.svg",
     "glassbox inspect graph cats.safetensors 'the cat' --around 'layers.0.attention.q@1[5]' "
     "--depth 2"});

}  // namespace glassbox::cli
