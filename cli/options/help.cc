// What the option table says, as help, manual pages and completions.
#include <fmt/core.h>

#include <algorithm>

#include "base/quote.h"
#include "cli/command.h"
#include "cli/output.h"

namespace glassbox::cli {

namespace {

// The groups of a command's options, in the table's order.
std::vector<std::string> groups_of(const OptionTable& table) {
  std::vector<std::string> result;
  for (const Option& option : table.options())
    if (std::find(result.begin(), result.end(), option.group) == result.end())
      result.push_back(option.group);
  return result;
}

std::string usage(const Command& command) {
  std::string text = fmt::format("glassbox {}", command.name);
  const OptionTable table = command.table();
  for (const Operand& operand : table.operands()) text += fmt::format(" {}", operand.name);
  return text + " [options]";
}

// "-o, --out FILE"
std::string spelling(const Option& option) {
  std::string text = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "";
  text += fmt::format("--{}", option.name);
  if (*option.alias != 0) text += fmt::format(", --{}", option.alias);
  return *option.value != 0 ? text + ' ' + option.value : text;
}

// "a number from 0 to 1; default 0.8", or "" where there is nothing to say.
std::string range_and_default(const Option& option) {
  const bool ranged = option.type == Type::integer || option.type == Type::number;
  std::string text = ranged ? expectation(option) : "";
  if (!option.default_value.empty()) {
    text += fmt::format("{}default {}", text.empty() ? "" : "; ", option.default_value);
  }
  if (*option.only_with != 0)
    text += fmt::format("{}only with --{}", text.empty() ? "" : "; ", option.only_with);
  return text;
}

std::string explained(const Option& option) {
  const std::string limits = range_and_default(option);
  return limits.empty() ? option.help : fmt::format("{} ({})", option.help, limits);
}

// The text in lines of at most 80 columns, every line behind `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result(indent, ' ');
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (column > indent && column + 1 + word.size() > 80) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    begin = end + 1;
  }
  return result + '\n';
}

// A name in the left column, its explanation in the right one.
std::string entry(const std::string& name, std::string_view explanation) {
  constexpr std::size_t kColumn = 28;  // most names are shorter, and 52 columns are left to read in
  std::string right = wrapped(explanation, kColumn);
  if (name.size() + 4 > kColumn) return "  " + name + '\n' + right;
  return right.replace(2, name.size(), name);
}

std::string help_of_program() {
  std::string text =
      "glassbox: train and sample a small GPT whose every number can be looked at\n\n"
      "usage: glassbox COMMAND [options]\n\n";
  for (const Command& command : commands()) text += entry(command.name, command.summary);
  return text +
         "\nglassbox help COMMAND explains a command; glassbox --version says what this build is.\n"
         "\nExamples:\n  glassbox train data/first_grade.txt\n  glassbox sample "
         "model.safetensors\n";
}

std::string help_of(const Command& command) {
  const OptionTable table = command.table();
  std::string text = fmt::format("usage: {}\n\n", usage(command)) + wrapped(command.description, 0);
  text += '\n';
  for (const Operand& operand : table.operands()) text += entry(operand.name, operand.help);
  for (const std::string& group : groups_of(table)) {
    text += fmt::format("\n{}:\n", group);
    for (const Option& option : table.options()) {
      if (option.group == group) text += entry(spelling(option), explained(option));
    }
  }
  text += "\nExamples:\n";
  for (const char* example : command.examples) text += fmt::format("  {}\n", example);
  return text;
}

// The text as troff reads it literally.
std::string troff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
    }
  }
  return result;
}

std::string man_header(const std::string& name, std::string_view summary) {
  return fmt::format(".TH {} 1 \"\" \"glassbox {}\" \"glassbox\"\n.SH NAME\n{} \\- {}\n", name,
                     GLASSBOX_VERSION, troff(name), troff(summary));
}

// "glassbox-inspect-params"
std::string page_name(const Command& command) {
  std::string name = fmt::format("glassbox-{}", command.name);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_of_program() {
  std::string text = man_header("glassbox", "train and sample a small GPT");
  text += ".SH SYNOPSIS\n.B glassbox\n.I COMMAND\n[options]\n.SH DESCRIPTION\n";
  text += "Trains and samples a small GPT whose every number can be looked at.\n.SH COMMANDS\n";
  for (const Command& command : commands()) {
    text += fmt::format(".TP\n.B {}\n{}\n", troff(command.name), troff(command.summary));
  }
  text +=
      ".SH EXIT STATUS\n0: done. 1: the work failed. 2: the command line is wrong. 130, 143: "
      "interrupted by SIGINT or SIGTERM after saving.\n.SH SEE ALSO\n";
  std::string separator;
  for (const Command& command : commands()) {
    text += fmt::format("{}.BR {} (1)", separator, troff(page_name(command)));
    separator = ",\n";
  }
  return text + '\n';
}

std::string man_of(const Command& command) {
  const OptionTable table = command.table();
  std::string text = man_header(page_name(command), command.summary);
  text += fmt::format(".SH SYNOPSIS\n.B {}\n.SH DESCRIPTION\n{}\n", troff(usage(command)),
                      troff(command.description));
  for (const Operand& operand : table.operands()) {
    text += fmt::format(".TP\n.I {}\n{}\n", troff(operand.name), troff(operand.help));
  }
  text += ".SH OPTIONS\n";
  for (const std::string& group : groups_of(table)) {
    text += fmt::format(".SS {}\n", troff(group));
    for (const Option& option : table.options()) {
      if (option.group != group) continue;
      text += fmt::format(".TP\n.B {}\n{}\n", troff(spelling(option)), troff(explained(option)));
    }
  }
  text += ".SH EXAMPLES\n.nf\n";
  for (const char* example : command.examples) text += troff(example) + '\n';
  return text + ".fi\n.SH SEE ALSO\n.BR glassbox (1)\n";
}

// "--out -o"; with the alias too.
std::string spellings(const Option& option) {
  std::string text = fmt::format("--{}", option.name);
  if (*option.alias != 0) text += fmt::format(" --{}", option.alias);
  if (option.letter != 0) text += fmt::format(" -{}", option.letter);
  return text;
}

std::string listed_values(const Option& option) {
  std::string values = option.value;
  std::replace(values.begin(), values.end(), '|', ' ');
  return values;
}

std::string command_names() {
  std::string names;
  for (const Command& command : commands())
    if (std::string_view(command.name).find(' ') == std::string_view::npos)
      names += fmt::format("{}{}", names.empty() ? "" : " ", command.name);
  return names + " inspect";
}

// What may follow inspect.
std::string inspect_names() {
  std::string names;
  for (const Command& command : commands()) {
    const std::string_view name = command.name;
    if (name.starts_with("inspect "))
      names += fmt::format("{}{}", names.empty() ? "" : " ", name.substr(8));
  }
  return names;
}

// What may stand where a command has an operand: words, or "" for a file's name.
std::string operand_words(const Command& command) {
  const OptionTable table = command.table();
  const std::string operand = table.operands().empty() ? "" : table.operands().front().name;
  if (operand == "[COMMAND]") return command_names();
  return operand == "SHELL" ? "bash zsh fish" : "";
}

// One function serves bash and, through its bashcompinit, zsh.
std::string bash_completion() {
  std::string text =
      "_glassbox() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  text += fmt::format(
      "    COMPREPLY=($(compgen -W '{} --version --help' -- \"$word\"))\n    return\n  fi\n",
      command_names());
  text += fmt::format(
      "  local command=${{COMP_WORDS[1]}}\n  if [ \"$command\" = inspect ]; then\n"
      "    if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
      "      COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n      return\n    fi\n"
      "    command=\"inspect ${{COMP_WORDS[2]}}\"\n  fi\n",
      inspect_names());
  text += "  case $command in\n";
  for (const Command& command : commands()) {
    std::string names;
    const OptionTable table = command.table();
    text += fmt::format("    '{}')\n      case $before in\n", command.name);
    for (const Option& option : table.options()) {
      const std::string all = spellings(option);
      names += ' ' + all;
      if (option.type == Type::flag) continue;
      std::string pattern = all;
      std::replace(pattern.begin(), pattern.end(), ' ', '|');
      const std::string action = option.type == Type::choice
                                     ? fmt::format("-W '{}' ", listed_values(option))
                                 : option.type == Type::file ? "-f "
                                                             : "";
      text += fmt::format("        {}) ", pattern);
      text += action.empty() ? "" : fmt::format("COMPREPLY=($(compgen {}-- \"$word\")); ", action);
      text += "return ;;\n";
    }
    const std::string words = operand_words(command);
    text += fmt::format(
        "      esac\n      case $word in\n"
        "        -*) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n"
        "        *) COMPREPLY=($(compgen {} -- \"$word\")) ;;\n      esac ;;\n",
        names.substr(1), words.empty() ? "-f" : fmt::format("-W '{}'", words));
  }
  return text + "  esac\n}\ncomplete -o filenames -F _glassbox glassbox\n";
}

std::string zsh_completion() {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash_completion();
}

std::string fish_completion() {
  std::string text =
      "complete -c glassbox -f\n"
      "complete -c glassbox -n __fish_use_subcommand -a inspect -d 'look inside a model'\n";
  const auto quoted = [](std::string_view words) {
    std::string result = "'";
    for (const char c : words) result += c == '\'' ? std::string("\\'") : std::string(1, c);
    return result + '\'';
  };
  for (const Command& command : commands()) {
    const std::string_view name = command.name;
    const std::size_t blank = name.find(' ');
    std::string seen = fmt::format("__fish_seen_subcommand_from {}", name.substr(0, blank));
    if (blank == name.npos) {
      text += fmt::format("complete -c glassbox -n __fish_use_subcommand -a {} -d {}\n", name,
                          quoted(command.summary));
    } else {
      const std::string_view second = name.substr(blank + 1);
      text += fmt::format(
          "complete -c glassbox -n '{}; and not __fish_seen_subcommand_from {}' -a {} -d {}\n",
          seen, inspect_names(), second, quoted(command.summary));
      seen += fmt::format("; and __fish_seen_subcommand_from {}", second);
    }
    const std::string here = fmt::format("complete -c glassbox -n '{}'", seen);
    const OptionTable table = command.table();
    const std::string words = operand_words(command);
    text += words.empty() ? fmt::format("{} -F\n", here) : fmt::format("{} -a '{}'\n", here, words);
    for (const Option& option : table.options()) {
      text += fmt::format("{} -l {}", here, option.name);
      if (*option.alias != 0) text += fmt::format(" -l {}", option.alias);
      if (option.letter != 0) text += fmt::format(" -s {}", option.letter);
      if (option.type == Type::choice) text += fmt::format(" -x -a '{}'", listed_values(option));
      if (option.type == Type::file) text += " -r -F";
      if (option.type == Type::text || option.type == Type::integer ||
          option.type == Type::number) {
        text += " -x";
      }
      text += fmt::format(" -d {}\n", quoted(option.help));
    }
  }
  return text;
}

// "inspect", "params" is the command "inspect params".
struct HelpOptions {
  std::string command, what;

  void visit(OptionTable& table) {
    table.operand(command, "[COMMAND]", "the command to explain");
    table.operand(what, "[WHAT]", "of inspect: what to inspect");
  }
  std::string name() const { return what.empty() ? command : command + ' ' + what; }
};

struct ManOptions : HelpOptions {
  void visit(OptionTable& table) {
    table.operand(command, "[COMMAND]", "the command to describe");
    table.operand(what, "[WHAT]", "of inspect: what to inspect");
  }
};

struct CompletionOptions {
  std::string shell;

  void visit(OptionTable& table) { table.operand(shell, "SHELL", "bash, zsh or fish"); }
};

std::string help_of_inspect() {
  std::string text = "usage: glassbox inspect WHAT MODEL ... [options]\n\n";
  for (const Command& command : commands())
    if (std::string_view(command.name).starts_with("inspect "))
      text += entry(command.name, command.summary);
  return text + "\nglassbox help inspect WHAT explains each.\n";
}

int explain(const HelpOptions& options) {
  const std::string name = options.name();
  print(name.empty()        ? help_of_program()
        : name == "inspect" ? help_of_inspect()
                            : help_of(find_command(name)));
  return 0;
}

int write_man(const ManOptions& options) {
  const std::string name = options.name();
  print(name.empty() || name == "inspect" ? man_of_program() : man_of(find_command(name)));
  return 0;
}

int write_completion(const CompletionOptions& options) {
  if (options.shell == "bash") {
    print(bash_completion());
  } else if (options.shell == "zsh") {
    print(zsh_completion());
  } else if (options.shell == "fish") {
    print(fish_completion());
  } else {
    throw UsageError(fmt::format(
        "completion: expected bash, zsh or fish, found '{}'; see glassbox help completion",
        shortened(options.shell)));
  }
  return 0;
}

}  // namespace

int print_help(const Command& command) {
  print(help_of(command));
  return 0;
}

const Command help_command = make_command<explain>(
    "help", "explain a command",
    "Shows every option of a command with its default and range, or lists the commands.",
    {"glassbox help train", "glassbox sample --help"});

const Command man_command = make_command<write_man>(
    "man", "write a manual page",
    "Writes the manual page of a command, or of the program, to standard output.",
    {"glassbox man sample | man -l -", "glassbox man train > glassbox-train.1"});

const Command completion_command = make_command<write_completion>(
    "completion", "write a shell's completions",
    "Writes completions of commands, options, listed values and file names for bash, zsh or fish.",
    {"source <(glassbox completion bash)",
     "glassbox completion fish > ~/.config/fish/completions/glassbox.fish"});

}  // namespace glassbox::cli
