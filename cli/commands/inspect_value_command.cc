// glassbox inspect value MODEL SENTENCE NAME
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/view/text.h"
#include "inspect/lookup.h"

namespace glassbox::cli {

namespace {

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
    table.row({"  " + escape_controls(all[i].name), all[i].op, rounded(all[i].local),
               rounded(all[i].data), rounded(all[i].grad)});
  return fmt::format("\n{}: {}\n", title, all.size()) + table.text() + rest(all.size(), limit);
}

}  // namespace

int inspect_value_command(const Arguments& arguments) {
  Inspection inspection(read_model_as<double>(arguments.operand(0)), arguments.operand(1));
  const NamedScalar scalar = find_scalar(inspection, arguments.operand(2));
  std::size_t limit = arguments.integer("limit");
  if (limit == 0) limit = std::numeric_limits<std::size_t>::max();

  Table table;
  table.row({"name", escape_controls(scalar.name)});
  table.row({"data", exact(scalar.value.data())});
  table.row({"gradient", exact(scalar.value.grad())});
  table.row({"operation", scalar.value.op()});
  std::string text = table.text();
  text += neighbours("children", "d this / d child", children_of(scalar.value), limit);
  text += neighbours("parents", "d parent / d this", parents_of(scalar.value), limit);
  if (arguments.given("expand")) {
    const auto steps = plain_operations(scalar.value);
    Table plain({0, 1});
    for (const PlainOperation& step : steps) {
      std::string operands;
      for (const std::string& operand : step.operands)
        operands += (operands.empty() ? "" : ", ") + escape_controls(operand);
      if (plain.empty()) plain.row({"  result", "operation", "data", "gradient"});
      plain.row({"  " + escape_controls(step.name), fmt::format("{}({})", step.op, operands),
                 exact(step.data), rounded(step.grad)});
      if (plain.size() > limit) break;
    }
    text += fmt::format("\nsingle operations: {}\n", steps.size()) + plain.text() +
            rest(steps.size(), limit);
  }
  print(text);
  return 0;
}

}  // namespace glassbox::cli
