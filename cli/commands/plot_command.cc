// glassbox plot LOG...
#include <fmt/core.h>

#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/view/chart.h"

namespace glassbox::cli {

int plot_command(const Arguments& arguments) {
  if (!arguments.given("out") && !arguments.given("ascii"))
    throw UsageError("plot: expected --out FILE, --ascii or both, found neither");
  if (arguments.given("out")) {
    for (const std::string& log : arguments.operands_from(0))
      refuse_overwriting("out", arguments.text("out"), {{"LOG", log}});
    check_writable(arguments.text("out"));
  }
  const std::string& column = arguments.text("column");
  Chart chart{column, column == "loss" || column == "val_loss" ? "nats per token" : "", {}};
  for (const std::string& path : arguments.operands_from(0)) {
    const Log log = read_log(path);
    const auto points = log.columns.find(column);
    if (points == log.columns.end()) {
      std::string names;
      for (const auto& [name, values] : log.columns) names += (names.empty() ? "" : ", ") + name;
      throw FormatError(fmt::format("{}: expected a column {}, found {}; choose with --column",
                                    path, column, names));
    }
    chart.series.push_back({path, points->second});
  }
  if (arguments.given("vocab-size")) {
    chart.line = std::log(arguments.number("vocab-size"));
    chart.line_name = fmt::format("random guess {:.2f}", *chart.line);
  }
  if (arguments.given("out")) write_file(arguments.text("out"), chart_svg(chart));
  if (arguments.given("ascii")) print(chart_text(chart, arguments.integer("columns")));
  return 0;
}

}  // namespace glassbox::cli
