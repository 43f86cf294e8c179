// glassbox inspect params, gradients, gradcheck, neighbours
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

#include "base/error.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/view/text.h"
#include "inspect/embedding_map.h"
#include "inspect/gradcheck.h"
#include "inspect/gradients.h"

namespace glassbox::cli {

namespace {

// Above so many parameters gradcheck would take hours, so it draws some of them unless told.
constexpr std::size_t kCheckedWhole = 200000, kSampled = 2000;

std::string summaries(const ParameterLayout& layout, const double* values, bool gradient) {
  Table table;
  table.row({gradient ? "gradient of" : "parameter", "shape", "mean", "std", "norm", "largest"});
  for (const ParameterSpec& spec : layout.parameters()) {
    const ParameterSummary s = summarize_parameter(spec, values);
    table.row({spec.name, fmt::format("[{}, {}]", spec.rows, spec.cols), rounded(s.mean),
               rounded(s.std), rounded(s.norm), rounded(s.largest)});
  }
  return table.text();
}

// The entries of `name`: one as its number, more as a table or as CSV.
void print_entries(const std::vector<ParameterElement>& all, bool csv, const char* what) {
  if (csv) {
    std::string text = fmt::format("name,row,column,{}\n", what);
    for (const ParameterElement& e : all)
      text += fmt::format("{},{},{},{}\n", e.spec->name, e.row, e.col, exact(e.value));
    print(text);
    return;
  }
  std::string text;
  for (const ParameterElement& e : all) text += fmt::format("{} {}\n", e.name(), exact(e.value));
  print(text);
}

}  // namespace

int inspect_params_command(const Arguments& arguments) {
  const auto model = read_model_as<double>(arguments.operand(0));
  const ParameterLayout& layout = model.weights.layout();
  const double* values = model.weights.data();
  if (!arguments.operand(1).empty() || arguments.given("csv")) {
    print_entries(parameter_elements(layout, values, arguments.operand(1)), arguments.given("csv"),
                  "value");
    return 0;
  }
  const GptConfig& c = model.config();
  print(fmt::format("{} parameters: {} layers, width {}, {} heads, block {}, vocabulary {}\n\n",
                    c.parameter_count(), c.n_layer, c.n_embd, c.n_head, c.block_size,
                    c.vocab_size));
  print(summaries(layout, values, false));
  Table table;
  table.row({"\nlargest entries", "value"});
  for (const ParameterElement& e : largest_elements(layout, values, arguments.integer("top")))
    table.row({e.name(), rounded(e.value)});
  print(table.text());
  return 0;
}

int inspect_gradients_command(const Arguments& arguments) {
  Inspection inspection(read_model_as<double>(arguments.operand(0)), arguments.operand(1));
  const ParameterLayout& layout = inspection.layout();
  const double* gradient = parameter_gradients(inspection);
  const std::string& name = arguments.operand(2);
  if (arguments.given("csv") || !name.empty()) {
    print_entries(parameter_elements(layout, gradient, name), arguments.given("csv"), "gradient");
    return 0;
  }
  Table losses({1, 2});
  losses.row({"position", "token", "next", "loss", "chance"});
  for (std::size_t t = 0; t < inspection.positions(); ++t)
    losses.row({fmt::format("{}", t), escape_controls(inspection.token(t)),
                escape_controls(inspection.target(t)), rounded(inspection.loss_at(t)),
                fmt::format("{:.2f}%", 100 * std::exp(-inspection.loss_at(t)))});
  losses.row({"mean", "", "", rounded(inspection.loss().data())});
  print(losses.text() + '\n');

  Table places;
  places.row({"part of the model", "gradient norm"});
  for (const auto& place : norms_by_place(layout, gradient))
    places.row({place.place, rounded(place.norm)});
  print(places.text() + '\n' + summaries(layout, gradient, true) + '\n');

  const double delta = arguments.number("nudge");
  Table table;
  table.row({"largest gradients", "gradient", "value",
             fmt::format("predicted by +{}", exact(delta)), "measured"});
  for (const ParameterElement& e : largest_elements(layout, gradient, arguments.integer("top"))) {
    const ParameterNudge n = nudge_parameter(inspection, e, delta);
    const double value = inspection.tape().data(static_cast<NodeId>(e.spec->index(e.row, e.col)));
    table.row({e.name(), rounded(e.value), rounded(value), with_sign(n.predicted),
               with_sign(n.measured)});
  }
  print(table.text());
  return 0;
}

int inspect_gradcheck_command(const Arguments& arguments) {
  Inspection inspection(read_model_as<double>(arguments.operand(0)), arguments.operand(1));
  GradcheckOptions options;
  const std::size_t parameters = inspection.config().parameter_count();
  if (arguments.given("sample")) {
    options.sample = arguments.integer("sample");
  } else if (parameters > kCheckedWhole) {
    options.sample = kSampled;
    print_status(fmt::format("{} of {} parameters, drawn evenly; --sample {} checks all of them",
                             kSampled, parameters, parameters));
  }
  options.seed = static_cast<std::uint32_t>(arguments.integer("seed"));
  options.worst = arguments.integer("worst");
  const bool terminal = isatty(2) != 0;
  using Clock = std::chrono::steady_clock;
  const auto started = Clock::now();
  auto shown = started;
  options.progress = [&](std::size_t done, std::size_t all) {
    const auto now = Clock::now();
    if (now - shown < std::chrono::milliseconds(terminal ? 100 : 15000)) return;
    shown = now;
    const double left = std::chrono::duration<double>(now - started).count() *
                        static_cast<double>(all - done) / static_cast<double>(done);
    const std::string line =
        fmt::format("{} of {} {}% ETA {:.0f}s", done, all, 100 * done / all, left);
    if (terminal)
      fmt::print(stderr, "\r{:48}\r{}", "", line);
    else
      print_status(line);
  };
  const Gradcheck result = gradcheck(inspection, parameter_gradients(inspection), options);
  if (terminal) fmt::print(stderr, "\r{:48}\r", "");

  Table table;
  table.row({"worst first", "analytic", "numeric", "difference", "allowed"});
  for (const auto& e : result.worst)
    table.row({e.name, fmt::format("{:.12g}", e.analytic), fmt::format("{:.12g}", e.numeric),
               fmt::format("{:.1e}", std::abs(e.analytic - e.numeric)),
               fmt::format("{:.1e}", e.tolerance)});
  print(table.text());
  if (result.on_a_kink > 0)
    print(fmt::format("{} on a kink of relu, checked beside it\n", result.on_a_kink));
  print(fmt::format("checked {} of {}: {}\n", result.checked, result.parameters,
                    result.ok() ? "ok" : fmt::format("{} wrong", result.failed)));
  return result.ok() ? 0 : 1;
}

int inspect_neighbours_command(const Arguments& arguments) {
  const auto model = read_model_as<double>(arguments.operand(0));
  const auto ids = model.tokenizer.encode(arguments.operand(1));
  if (ids.size() != 1)
    throw UsageError(fmt::format("inspect neighbours: expected one word, found {}", ids.size()));
  Table table;
  table.row({"word", "cosine"});
  for (const auto& word : NearestWords(model).of(ids[0], arguments.integer("top")))
    table.row(
        {escape_controls(model.tokenizer.word(word.word)), fmt::format("{:.4f}", word.cosine)});
  print(table.text());
  return 0;
}

}  // namespace glassbox::cli
