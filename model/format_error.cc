#include "model/format_error.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace glassbox {

void refuse(const std::string& where, const std::string& expected, const std::string& found,
            const std::string& advice) {
  throw FormatError(fmt::format("{}: expected {}, found {}; {}", where, expected, found, advice));
}

void throw_non_finite(const std::string& where, const std::string& tensor, std::size_t row,
                      std::size_t col, double value) {
  throw NumericError(
      fmt::format("{}: {}[{}][{}]: expected a finite number, found {}; nothing was "
                  "written: train again with a smaller --lr",
                  where, tensor, row, col, value));
}

std::string short_quote(const std::string& text) {
  return text.size() < 80 ? json_quote(text) : "a long text";
}

std::string describe(const Json* value) {
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
      return short_quote(value->string());
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

const Json& require(const Json& object, const std::string& key, Json::Kind kind,
                    const std::string& expected, const std::string& where) {
  const Json* value = object.find(key);
  if (value == nullptr || value->kind() != kind) {
    refuse(where + ": " + key, expected, describe(value));
  }
  return *value;
}

void require_keys(const Json& object, std::initializer_list<const char*> known,
                  const std::string& where) {
  if (object.kind() != Json::Kind::object) refuse(where, "an object", describe(&object));
  for (const auto& [key, value] : object.object()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string names;
    for (const char* name : known) names += (names.empty() ? "" : ", ") + std::string(name);
    refuse(where, "only " + names, short_quote(key));
  }
}

}  // namespace glassbox
