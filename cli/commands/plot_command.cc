// glassbox plot LOG...
#include <fmt/core.h>

#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/view/chart.h"

namespace glassbox::cli {

namespace {

struct PlotOptions {
  std::vector<std::string> logs;
  std::optional<std::string> out;
  bool ascii = false;
  std::size_t columns = 80;
  std::string column = "loss";
  std::optional<std::uint64_t> vocab_size;

  void visit(OptionTable& table) {
    table.operand(logs, "LOG...", "logs of runs, as train --log-file writes them");
    table.group("Output");
    table.file(out, "out",
               {.letter = 'o', .value = "FILE", .help = "write the curves to FILE as SVG"});
    table.flag(ascii, "ascii", {.help = "draw them in the terminal"});
    table.integer(columns, "columns",
                  {.value = "N",
                   .range = between(40, 400),
                   .help = "width of the drawing",
                   .only_with = "ascii"});
    table.text(
        column, "column",
        {.value = "NAME", .help = "what to draw: loss (and with it val_loss), lr or tokens"});
    table.integer(vocab_size, "vocab-size",
                  {.value = "N",
                   .range = at_least(1),
                   .help = "draw the loss of a random guess among N words"});
  }
};

int plot(const PlotOptions& options) {
  if (!options.out && !options.ascii)
    throw UsageError("plot: expected --out FILE, --ascii or both, found neither");
  if (options.vocab_size && options.column != "loss")
    throw UsageError(fmt::format("--vocab-size: expected --column loss, found {}; leave one out",
                                 shortened(options.column)));
  if (options.out) {
    for (const std::string& log : options.logs)
      refuse_overwriting("out", *options.out, {{"LOG", log}});
    check_ending("out", *options.out, {".svg"});
    check_writable(*options.out);
  }
  const std::string& column = options.column;
  Chart chart{column, column == "loss" ? "nats per token" : "", {}};
  for (const std::string& path : options.logs) {
    const Log log = read_log(path);
    const auto points = log.columns.find(column);
    if (points == log.columns.end()) {
      std::vector<std::string> names;
      for (const auto& [name, values] : log.columns) names.push_back(shortened(name));
      throw FormatError(fmt::format("{}: expected a column {}, found {}; choose with --column",
                                    path, quotation(column), listed(names)));
    }
    chart.series.push_back({path, points->second});
    if (const auto held_out = log.columns.find("val_loss");
        column == "loss" && held_out != log.columns.end())
      chart.series.push_back({path + " validation", held_out->second});
  }
  if (options.vocab_size) {
    chart.line = std::log(static_cast<double>(*options.vocab_size));
    chart.line_name = fmt::format("random guess {:.2f}", *chart.line);
  }
  if (options.out) write_output(*options.out, chart_svg(chart));
  if (options.ascii) print(chart_text(chart, options.columns));
  return 0;
}

}  // namespace

const Command plot_command =
    make_command<plot>("plot", "draw the curves of logs",
                       "Draws a column of one or several logs over the steps: the mean of each "
                       "stretch of steps in a band from its least to its greatest.",
                       {"glassbox plot run1.csv run2.csv --out loss.svg",
                        "glassbox plot run.jsonl --ascii --vocab-size 600"});

}  // namespace glassbox::cli
