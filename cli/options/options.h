// The one table of options. Parsing, help, manual pages and completions are all made from it, so
// they can't disagree. Dashes are canonical; an underscore in an option's name is taken for a dash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/closest_match.h"
#include "cli/command.h"

namespace glassbox::cli {

enum class Type { flag, text, file, integer, number, choice };

struct Range {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;   // low itself is not in it
  bool below_high = false;  // high itself is not in it
};

struct Option {
  const char* name;   // "learning-rate", two letters or more
  const char* alias;  // another name, or ""
  char letter;        // -o, or 0
  Type type;
  const char* value;  // stands for the value in help; of a choice the values, "linear|constant"
  const char* default_value;  // the value when the option is not given; "" if there is none
  Range range;                // of an integer or a number
  const char* help;
  const char* group;
  unsigned commands;  // bits: which commands have it
};

std::span<const Option> options();
// "a number from 0 to 1", "a whole number of at least 1", "one of linear, constant": what a value
// may be.
std::string expectation(const Option& option);

// What stands on a command line, every value checked against the table.
class Arguments {
 public:
  // `words` is what follows the command's name. Throws UsageError. With --help operands may be
  // missing.
  Arguments(const Command& command, std::vector<std::string> words);

  const Command& command() const { return *command_; }
  // As many as the command has operands, a left-out one as "".
  const std::string& operand(std::size_t i) const { return operands_[i]; }
  // All from operand i on, of a command whose last operand may be several.
  std::span<const std::string> operands_from(std::size_t i) const {
    return std::span(operands_).subspan(std::min(i, operands_.size()));
  }
  // Of this and the next four, REQUIRES: the command has the option, with the type asked for.
  bool given(const std::string& name) const { return values_.at(name).given; }
  // The value given, else the table's.
  const std::string& text(const std::string& name) const { return values_.at(name).text; }
  // All values given of an option that may be repeated, in order; commas part values too.
  const std::vector<std::string>& texts(const std::string& name) const {
    return values_.at(name).texts;
  }
  std::uint64_t integer(const std::string& name) const;
  double number(const std::string& name) const;

 private:
  struct Value {
    std::string text;
    std::vector<std::string> texts;
    bool given = false;
  };
  const Command* command_;
  std::vector<std::string> operands_;
  std::map<std::string, Value> values_;  // of every option the command has
};

}  // namespace glassbox::cli
