#include "model/format_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quote.h"

namespace glassbox {

FormatError format_error(const std::string& where, const std::string& expected,
                         const std::string& found, const std::string& advice) {
  return FormatError(fmt::format("{}: expected {}, found {}; {}", where, expected, found, advice));
}

void throw_non_finite(const std::string& where, const std::string& tensor, std::size_t row,
                      std::size_t col, double value) {
  throw NumericError(
      fmt::format("{}: {}[{}][{}]: expected a finite number, found {}; nothing was "
                  "written: train again with a smaller --lr",
                  where, tensor, row, col, value));
}

void validate_in_file(const GptConfig& config, const std::string& where) {
  try {
    config.validate();
  } catch (const ConfigError& error) {
    throw FormatError(where + ": " + error.what());
  }
}

std::string describe_json(const Json* value) {
  if (value == nullptr) return "nothing";
  switch (value->kind()) {
    case Json::Kind::null:
      return "null";
    case Json::Kind::boolean:
      return value->boolean() ? "true" : "false";
    case Json::Kind::integer:
      return fmt::format("{}", value->integer());
    case Json::Kind::number:
      return fmt::format("the number {}", json_number(value->number()));
    case Json::Kind::string:
      return quotation(value->string());
    case Json::Kind::array:
      return "a list";
    case Json::Kind::object:
      return "an object";
  }
  return "";
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

FileObject::FileObject(const Json& json, std::string where,
                       std::initializer_list<const char*> known)
    : json_(json), where_(std::move(where)) {
  if (json.kind() != Json::Kind::object) {
    throw format_error(where_, "an object", describe_json(&json));
  }
  for (const auto& [key, value] : json.object()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw format_error(where_, fmt::format("only {}", fmt::join(known, ", ")), quotation(key));
  }
}

const Json& FileObject::get(const std::string& key, Json::Kind kind,
                            const std::string& expected) const {
  const Json* value = json_.find(key);
  if (value == nullptr || value->kind() != kind) throw error(key, expected);
  return *value;
}

std::size_t FileObject::size(const std::string& key) const {
  const std::int64_t value = get(key, Json::Kind::integer, "a whole number").integer();
  if (value < 1) throw error(key, "at least 1");
  return static_cast<std::size_t>(value);
}

FormatError FileObject::error(const std::string& key, const std::string& expected,
                              const std::string& advice) const {
  return format_error(where_ + ": " + key, expected, describe_json(json_.find(key)), advice);
}

}  // namespace glassbox
