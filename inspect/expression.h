// A formula as people type it, on a tape: "tanh(a*b + c)" with a = 2, b = -3, c = 10.
//
//   numbers, names, + - * / ^ (a power), unary -, brackets
//   the functions of expression_functions(), of one number or of two: max(x, y)
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "autograd/value.h"

namespace glassbox {

// Every name becomes one leaf with that label, however often it is used. Throws ConfigError with
// the place (from 1) for a formula that breaks the grammar, for a name without a number and for a
// number without use.
Value<double> evaluate_expression(Tape<double>& tape, std::string_view text,
                                  const std::map<std::string, double>& numbers);

// The names of the functions that a formula may call, blanks between them.
const std::string& expression_functions();

}  // namespace glassbox
