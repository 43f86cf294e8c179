#include "cli/options/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "base/quote.h"
#include "cli/options/options.h"

namespace glassbox::cli {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::vector<ConfigEntry> json_entries(std::string_view text, const std::string& path) {
  const Json json = Json::parse(text, path);
  std::vector<ConfigEntry> entries;
  std::size_t at = 0;  // keys stand in the file's order
  for (const auto& [key, value] : json.object()) {
    const std::size_t found = text.find(json_quote(key), at);
    if (found != text.npos) at = found;
    ConfigEntry entry{key, "",
                      fmt::format("{}: line {}: {}", path, line_of(text, at), shortened(key))};
    if (value.kind() == Json::Kind::string)
      entry.value = value.string();
    else if (value.kind() == Json::Kind::integer)
      entry.value = std::to_string(value.integer());
    else if (value.kind() == Json::Kind::number)
      entry.value = json_number(value.number());
    else if (value.kind() == Json::Kind::boolean)
      entry.value = value.boolean() ? "true" : "false";
    else
      throw UsageError(fmt::format(
          "{}: expected a text, a number, true or false, found another value", entry.where));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<ConfigEntry> line_entries(std::string_view text, const std::string& path) {
  std::vector<ConfigEntry> entries;
  std::size_t number = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t equals = line.find('=');
    const std::string_view key = trimmed(line.substr(0, equals));
    if (equals == line.npos || key.empty())
      throw UsageError(fmt::format("{}: line {}: expected a line like steps = 5000, found {}", path,
                                   number, quotation(std::string(line))));
    std::string_view value = trimmed(line.substr(equals + 1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    entries.push_back({std::string(key), std::string(value),
                       fmt::format("{}: line {}: {}", path, number, shortened(std::string(key)))});
  }
  return entries;
}

}  // namespace

std::vector<ConfigEntry> read_config_file(const std::string& path) {
  const std::string bytes = read_file(path);
  std::string_view text = bytes;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  auto entries =
      trimmed(text).starts_with('{') ? json_entries(text, path) : line_entries(text, path);
  std::map<std::string, std::string> before;
  for (const ConfigEntry& entry : entries) {
    std::string name = entry.key;
    std::replace(name.begin(), name.end(), '_', '-');
    if (const auto [at, is_new] = before.emplace(name, entry.where); !is_new)
      throw UsageError(fmt::format("{}: expected each option once, found it before: {}",
                                   entry.where, at->second));
  }
  return entries;
}

}  // namespace glassbox::cli
