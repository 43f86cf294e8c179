#include "cli/options/options.h"

// A list's values would be cut at commas, and with them paths; regular expressions would stop at a
// line break and overflow the stack on a long value.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#define CXXOPTS_NO_REGEX true
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cxxopts.hpp>

namespace glassbox::cli {

namespace {

// The command's option of that name, alias or letter, or nullptr.
const Option* find_option(const Command& command, std::string_view name) {
  for (const Option& option : options()) {
    if ((option.commands & command.bit) == 0) continue;
    const bool is_letter = name.size() == 1 && option.letter != 0 && name[0] == option.letter;
    if (is_letter || name == option.name || (name == option.alias && !name.empty())) return &option;
  }
  return nullptr;
}

[[noreturn]] void unknown_option(const Command& command, const std::string& word) {
  std::vector<std::string> names;
  for (const Option& option : options()) {
    if ((option.commands & command.bit) == 0) continue;
    names.emplace_back(option.name);
    if (*option.alias != 0) names.emplace_back(option.alias);
  }
  std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  std::replace(bare.begin(), bare.end(), '_', '-');
  const std::string near = closest_match(bare, names);
  throw UsageError(fmt::format("{}: {} has no such option; {}", word, command.name,
                               near.empty() ? fmt::format("see glassbox help {}", command.name)
                                            : fmt::format("did you mean --{}?", near)));
}

// A value that would have been right: the default, else the lowest.
std::string right_value(const Option& option) {
  if (*option.default_value != 0) return option.default_value;
  if (option.type == Type::integer) return fmt::format("{}", option.range.low);
  return option.value;
}

// The words with every option under its canonical long name, so that --n_layer=3, --n-layer=3 and
// -n 3 are spelled in one way when they are parsed; `typed` says how each was spelled last. What
// follows an option that takes a value is that value, whatever it looks like.
std::vector<std::string> canonical(const Command& command, const std::vector<std::string>& words,
                                   std::map<std::string, std::string>& typed) {
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
    const Option* option = known ? find_option(command, name) : nullptr;
    if (option == nullptr) unknown_option(command, word.substr(0, name_end));
    const std::string& flag = typed[option->name] = word.substr(0, name_end);
    const bool attached = name_end < word.size();
    if (option->type == Type::flag && attached) {
      throw UsageError(fmt::format("{}: expected no value, found '{}'; write {} alone", flag,
                                   word.substr(name_end + (is_long ? 1 : 0)), flag));
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
    case Type::text:
      return true;
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
      for (std::size_t at; (at = values.find('|')) != std::string::npos;)
        values.replace(at, 1, " or ");
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

Arguments::Arguments(const Command& command, std::vector<std::string> words) : command_(&command) {
  std::map<std::string, std::string> typed;
  const std::vector<std::string> spelled = canonical(command, words, typed);

  cxxopts::Options parser(command.name);
  auto add = parser.add_options();
  for (const Option& option : options()) {
    if ((option.commands & command.bit) == 0) continue;
    if (option.type == Type::flag) {
      add(option.name, option.help, cxxopts::value<bool>());
    } else {
      add(option.name, option.help, cxxopts::value<std::string>());
    }
  }
  std::vector<const char*> argv{command.name};
  for (const std::string& word : spelled) argv.push_back(word.c_str());
  const cxxopts::ParseResult parsed = parser.parse(static_cast<int>(argv.size()), argv.data());

  operands_ = parsed.unmatched();
  for (const Option& option : options()) {
    if ((option.commands & command.bit) == 0) continue;
    Value& value = values_[option.name];
    value.given = parsed.count(option.name) > 0;
    const bool has_text = value.given && option.type != Type::flag;
    value.text = has_text ? parsed[option.name].as<std::string>() : option.default_value;
    if (has_text && !acceptable(option, value.text)) {
      throw UsageError(fmt::format("{0}: expected {1}, found '{2}'; write for instance {0} {3}",
                                   typed[option.name], expectation(option), value.text,
                                   right_value(option)));
    }
  }
  for (const cxxopts::KeyValue& pair : parsed.arguments()) {
    const std::string& all = pair.value();
    for (std::size_t begin = 0, end = 0; end < all.size(); begin = end + 1) {
      end = std::min(all.find(',', begin), all.size());
      values_[pair.key()].texts.push_back(all.substr(begin, end - begin));
    }
  }
  if (given("help")) return;
  const bool open_end =
      !command.operands.empty() &&
      std::string_view(command.operands.back().name).find("...") != std::string_view::npos;
  if (!open_end && operands_.size() > command.operands.size()) {
    throw UsageError(fmt::format(
        "{}: expected no more than {} here, found '{}'; see glassbox help {}", command.name,
        command.operands.back().name, operands_[command.operands.size()], command.name));
  }
  for (std::size_t i = operands_.size(); i < command.operands.size(); ++i) {
    if (command.operands[i].name[0] != '[') {
      throw UsageError(fmt::format("{}: expected {} ({}), found nothing; see glassbox help {}",
                                   command.name, command.operands[i].name, command.operands[i].help,
                                   command.name));
    }
    operands_.emplace_back();
  }
}

std::uint64_t Arguments::integer(const std::string& name) const {
  std::uint64_t value = 0;
  parse_whole(text(name), value);
  return value;
}

double Arguments::number(const std::string& name) const {
  double value = 0;
  parse_whole(text(name), value);
  return value;
}

}  // namespace glassbox::cli
