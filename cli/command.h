// A command of the program: what `help`, the manual pages and the completions say of it, and the
// function that does it. A command turns options into library calls; only this folder prints.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

namespace glassbox::cli {

class Arguments;

// The command line is wrong: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Operand {
  const char* name;  // "CORPUS"; "[COMMAND]" may be left out, "LOG..." may be several
  const char* help;
};

struct Command {
  const char* name;  // of one word, or of two: "inspect params"
  unsigned bit;      // its place in Option::commands
  const char* summary;
  const char* description;
  std::span<const Operand> operands;
  std::span<const char* const> examples;
  int (*run)(const Arguments&);  // returns the exit status
};

std::span<const Command> commands();
// The command of that name. Throws UsageError, naming the nearest.
const Command& find_command(const std::string& name);

int train_command(const Arguments& arguments);
int finetune_command(const Arguments& arguments);
int sample_command(const Arguments& arguments);
int eval_command(const Arguments& arguments);
int inspect_params_command(const Arguments& arguments);
int inspect_gradients_command(const Arguments& arguments);
int inspect_gradcheck_command(const Arguments& arguments);
int inspect_neighbours_command(const Arguments& arguments);
int inspect_value_command(const Arguments& arguments);
int inspect_graph_command(const Arguments& arguments);
int inspect_attention_command(const Arguments& arguments);
int inspect_cache_command(const Arguments& arguments);
int inspect_trace_command(const Arguments& arguments);
int next_command(const Arguments& arguments);
int plot_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int help_command(const Arguments& arguments);
int man_command(const Arguments& arguments);
int completion_command(const Arguments& arguments);

}  // namespace glassbox::cli
