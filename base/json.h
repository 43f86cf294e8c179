// JSON as data: strict reading (no repeated keys, limited depth), and writing in one canonical form
// (no blanks, numbers as short as they can be). The library that parses stays behind this header's
// .cc file.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace glassbox {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;
  // In the order of `value_`'s alternatives.
  enum class Kind { null, boolean, integer, number, string, array, object };

  // Parses one JSON text. Throws FormatError, its message beginning with `where`: for bad syntax
  // (with the byte offset, from 0), for invalid UTF-8, for a key repeated within an object, for
  // nesting deeper than `max_depth`, for a number beyond a double's range, for anything but white
  // space after the value. Takes up to 40 bytes a value, and the keys and strings.
  static Json parse(std::string_view text, const std::string& where, int max_depth = 8);

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  // REQUIRES: the kind asked for.
  bool boolean() const { return std::get<bool>(value_); }
  // An integer is a number written with digits alone (`7`, `-3`, but not `7.0`, `7e0` or `-0`) that
  // fits.
  std::int64_t integer() const { return std::get<std::int64_t>(value_); }
  bool is_number() const { return kind() == Kind::integer || kind() == Kind::number; }
  // Of an integer too, widened.
  double number() const {
    return kind() == Kind::integer ? static_cast<double>(integer()) : std::get<double>(value_);
  }
  const std::string& string() const { return std::get<std::string>(value_); }
  const Array& array() const { return std::get<Array>(value_); }
  // In the file's order.
  const Object& object() const { return std::get<Object>(value_); }
  // An object's entry, or nullptr.
  const Json* find(std::string_view key) const;

 private:
  friend class JsonBuilder;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

// The text as a JSON string with its quotes; control characters are escaped, all else stays as it
// is.
std::string json_quote(std::string_view text);
// The shortest text that reads back as the same number; NaN and infinities as null.
std::string json_number(double value);
std::string json_number(float value);

// Writes one JSON text from left to right and puts the commas:
//
//   JsonWriter json;
//   json.begin_object().member("step", 7).member("loss", 2.5).key("words").values(words);
//   json.end_object();
//   std::string text = json.take();  // {"step":7,"loss":2.5,"words":["the","cat"]}
//
// REQUIRES: brackets match, and within an object each value has its key, which differs from the
// others.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);

  // Numbers and strings are written as json_number and json_quote do.
  JsonWriter& value(std::string_view text) { return raw(json_quote(text)); }
  JsonWriter& value(double number) { return raw(json_number(number)); }
  JsonWriter& value(float number) { return raw(json_number(number)); }
  template <std::integral T>
  JsonWriter& value(T number) {
    if constexpr (std::same_as<T, bool>) {
      return raw(number ? "true" : "false");
    } else {
      return raw(std::to_string(number));
    }
  }
  JsonWriter& null() { return raw("null"); }
  // A value that is JSON already: a text that another writer made, or a number with fewer digits.
  JsonWriter& raw(std::string_view json);

  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  // A whole array of strings or numbers.
  template <class Range>
  JsonWriter& values(const Range& range) {
    begin_array();
    for (const auto& each : range) value(each);
    return end_array();
  }

  // Puts a line feed before the next value, key or closing bracket, behind the comma.
  JsonWriter& new_line();

  // What has been written. The writer is empty then.
  std::string take() { return std::exchange(text_, {}); }

 private:
  void separate();
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);

  std::string text_;
  bool new_line_ = false;  // is due
};

}  // namespace glassbox
