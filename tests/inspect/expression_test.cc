#include "inspect/expression.h"

#include <cmath>

#include "base/error.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"

namespace glassbox {

TEST_CASE("evaluate_expression: precedence, brackets and functions are those of arithmetic",
          "[inspect][expression]") {
  const std::map<std::string, double> numbers = {{"a", 2}, {"b", -3}, {"c", 10}};
  const auto value = [&](const char* text) {
    Tape<double> tape;
    return evaluate_expression(tape, text, numbers).data();
  };
  CHECK(value("a*b + c") == 4);
  CHECK(value("c - a - b") == 11);
  CHECK(value("(a + b) * c") == -10);
  CHECK(value("c / a / b * 1") == Approx(-5.0 / 3));
  CHECK(value("-a^2 + b + c") == 3);
  CHECK(value("a^3^0.5 + 0*(b+c)") == Approx(std::pow(2, std::sqrt(3.0))));
  CHECK(value("2e1*a+b+c") == 47);
  CHECK(value("tanh(a*b + c) + max(b, c) - min(b, -a)") == Approx(std::tanh(4) + 13));
}

TEST_CASE("evaluate_expression: a name used twice is one leaf, its gradient the sum of both uses",
          "[inspect][expression]") {
  Tape<double> tape;
  const auto y = evaluate_expression(tape, "a*a + a", {{"a", 3}});
  y.backward();
  REQUIRE(tape.label(0) == "a");
  REQUIRE(tape.grad(0) == 7);
}

TEST_CASE("evaluate_expression: what breaks the grammar is refused with its place",
          "[inspect][expression]") {
  const auto message = [](const std::string& text) {
    return error_message<ConfigError>([&] {
      Tape<double> tape;
      evaluate_expression(tape, text, {{"a", 1}});
    });
  };
  CHECK_THAT(message("a +"),
             text_contains("character 4: expected a number, a name or '(', found the end"));
  CHECK_THAT(message("(a"), text_contains("expected ')'"));
  CHECK_THAT(message("a)"), text_contains("expected an operator or the end"));
  CHECK_THAT(message("tahn(a)"), text_contains("did you mean tanh?"));
  CHECK_THAT(message("a*d"), text_contains("expected a number for d; write d=1"));
  CHECK_THAT(message("max(a)"), text_contains("',' and a second number"));
  CHECK_THAT(message("1"), text_contains("a=1: expected a name of the formula"));
  CHECK_THAT(message(std::string(100000, '(')), text_contains("at most 200 nested"));
}

}  // namespace glassbox
