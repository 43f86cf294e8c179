// glassbox inspect params, gradients, gradcheck, neighbours
#include <fmt/core.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/view/text.h"
#include "inspect/embedding_map.h"
#include "inspect/gradcheck.h"
#include "inspect/gradients.h"
#include "inspect/lookup.h"

namespace glassbox::cli {

namespace {

// Above so many parameters gradcheck would take hours, so it draws some of them unless told.
constexpr std::size_t kCheckedWhole = 200000, kSampled = 2000;

const char* const kCsvHelp = "every entry as comma-separated values: name, row, column, value";

struct ParamsOptions {
  std::string model, name;
  TopOption top;
  bool csv = false;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", kModelHelp);
    table.operand(name, "[NAME]", kEntryHelp);
    table.group("Output");
    top.visit(table, "how many to show", "csv NAME");
    table.flag(csv, "csv", {.help = kCsvHelp});
  }
};

struct GradientsOptions {
  SentenceOperands operands;
  std::string name;
  TopOption top;
  double nudge = 0.01;
  bool csv = false;

  void visit(OptionTable& table) {
    operands.visit(table);
    table.operand(name, "[NAME]", kEntryHelp);
    table.group("Output");
    top.visit(table, "how many to show", "csv NAME");
    table.number(nudge, "nudge",
                 {.value = "X",
                  .range = above(0),
                  .help = "move each shown entry by X, and show the loss's change as predicted and "
                          "as measured",
                  .not_with = "csv NAME"});
    table.flag(csv, "csv", {.help = kCsvHelp});
  }
};

struct GradcheckCommandOptions {
  SentenceOperands operands;
  std::size_t worst = 5;
  std::optional<std::size_t> sample;
  SeedOption seed;

  void visit(OptionTable& table) {
    operands.visit(table);
    table.group("Output");
    table.integer(worst, "worst",
                  {.value = "N", .range = at_least(1), .help = "how many of the worst to show"});
    table.group("Check");
    table.integer(sample, "sample",
                  {.value = "N",
                   .range = at_least(1),
                   .help = "check N parameters drawn by --seed; without it all, or 2000 of "
                           "more than 200000"});
    seed.visit(table, "which ones --sample draws");
  }
};

struct NeighboursOptions {
  std::string model, word;
  TopOption top;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", kModelHelp);
    table.operand(word, "WORD", "a word that the model knows");
    table.group("Output");
    top.visit(table);
  }
};

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
  constexpr std::size_t kPiece = 1 << 16;  // bytes: a large model has gigabytes of entries
  std::string text = csv ? fmt::format("name,row,column,{}\n", what) : "";
  for (const ParameterElement& e : all) {
    text += csv ? fmt::format("{},{},{},{}\n", e.spec->name, e.row, e.col, exact(e.value))
                : fmt::format("{} {}\n", e.name(), exact(e.value));
    if (text.size() < kPiece) continue;
    print(text);
    text.clear();
  }
  print(text);
}

int show_parameters(const ParamsOptions& options) {
  const auto model = read_model_as<double>(options.model);
  const ParameterLayout& layout = model.weights.layout();
  const double* values = model.weights.data();
  if (!options.name.empty() || options.csv) {
    print_entries(parameter_elements(layout, values, options.name, model.tokenizer), options.csv,
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
  for (const ParameterElement& e : largest_elements(layout, values, options.top.top))
    table.row({e.name(), rounded(e.value)});
  print(table.text());
  return 0;
}

int show_gradients(const GradientsOptions& options) {
  Inspection inspection(read_model_as<double>(options.operands.model), options.operands.sentence);
  const ParameterLayout& layout = inspection.layout();
  const double* gradient = parameter_gradients(inspection);
  const std::string& name = options.name;
  if (options.csv || !name.empty()) {
    print_entries(parameter_elements(layout, gradient, name, inspection.tokenizer()), options.csv,
                  "gradient");
    return 0;
  }
  Table losses({1, 2});
  losses.row({"position", "token", "next", "loss", "chance"});
  for (std::size_t t = 0; t < inspection.positions(); ++t)
    losses.row({fmt::format("{}", t), shown_token(inspection.token(t)),
                shown_token(inspection.target(t)), rounded(inspection.loss_at(t)),
                fmt::format("{:.2f}%", 100 * std::exp(-inspection.loss_at(t)))});
  losses.row({"mean", "", "", rounded(inspection.loss().data())});
  print(losses.text() + '\n');

  Table places;
  places.row({"part of the model", "gradient norm"});
  for (const auto& place : norms_by_place(layout, gradient))
    places.row({place.place, rounded(place.norm)});
  print(places.text() + '\n' + summaries(layout, gradient, true) + '\n');

  const double delta = options.nudge;
  Table table;
  table.row({"largest gradients", "gradient", "value",
             fmt::format("predicted by +{}", exact(delta)), "measured"});
  for (const ParameterElement& e : largest_elements(layout, gradient, options.top.top)) {
    const ParameterNudge n = nudge_parameter(inspection, e, delta);
    const double value = inspection.tape().data(static_cast<NodeId>(e.spec->index(e.row, e.col)));
    table.row({e.name(), rounded(e.value), rounded(value), with_sign(n.predicted),
               with_sign(n.measured)});
  }
  print(table.text());
  return 0;
}

int check_gradients(const GradcheckCommandOptions& options) {
  Inspection inspection(read_model_as<double>(options.operands.model), options.operands.sentence);
  GradcheckOptions check;
  const std::size_t parameters = inspection.config().parameter_count();
  if (options.sample) {
    check.sample = *options.sample;
  } else if (parameters > kCheckedWhole) {
    check.sample = kSampled;
    print_status(fmt::format("{} of {} parameters, drawn evenly; --sample {} checks all of them",
                             kSampled, parameters, parameters));
  }
  if (!check.sample && options.seed.seed != SeedOption().seed)
    throw UsageError(
        fmt::format("--seed: expected --sample as well, found --seed alone: all {} "
                    "parameters are checked; add --sample or leave it out",
                    parameters));
  check.seed = options.seed.seed;
  check.worst = options.worst;
  std::optional<Countdown> countdown;
  check.progress = [&](std::size_t done, std::size_t all) {
    if (!countdown) countdown.emplace(all, true);
    countdown->show(done);
  };
  const Gradcheck result = gradcheck(inspection, parameter_gradients(inspection), check);
  countdown.reset();

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

int show_neighbours(const NeighboursOptions& options) {
  const auto model = read_model_as<double>(options.model);
  const TokenId asked = find_word(options.word, options.word, model.tokenizer);
  Table table;
  table.row({model.tokenizer.kind().unit, "cosine"});
  for (const auto& word : NearestWords(model).of(asked, options.top.top))
    table.row({shown_token(model.tokenizer.word(word.word)), fmt::format("{:.4f}", word.cosine)});
  print(table.text());
  return 0;
}

}  // namespace

const Command inspect_params_command = make_command<show_parameters>(
    "inspect params", "a model's parameters",
    "Prints every parameter with its shape, mean, spread, norm and largest entries; or one "
    "parameter, one row or one entry by name. Rows are outputs and columns inputs, as in the file. "
    "The rows of token_embedding and output are words, by their number or as words.",
    {"glassbox inspect params cats.safetensors",
     "glassbox inspect params cats.safetensors 'token_embedding[cat]'"});

const Command inspect_gradients_command = make_command<show_gradients>(
    "inspect gradients", "the gradients of a sentence's loss",
    "Prints the loss at each position, the gradient's norm by layer and by parameter, and the "
    "entries with the largest gradients: with what the gradient says that a nudge does to the "
    "loss, and what it does. With a name: that parameter, row or entry. Computed in double.",
    {"glassbox inspect gradients cats.safetensors 'the cat sat'",
     "glassbox inspect gradients cats.safetensors 'the cat sat' output --csv > gradients.csv"});

const Command inspect_gradcheck_command = make_command<check_gradients>(
    "inspect gradcheck", "gradients against measured slopes",
    "Holds every gradient of the sentence's loss against a numeric derivative in double, and shows "
    "the worst. Exit status 1 if one is wrong.",
    {"glassbox inspect gradcheck cats.safetensors 'the cat sat'",
     "glassbox inspect gradcheck cats.safetensors 'the cat sat' --sample 1000"});

const Command inspect_neighbours_command = make_command<show_neighbours>(
    "inspect neighbours", "words that the model takes for similar",
    "Prints the words whose embeddings point the most the same way, by the cosine between them.",
    {"glassbox inspect neighbours cats.safetensors cat",
     "glassbox inspect neighbours cats.safetensors cat --top 3"});

}  // namespace glassbox::cli
