// How the readers and writers of this folder say no: one line with place, expected, found, and what
// to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/json.h"

namespace glassbox {

inline constexpr const char* kDamaged =
    "the file is damaged or was edited: train again or use a backup";

// Throws FormatError "WHERE: expected EXPECTED, found FOUND; ADVICE".
[[noreturn]] void refuse(const std::string& where, const std::string& expected,
                         const std::string& found, const std::string& advice = kDamaged);

// Throws NumericError: the writers' refusal of NaN and infinities.
[[noreturn]] void throw_non_finite(const std::string& where, const std::string& tensor,
                                   std::size_t row, std::size_t col, double value);

// The text in quotes, or "a long text": a message is one line, whatever a file says.
std::string short_quote(const std::string& text);

// A JSON value for a message: scalars as they are written, the rest by kind. nullptr is "nothing".
std::string describe(const Json* value);

// "[597, 32]".
std::string shape_text(const std::vector<std::uint64_t>& shape);

// The object's entry, which must be there and of that kind; `expected` names it in the message.
const Json& require(const Json& object, const std::string& key, Json::Kind kind,
                    const std::string& expected, const std::string& where);

// Refuses anything but an object, and an entry that is none of the known ones: whoever wrote it
// meant something that we would not do.
void require_keys(const Json& object, std::initializer_list<const char*> known,
                  const std::string& where);

}  // namespace glassbox
