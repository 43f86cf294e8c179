// Options as typed members. A command's options are a struct: each member's initialiser is the
// option's default, and its function visit(OptionTable&) gives the member a name, a range and a
// help text. Parsing, help, manual pages and completions are all made from the rows that result, so
// they can't disagree. Dashes are canonical; an underscore in an option's name is taken for a dash.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace glassbox::cli {

// The command line is wrong: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Type { flag, text, file, integer, number, choice };

struct Range {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;   // low itself is not in it
  bool below_high = false;  // high itself is not in it
};
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range above(double low) { return {.low = low, .above_low = true}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }
constexpr Range below(double high) { return {.high = high, .below_high = true}; }

// What is said of an option beside its member.
struct OptionText {
  const char* alias = "";  // another name
  char letter = 0;         // -o
  const char* value =
      "";            // stands for the value in help; of a choice the values, "linear|constant"
  Range range = {};  // of an integer or a number
  const char* help = "";
  // Shapes nothing of a training's result: where and how often something is written, how many
  // threads. A checkpoint does not hold it.
  bool per_run = false;
  const char* only_with = "";  // another option, without which this one would change nothing
  const char* not_with = "";   // options and operands, "csv NAME", beside which it would not, and
                               // values of choices, "optimizer=sgd"
  bool may_be_empty = false;   // a text
};

struct Option : OptionText {
  const char* name = "";  // two letters or more
  Type type = Type::flag;
  std::string default_value = {};  // as text; "" if there is none
  std::string group = {};
  std::function<void(const std::string&)> set = {};  // the member, from an acceptable text
  std::function<std::string()> get = {};             // the member as text; "" if it has no value
  std::string typed = {};                            // as what it was given; "": it was not
};

struct Operand {
  const char* name;  // "CORPUS"; "[COMMAND]" may be left out, "LOG..." may be several
  const char* help;
  std::function<void(const std::string&)> set;
  bool may_be_empty = false;
};

// "a number from 0 to 1", "a whole number of at least 1", "one of linear, constant": what a value
// may be.
std::string expectation(const Option& option);

// The rows of one command. A member of type std::optional has no default: it is empty if the option
// is not given. A vector takes every value of an option that may be repeated; commas part values
// too.
class OptionTable {
 public:
  // The options that follow belong to it.
  void group(const char* name) { group_ = name; }

  void flag(bool& member, const char* name, const OptionText& text);
  template <class Member>  // std::string, a vector of them
  void text(Member& member, const char* name, const OptionText& text) {
    add(Type::text, member, name, text);
  }
  template <class Member>  // std::string
  void file(Member& member, const char* name, const OptionText& text) {
    add(Type::file, member, name, text);
  }
  template <class Member>  // an unsigned integer that holds the whole range
  Option& integer(Member& member, const char* name, const OptionText& text) {
    return add(Type::integer, member, name, text);
  }
  template <class Member>  // double
  void number(Member& member, const char* name, const OptionText& text) {
    add(Type::number, member, name, text);
  }
  template <class Member>  // std::string, or an enumeration whose values text.value lists in order
  void choice(Member& member, const char* name, const OptionText& text) {
    add(Type::choice, member, name, text);
  }
  template <class Member>  // std::string, a vector of them for all that follow
  void operand(Member& member, const char* name, const char* help) {
    operands_.push_back({name, help, [&member](const std::string& word) {
                           if constexpr (std::is_same_v<Member, std::string>)
                             member = word;
                           else
                             member.push_back(word);
                         }});
  }
  template <class Member>  // one that may be empty: an empty sentence is a sentence
  void sentence(Member& member, const char* name, const char* help) {
    operand(member, name, help);
    operands_.back().may_be_empty = true;
  }

  const std::vector<Operand>& operands() const { return operands_; }
  const std::vector<Option>& options() const { return options_; }

  // Sets the members from the words behind the command's name. Operands may be missing if `help`,
  // which is one of the members, is set. Throws UsageError.
  void parse(const std::string& command, const std::vector<std::string>& words, const bool& help);

  bool is_given(std::string_view name) const { return !find(name)->typed.empty(); }
  // What shapes the result: every option with a value that is not per_run, by its name, as text.
  std::map<std::string, std::string> settings() const;
  // Sets them as they were when `file` was written. Throws UsageError for an option that was given
  // and says something else, FormatError for settings that are not of this command.
  void restore(const std::map<std::string, std::string>& settings, const std::string& file);

 private:
  template <class T>
  static void assign(std::optional<T>& member, const std::string& text, const char* values) {
    assign(member.emplace(), text, values);
  }
  static void assign(std::vector<std::string>& member, const std::string& text, const char*);
  static void assign(std::string& member, const std::string& text, const char*) { member = text; }
  static void assign(double& member, const std::string& text, const char*);
  template <std::unsigned_integral T>
  static void assign(T& member, const std::string& text, const char*) {
    member = static_cast<T>(std::stoull(text));
  }
  template <class T>
  requires std::is_enum_v<T>
  static void assign(T& member, const std::string& text, const char* values) {
    member = static_cast<T>(place_of(text, values));
  }

  template <class T>
  static std::string text_of(const std::optional<T>& member, const char* values) {
    return member ? text_of(*member, values) : "";
  }
  static std::string text_of(const std::vector<std::string>& member, const char*);
  static std::string text_of(const std::string& member, const char*) { return member; }
  static std::string text_of(double member, const char*);
  template <std::unsigned_integral T>
  static std::string text_of(T member, const char*) {
    return std::to_string(member);
  }
  template <class T>
  requires std::is_enum_v<T>
  static std::string text_of(T member, const char* values) {
    return value_at(static_cast<std::size_t>(member), values);
  }
  // Of one value in "linear|constant".
  static std::size_t place_of(std::string_view value, std::string_view values);
  static std::string value_at(std::size_t place, std::string_view values);

  template <class Member>
  Option& add(Type type, Member& member, const char* name, const OptionText& text) {
    return options_.emplace_back(Option{
        text, name, type, text_of(member, text.value), group_,
        [&member, values = text.value](const std::string& value) { assign(member, value, values); },
        [&member, values = text.value] { return text_of(member, values); }});
  }
  const Option* find(std::string_view name) const;
  [[noreturn]] void unknown_option(const std::string& command, const std::string& word) const;
  // Sets what the file that --config names says and what was not typed.
  void take_config(const std::string& command, const std::string& path,
                   std::map<std::string, std::string>& typed);
  std::vector<std::string> canonical(const std::string& command,
                                     const std::vector<std::string>& words,
                                     std::map<std::string, std::string>& typed) const;
  void take_operands(const std::string& command, const std::vector<std::string>& words);
  void check_together(const std::map<std::string, std::string>& typed, std::size_t operands) const;

  std::string group_;
  std::vector<Operand> operands_;
  std::vector<Option> options_;
};

}  // namespace glassbox::cli
