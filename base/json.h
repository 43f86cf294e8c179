// JSON as data: strict reading (no repeated keys, limited depth), and number and string writing in one
// canonical form. The library that parses stays behind this header's .cc file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace glassbox {

class Json {
 public:
  enum class Kind { null, boolean, integer, number, string, array, object };

  // Parses one JSON text. Throws FormatError, its message beginning with `where`: for bad syntax (with
  // the byte offset), for invalid UTF-8, for a key repeated within an object, for nesting deeper than `max_depth`, for
  // anything but white space after the value.
  static Json parse(std::string_view text, const std::string& where, int max_depth = 8);

  Kind kind() const { return kind_; }
  // REQUIRES: the kind asked for.
  bool boolean() const { return boolean_; }
  // An integer is a number written with digits alone (`7`, `-3`, but not `7.0`, `7e0` or `-0`) that fits.
  std::int64_t integer() const { return integer_; }
  // Of an integer too, widened.
  double number() const { return kind_ == Kind::integer ? static_cast<double>(integer_) : number_; }
  const std::string& string() const { return string_; }
  const std::vector<Json>& array() const { return array_; }
  // In the file's order.
  const std::vector<std::pair<std::string, Json>>& object() const { return object_; }
  // An object's entry, or nullptr.
  const Json* find(std::string_view key) const;

 private:
  friend class JsonBuilder;
  Kind kind_ = Kind::null;
  bool boolean_ = false;
  std::int64_t integer_ = 0;
  double number_ = 0;
  std::string string_;
  std::vector<Json> array_;
  std::vector<std::pair<std::string, Json>> object_;
};

// The text as a JSON string with its quotes; control characters are escaped, all else stays UTF-8.
std::string json_quote(std::string_view text);
// The shortest text that reads back as the same number; NaN and infinities as null.
std::string json_number(double value);
std::string json_number(float value);

}  // namespace glassbox
