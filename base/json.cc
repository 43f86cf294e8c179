#include "base/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace glassbox {

// Receives the parser's events and builds the value: the library's own tree would keep the last of
// two equal keys without a word.
class JsonBuilder {
 public:
  JsonBuilder(const std::string& where, int max_depth) : where_(where), max_depth_(max_depth) {}

  Json take() { return std::move(root_); }

  bool null() { return add(std::monostate{}); }
  bool boolean(bool value) { return add(value); }
  // Comes only for a text with a minus sign, so its 0 is `-0`.
  bool number_integer(std::int64_t value) { return value == 0 ? add(-0.0) : add(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return add(static_cast<double>(value));
    }
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(std::vector<std::uint8_t>&) { return false; }  // no JSON text has any

  bool start_object(std::size_t) { return open(Json::Object{}); }
  bool start_array(std::size_t) { return open(Json::Array{}); }
  bool end_array() { return close(); }
  bool end_object() {
    // Sorted and compared once: looking back at every key would be quadratic in a hostile file.
    std::vector<std::string_view> keys;
    for (const auto& entry : std::get<Json::Object>(open_.back()->value_)) {
      keys.push_back(entry.first);
    }
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) {
      throw FormatError(fmt::format(
          "{}: expected every key of an object once, found {} twice; remove one of the two", where_,
          quotation(*twice)));
    }
    return close();
  }
  bool key(std::string& name) {
    std::get<Json::Object>(open_.back()->value_).emplace_back().first = std::move(name);
    return true;
  }

  // `position` counts the bytes read, the one that does not fit among them.
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    constexpr int kNumberOutOfRange = 406;
    throw FormatError(fmt::format(
        "{}: expected JSON, found {} at byte {}; {}", where_,
        error.id == kNumberOutOfRange ? "a number beyond a double's range" : "what is none",
        position - std::min<std::size_t>(position, 1), "mend the text there or make it anew"));
  }

 private:
  // Puts the value where the next one belongs: the root, an array's end, the entry of the last key.
  template <class T>
  bool add(T value) {
    place().value_ = std::move(value);
    return true;
  }
  Json& place() {
    if (open_.empty()) return root_;
    if (auto* array = std::get_if<Json::Array>(&open_.back()->value_)) return array->emplace_back();
    return std::get<Json::Object>(open_.back()->value_).back().second;
  }
  template <class T>
  bool open(T empty) {
    if (open_.size() == static_cast<std::size_t>(max_depth_)) {
      throw FormatError(fmt::format("{}: expected at most {} levels of nesting, found more; {}",
                                    where_, max_depth_, "make the text flatter"));
    }
    Json& json = place();
    json.value_ = std::move(empty);
    open_.push_back(&json);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  int max_depth_;
  Json root_;
  std::vector<Json*> open_;  // outermost first; only the last one grows, so none of them moves
};

Json Json::parse(std::string_view text, const std::string& where, int max_depth) {
  const std::size_t invalid = find_invalid_utf8(text);
  if (invalid != kValidUtf8) {
    throw FormatError(fmt::format("{}: expected UTF-8, found the byte 0x{:02X} at byte {}; {}",
                                  where, static_cast<unsigned char>(text[invalid]), invalid,
                                  "save the text as UTF-8"));
  }
  // The library takes a NUL for the text's end and would ignore what follows.
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    throw FormatError(fmt::format("{}: expected JSON, found a NUL byte at byte {}; {}", where, nul,
                                  "check that this is a text file"));
  }
  JsonBuilder builder(where, max_depth);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : object()) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string json_quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted += '"';
}

namespace {
template <class T>
std::string shortest(T value) {
  if (!std::isfinite(value)) return "null";
  char text[32];  // the longest double takes 24: -1.7976931348623157e+308
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
}  // namespace

std::string json_number(double value) { return shortest(value); }
std::string json_number(float value) { return shortest(value); }

// A comma is due wherever the text does not end in what opens a value's place. A string can't
// mislead it: its last character is a quote.
void JsonWriter::separate() {
  if (!text_.empty() && std::string_view("{[:").find(text_.back()) == std::string_view::npos) {
    text_ += ',';
  }
  if (std::exchange(new_line_, false)) text_ += '\n';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  text_ += json_quote(name);
  text_ += ':';
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  if (std::exchange(new_line_, false)) text_ += '\n';
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::new_line() {
  new_line_ = true;
  return *this;
}

}  // namespace glassbox
