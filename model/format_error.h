// What the readers and writers of this folder refuse, in one line: the place, what was expected,
// what was found, and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "model/config.h"

namespace glassbox {

inline constexpr const char* kDamaged =
    "the file is damaged or was edited: train again or use a backup";

// To be thrown: "WHERE: expected EXPECTED, found FOUND; ADVICE".
FormatError format_error(const std::string& where, const std::string& expected,
                         const std::string& found, const std::string& advice = kDamaged);

// Throws NumericError, by which the writers refuse NaN and infinities.
[[noreturn]] void throw_non_finite(const std::string& where, const std::string& tensor,
                                   std::size_t row, std::size_t col, double value);

// Validates the config, which a file holds at `where`. Throws FormatError.
void validate_in_file(const GptConfig& config, const std::string& where);

// A JSON value for a message: scalars as they are written, the rest by kind. nullptr is "nothing".
std::string describe_json(const Json* value);

// "[597, 32]".
std::string shape_text(const std::vector<std::uint64_t>& shape);

// A JSON object of a file, read member by member. Each of these functions throws FormatError.
// REQUIRES: the value lives as long.
class FileObject {
 public:
  // Refuses anything but an object, and a member that is none of the known ones: whoever wrote it
  // meant something that we would not do.
  FileObject(const Json& json, std::string where, std::initializer_list<const char*> known);

  // The member, which must be there and of that kind; `expected` names it in the message.
  const Json& get(const std::string& key, Json::Kind kind, const std::string& expected) const;
  // A whole number of at least 1.
  std::size_t size(const std::string& key) const;
  // To be thrown: what the member holds is not what was expected.
  FormatError error(const std::string& key, const std::string& expected,
                    const std::string& advice = kDamaged) const;

 private:
  const Json& json_;
  std::string where_;
};

}  // namespace glassbox
