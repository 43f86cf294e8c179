#include "cli/options/options.h"

// A list's values would be cut at commas, and with them paths; regular expressions would stop at a
// line break and overflow the stack on a long value.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#define CXXOPTS_NO_REGEX true
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cxxopts.hpp>
#include <map>
#include <sstream>

#include "base/closest_match.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "cli/options/config_file.h"
#include "cli/output.h"

namespace glassbox::cli {

namespace {

// A value that would have been right: the default, else the lowest.
std::string right_value(const Option& option) {
  if (!option.default_value.empty()) return option.default_value;
  if (option.type == Type::integer) return fmt::format("{}", option.range.low);
  return option.value;
}

template <class T>
bool parse_whole(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

bool in_range(double value, const Range& range) {
  return std::isfinite(value) && (range.above_low ? value > range.low : value >= range.low) &&
         (range.below_high ? value < range.high : value <= range.high);
}

bool acceptable(const Option& option, const std::string& value) {
  switch (option.type) {
    case Type::flag:
      return true;
    case Type::text:
      return !value.empty() || option.may_be_empty;
    case Type::file:
      return !value.empty();
    case Type::integer: {
      std::uint64_t parsed = 0;
      return parse_whole(value, parsed) && in_range(static_cast<double>(parsed), option.range);
    }
    case Type::number: {
      double parsed = 0;
      return parse_whole(value, parsed) && in_range(parsed, option.range);
    }
    case Type::choice:
      return !value.empty() && value.find('|') == std::string::npos &&
             fmt::format("|{}|", option.value).find('|' + value + '|') != std::string::npos;
  }
  return false;
}

}  // namespace

std::string expectation(const Option& option) {
  const Range& range = option.range;
  switch (option.type) {
    case Type::flag:
      return "no value";
    case Type::text:
      return "a text";
    case Type::file:
      return "a file's name";
    case Type::choice: {
      std::string values = option.value;
      if (const std::size_t last = values.rfind('|'); last != std::string::npos)
        values.replace(last, 1, " or ");
      for (std::size_t at; (at = values.find('|')) != std::string::npos;)
        values.replace(at, 1, ", ");
      return values;
    }
    default:
      break;
  }
  const char* const kind = option.type == Type::integer ? "a whole number" : "a number";
  if (std::isinf(range.high)) {
    return fmt::format("{} {} {}", kind, range.above_low ? "above" : "of at least", range.low);
  }
  return fmt::format("{} from {:.10g} to {}{:.10g}", kind, range.low,
                     range.below_high ? "below " : "", range.high);
}

void OptionTable::flag(bool& member, const char* name, const OptionText& text) {
  options_.push_back({text, name, Type::flag, "", group_,
                      [&member](const std::string&) { member = true; },
                      [&member] { return std::string(member ? "true" : ""); }});
}

const Option* OptionTable::find(std::string_view name) const {
  for (const Option& option : options_) {
    const bool is_letter = name.size() == 1 && option.letter != 0 && name[0] == option.letter;
    if (is_letter || name == option.name || (name == option.alias && !name.empty())) return &option;
  }
  return nullptr;
}

void OptionTable::unknown_option(const std::string& command, const std::string& word) const {
  std::vector<std::string> names;
  for (const Option& option : options_) {
    names.emplace_back(option.name);
    if (*option.alias != 0) names.emplace_back(option.alias);
  }
  std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  std::replace(bare.begin(), bare.end(), '_', '-');
  const std::string near = closest_match(bare, names);
  throw UsageError(fmt::format("{}: {} has no such option; {}", shortened(word), command,
                               near.empty() ? fmt::format("see glassbox help {}", command)
                                            : fmt::format("did you mean --{}?", near)));
}

// The words with every option under its canonical long name, so that --n_layer=3, --n-layer=3 and
// -n 3 are spelled in one way when they are parsed; `typed` says how each was spelled last. What
// follows an option that takes a value is that value, whatever it looks like.
std::vector<std::string> OptionTable::canonical(const std::string& command,
                                                const std::vector<std::string>& words,
                                                std::map<std::string, std::string>& typed) const {
  std::vector<std::string> result;
  const Option* waiting = nullptr;  // the option whose value comes next
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (waiting != nullptr || word.size() < 2 || word[0] != '-') {
      result.push_back(word);
      waiting = nullptr;
      continue;
    }
    if (word == "--") {
      result.insert(result.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    const bool is_long = word[1] == '-';
    const std::size_t name_begin = is_long ? 2 : 1;
    const std::size_t name_end = is_long ? std::min(word.find('='), word.size()) : 2;
    std::string name = word.substr(name_begin, name_end - name_begin);
    std::replace(name.begin(), name.end(), '_', '-');
    const bool known = is_long == (name.size() > 1);  // one letter behind two dashes is no option
    const Option* option = known ? find(name) : nullptr;
    if (option == nullptr) unknown_option(command, word.substr(0, name_end));
    const std::string& flag = typed[option->name] = word.substr(0, name_end);
    const bool attached = name_end < word.size();
    if (option->type == Type::flag && attached) {
      throw UsageError(fmt::format("{}: expected no value, found '{}'; write {} alone", flag,
                                   shortened(word.substr(name_end + (is_long ? 1 : 0))), flag));
    }
    std::string spelled = std::string("--") + option->name;
    if (attached) spelled += '=' + word.substr(name_end + (is_long ? 1 : 0));
    result.push_back(std::move(spelled));
    if (option->type != Type::flag && !attached) waiting = option;
  }
  if (waiting != nullptr) {
    throw UsageError(fmt::format("{0}: expected {1}, found nothing; write for instance {0} {2}",
                                 typed[waiting->name], expectation(*waiting),
                                 right_value(*waiting)));
  }
  return result;
}

void OptionTable::parse(const std::string& command, const std::vector<std::string>& words,
                        const bool& help) {
  std::map<std::string, std::string> typed;
  const std::vector<std::string> spelled = canonical(command, words, typed);

  cxxopts::Options parser(command);
  auto add = parser.add_options();
  for (const Option& option : options_) {
    add(option.name, option.help,
        option.type == Type::flag
            ? cxxopts::value<bool>()->implicit_value("true")
            : std::static_pointer_cast<cxxopts::Value>(cxxopts::value<std::string>()));
  }
  std::vector<const char*> argv{command.c_str()};
  for (const std::string& word : spelled) argv.push_back(word.c_str());
  const cxxopts::ParseResult parsed = parser.parse(static_cast<int>(argv.size()), argv.data());

  for (const cxxopts::KeyValue& given : parsed.arguments()) {
    Option& option = options_[static_cast<std::size_t>(find(given.key()) - options_.data())];
    if (!acceptable(option, given.value())) {
      throw UsageError(fmt::format("{0}: expected {1}, found '{2}'; write for instance {0} {3}",
                                   typed[option.name], expectation(option),
                                   shortened(given.value()), right_value(option)));
    }
    option.set(given.value());
    option.typed = typed[option.name];
  }
  if (help) return;
  if (typed.contains("config")) take_config(command, find("config")->get(), typed);
  take_operands(command, parsed.unmatched());
  check_together(typed, parsed.unmatched().size());
}

void OptionTable::take_config(const std::string& command, const std::string& path,
                              std::map<std::string, std::string>& typed) {
  for (const ConfigEntry& entry : read_config_file(path)) {
    std::string name = entry.key;
    std::replace(name.begin(), name.end(), '_', '-');
    const Option* const known = name.size() > 1 ? find(name) : nullptr;
    if (known == nullptr) {
      std::vector<std::string> names;
      for (const Option& option : options_) names.emplace_back(option.name);
      const std::string near = closest_match(name, names);
      throw UsageError(fmt::format("{}: {} has no such option; {}", entry.where, command,
                                   near.empty() ? fmt::format("see glassbox help {}", command)
                                                : fmt::format("did you mean {}?", near)));
    }
    Option& option = options_[static_cast<std::size_t>(known - options_.data())];
    if (name == "config" || name == "help")
      throw UsageError(fmt::format(
          "{}: expected an option of the work, found --{}; type it instead", entry.where, name));
    const bool is_flag = option.type == Type::flag;
    if (is_flag ? entry.value != "true" && entry.value != "false"
                : !acceptable(option, entry.value))
      throw UsageError(fmt::format("{}: expected {}, found '{}'; write for instance {} = {}",
                                   entry.where, is_flag ? "true or false" : expectation(option),
                                   shortened(entry.value), option.name,
                                   is_flag ? "true" : right_value(option)));
    if (!option.typed.empty() || (is_flag && entry.value == "false")) continue;
    option.set(entry.value);
    option.typed = typed[option.name] = entry.where;
  }
  for (const char* written : {"out", "log-file", "svg"})
    if (const Option* option = find(written); option != nullptr && !option->typed.empty())
      refuse_overwriting(written, option->get(), {{"--config", path}});
}

// `typed` has the options that were given, and the first `operands` operands were.
void OptionTable::check_together(const std::map<std::string, std::string>& typed,
                                 std::size_t operands) const {
  std::map<std::string, std::string> given;  // by bare name, as a message calls it
  for (const auto& [name, unused] : typed) given[name] = "--" + name;
  for (std::size_t i = 0; i < std::min(operands, operands_.size()); ++i) {
    std::string name = operands_[i].name;
    std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
    given[name] = name;
  }
  for (const Option& option : options_) {
    const auto flag = typed.find(option.name);
    if (flag == typed.end()) continue;
    if (*option.only_with != 0 && !given.contains(option.only_with))
      throw UsageError(
          fmt::format("{0}: expected --{1} as well, found {0} alone, which changes "
                      "nothing; add --{1} or leave it out",
                      flag->second, option.only_with));
    std::istringstream others(option.not_with);
    for (std::string other; others >> other;) {
      if (const std::size_t at = other.find('='); at != std::string::npos) {
        const std::string name = other.substr(0, at), value = other.substr(at + 1);
        // A resumed run takes its values from the checkpoint, which has yet to be read.
        if (find(name)->get() == value && !given.contains("resume"))
          throw UsageError(
              fmt::format("{0}: expected another --{1} than {2}, with which {0} changes nothing; "
                          "leave {0} out or choose another --{1}",
                          flag->second, name, value));
      } else if (given.contains(other)) {
        throw UsageError(
            fmt::format("{0}: expected no {1} beside it, found both, and {0} changes "
                        "nothing then; leave one out",
                        flag->second, given[other]));
      }
    }
  }
}

std::map<std::string, std::string> OptionTable::settings() const {
  std::map<std::string, std::string> result;
  for (const Option& option : options_)
    if (std::string text = option.get(); !option.per_run && !text.empty())
      result[option.name] = std::move(text);
  return result;
}

void OptionTable::restore(const std::map<std::string, std::string>& settings,
                          const std::string& file) {
  for (const Option& option : options_) {
    if (option.per_run) continue;
    const auto saved = settings.find(option.name);
    const bool is_saved = saved != settings.end();
    if (is_saved && !acceptable(option, saved->second))
      throw FormatError(
          fmt::format("{}: {}: expected {}, found '{}'; was it written by another "
                      "glassbox?",
                      file, option.name, expectation(option), saved->second));
    if (option.typed.empty()) {
      if (is_saved && option.get() != saved->second) option.set(saved->second);
    } else if (const std::string given = option.get(); !is_saved || given != saved->second) {
      throw UsageError(
          is_saved ? fmt::format("{}: expected {}, with which {} was begun, found {}; leave it out",
                                 option.typed, saved->second, file, given)
                   : fmt::format("{}: {} was begun without it; leave it out", option.typed, file));
    }
  }
  for (const auto& [name, value] : settings)
    if (const Option* option = find(name); option == nullptr || option->per_run)
      throw FormatError(
          fmt::format("{}: expected settings of this command, found {}; was it "
                      "written by another glassbox?",
                      file, name));
}

void OptionTable::take_operands(const std::string& command, const std::vector<std::string>& words) {
  const auto is_open = [](const Operand& operand) {
    return std::string_view(operand.name).find("...") != std::string_view::npos;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool beyond = i >= operands_.size();
    if (beyond && (operands_.empty() || !is_open(operands_.back()))) {
      throw UsageError(
          fmt::format("{}: expected no more than {} here, found '{}'; see glassbox help {}",
                      command, operands_.back().name, shortened(words[i]), command));
    }
    const Operand& operand = beyond ? operands_.back() : operands_[i];
    if (words[i].empty() && !operand.may_be_empty)
      throw UsageError(
          fmt::format("{}: expected {} ({}), found an empty text; see glassbox help {}", command,
                      operand.name, operand.help, command));
    operand.set(words[i]);
  }
  for (std::size_t i = words.size(); i < operands_.size(); ++i) {
    if (operands_[i].name[0] == '[') continue;
    throw UsageError(fmt::format("{}: expected {} ({}), found nothing; see glassbox help {}",
                                 command, operands_[i].name, operands_[i].help, command));
  }
}

void OptionTable::assign(double& member, const std::string& text, const char*) {
  parse_whole(text, member);
}

void OptionTable::assign(std::vector<std::string>& member, const std::string& text, const char*) {
  for (std::size_t begin = 0, end = 0; end < text.size() || begin == 0; begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    member.push_back(text.substr(begin, end - begin));
  }
}

std::string OptionTable::text_of(const std::vector<std::string>& member, const char*) {
  return fmt::format("{}", fmt::join(member, ","));
}

std::string OptionTable::text_of(double member, const char*) {
  std::string text = json_number(member);
  if (const std::size_t at = text.find("e-0"); at != text.npos) text.erase(at + 2, 1);
  return text;
}

std::size_t OptionTable::place_of(std::string_view value, std::string_view values) {
  const std::size_t at = ('|' + std::string(values) + '|').find('|' + std::string(value) + '|');
  return static_cast<std::size_t>(
      std::count(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), '|'));
}

std::string OptionTable::value_at(std::size_t place, std::string_view values) {
  for (; place > 0; --place) values.remove_prefix(values.find('|') + 1);
  return std::string(values.substr(0, values.find('|')));
}

}  // namespace glassbox::cli
