// glassbox inspect value MODEL SENTENCE NAME
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/view/text.h"
#include "inspect/graph.h"

namespace glassbox::cli {

namespace {

struct ValueOptions {
  SentenceOperands operands;
  std::string name;
  bool expand = false;
  std::size_t limit = 20;

  void visit(OptionTable& table) {
    operands.visit(table);
    table.operand(name, "NAME",
                  "a scalar: embedding@2[5], layers.0.attention.weights@2[1][0], logits@2[cat], "
                  "loss");
    table.group("Output");
    table.flag(expand, "expand",
               {.help = "show the single operations behind it: products, partial sums, "
                        "exponentials"});
    table.integer(limit, "limit", {.value = "N", .help = "show N of each list; 0 shows all"});
  }
};

// "3 more: --limit 0 shows all"
std::string rest(std::size_t count, std::size_t limit) {
  return count > limit ? fmt::format("  and {} more; --limit 0 shows all\n", count - limit) : "";
}

std::string neighbours(const char* title, const char* local, const std::vector<GraphNeighbour>& all,
                       std::size_t limit) {
  if (all.empty()) return fmt::format("\n{}: none\n", title);
  Table table({0, 1});
  table.row({"  name", "op", local, "data", "gradient"});
  for (std::size_t i = 0; i < std::min(limit, all.size()); ++i)
    table.row({"  " + shown_name(all[i].name), all[i].op, rounded(all[i].local),
               rounded(all[i].data), rounded(all[i].grad)});
  return fmt::format("\n{}: {}\n", title, all.size()) + table.text() + rest(all.size(), limit);
}

int show_value(const ValueOptions& options) {
  Inspection inspection(read_model_as<double>(options.operands.model), options.operands.sentence);
  const NamedScalar scalar = find_scalar(inspection, options.name);
  std::size_t limit = options.limit;
  if (limit == 0) limit = std::numeric_limits<std::size_t>::max();

  Table table;
  table.row({"name", shown_name(scalar.name)});
  if (scalar.token)
    table.row({inspection.tokenizer().kind().unit,
               shown_token(inspection.tokenizer().word(*scalar.token))});
  table.row({"data", exact(scalar.value.data())});
  table.row({"gradient", exact(scalar.value.grad())});
  table.row({"operation", scalar.value.op()});
  std::string text = table.text();
  text += neighbours("children", "d this / d child", children_of(scalar.value), limit);
  text += neighbours("parents", "d parent / d this", parents_of(scalar.value), limit);
  if (options.expand) {
    const auto steps = plain_operations(scalar.value);
    Table plain({0, 1});
    for (const TapeRow& step : steps) {
      std::string operands;
      for (const std::string& operand : step.operands)
        operands += (operands.empty() ? "" : ", ") + shown_name(operand);
      if (plain.empty()) plain.row({"  result", "operation", "data", "gradient"});
      plain.row({"  " + shown_name(step.name), fmt::format("{}({})", step.op, operands),
                 exact(step.data), rounded(step.grad)});
      if (plain.size() > limit) break;
    }
    text += fmt::format("\nsingle operations: {}\n", steps.size()) + plain.text() +
            rest(steps.size(), limit);
  }
  print(text);
  return 0;
}

}  // namespace

const Command inspect_value_command = make_command<show_value>(
    "inspect value", "any scalar of a computation, by name",
    "Prints one scalar of the sentence's computation: its data, its gradient (d loss / d scalar), "
    "its operation, its children with the local derivatives, its parents. Names: NAME[row][column] "
    "is a parameter, NAME@position[index] a value; inspect graph MODEL SENTENCE --tape lists them.",
    {"glassbox inspect value cats.safetensors 'the cat sat' 'logits@2[sat]'",
     "glassbox inspect value cats.safetensors 'the cat sat' 'layers.0.attention.q@2[5]' --expand"});

}  // namespace glassbox::cli
