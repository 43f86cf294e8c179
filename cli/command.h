// A command of the program: what `help`, the manual pages and the completions say of it, and the
// function that does it. A command turns options into library calls; only this folder prints.
#pragma once

#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/options/options.h"

namespace glassbox::cli {

struct Command {
  const char* name;  // of one word, or of two: "inspect params"
  const char* summary;
  const char* description;
  std::array<const char*, 2> examples;
  // Its operands and options with their defaults, to be read.
  OptionTable (*table)();
  // Parses the words behind the command's name and does the work; returns the exit status.
  int (*run)(const Command& command, const std::vector<std::string>& words);
};

// Prints the command's help; returns the exit status.
int print_help(const Command& command);

// `Options` has a member function visit(OptionTable&) that names each of its members; the function
// may look at the rows that result, too.
template <class Options, auto function>
struct CommandRows {
  Options options = {};
  bool help = false;
  std::string config = {};
  OptionTable rows = {};

  CommandRows() {
    options.visit(rows);
    if (!rows.options().empty()) {
      rows.group("Options from a file");
      rows.file(config, "config",
                {.value = "FILE",
                 .help = "more options, a line each, 'steps = 500', or one JSON object; what is "
                         "typed wins",
                 .per_run = true});
    }
    rows.group("Help");
    rows.flag(help, "help", {.letter = 'h', .help = "show this help"});
  }
  static OptionTable table() { return CommandRows().rows; }
  static int run(const Command& command, const std::vector<std::string>& words) {
    CommandRows self;
    self.rows.parse(command.name, words, self.help);
    if (self.help) return print_help(command);
    if constexpr (std::is_invocable_v<decltype(function), const Options&>) {
      return function(self.options);
    } else {
      return function(self.options, self.rows);
    }
  }
};

template <auto function>
struct CommandOf;
template <class Options, int (*function)(const Options&)>
struct CommandOf<function> : CommandRows<Options, function> {};
template <class Options, int (*function)(Options&, OptionTable&)>
struct CommandOf<function> : CommandRows<Options, function> {};

template <auto function>
constexpr Command make_command(const char* name, const char* summary, const char* description,
                               std::array<const char*, 2> examples) {
  return {
      name, summary, description, examples, CommandOf<function>::table, CommandOf<function>::run};
}

// All commands, in the order in which help lists them. Each is a constant of that name with
// `_command` behind it, made in a file of commands/.
#ifdef GLASSBOX_SERVE
#define GLASSBOX_SERVE_COMMAND(each) each(serve)
#else
#define GLASSBOX_SERVE_COMMAND(each)
#endif
#ifdef GLASSBOX_SERVE_ALONE  // glassbox-serve
#define GLASSBOX_COMMANDS(each) each(serve) each(help) each(man) each(completion)
#else
#define GLASSBOX_COMMANDS(each)                                                                   \
  each(train) each(finetune) each(sample) each(play) each(eval) each(tokenize) each(next)         \
      GLASSBOX_SERVE_COMMAND(each) each(inspect_params) each(inspect_gradients)                   \
          each(inspect_gradcheck) each(inspect_value) each(inspect_graph) each(inspect_attention) \
              each(inspect_trace) each(inspect_cache) each(inspect_neighbours) each(plot)         \
                  each(report) each(convert) each(help) each(man) each(completion)
#endif

#define GLASSBOX_DECLARE_COMMAND(name) extern const Command name##_command;
GLASSBOX_COMMANDS(GLASSBOX_DECLARE_COMMAND)
#undef GLASSBOX_DECLARE_COMMAND

std::span<const Command> commands();
// The command of that name. Throws UsageError, naming the nearest.
const Command& find_command(const std::string& name);

}  // namespace glassbox::cli
