#include "inspect/expression.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "base/closest_match.h"
#include "base/error.h"
#include "base/quote.h"

namespace glassbox {

namespace {

using V = Value<double>;

struct Function {
  const char* name;
  V (*one)(const V&);
  V (*two)(const V&, const V&);
};
constexpr Function kFunctions[] = {
    {"abs", [](const V& x) { return abs(x); }, nullptr},
    {"exp", [](const V& x) { return exp(x); }, nullptr},
    {"gelu", [](const V& x) { return gelu(x); }, nullptr},
    {"log", [](const V& x) { return log(x); }, nullptr},
    {"relu", [](const V& x) { return relu(x); }, nullptr},
    {"rsqrt", [](const V& x) { return rsqrt(x); }, nullptr},
    {"sigmoid", [](const V& x) { return sigmoid(x); }, nullptr},
    {"silu", [](const V& x) { return silu(x); }, nullptr},
    {"sqrt", [](const V& x) { return sqrt(x); }, nullptr},
    {"tanh", [](const V& x) { return tanh(x); }, nullptr},
    {"max", nullptr, [](const V& x, const V& y) { return max(x, y); }},
    {"min", nullptr, [](const V& x, const V& y) { return min(x, y); }},
    {"pow", nullptr, [](const V& x, const V& y) { return pow(x, y); }},
};

// By recursive descent, a function a rule:
//   sum = product {(+|-) product}   product = unary {(*|/) unary}   unary = -unary | power
//   power = primary [^ unary]       primary = number | name | name(sum {, sum}) | (sum)
class Parser {
 public:
  Parser(Tape<double>& tape, std::string_view text, const std::map<std::string, double>& numbers)
      : tape_(tape), text_(text), numbers_(numbers) {}

  V whole() {
    const V value = sum();
    if (peek() != 0) fail("an operator or the end", "check the brackets");
    for (const auto& [name, number] : numbers_)
      if (!leaves_.contains(name))
        throw ConfigError(fmt::format("{0}={1}: expected a name of the formula; it has no {0}",
                                      shortened(name), number));
    return value;
  }

 private:
  static constexpr int kDeepest = 200;  // brackets within brackets: far from the end of the stack

  [[noreturn]] void fail(const std::string& expected, const std::string& advice) {
    const std::string found =
        peek() == 0 ? "the end" : fmt::format("'{}'", shortened(text_.substr(at_), 12));
    throw ConfigError(fmt::format("expression: character {}: expected {}, found {}; {}", at_ + 1,
                                  expected, found, advice));
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  V sum() {
    V left = product();
    while (true) {
      if (take('+'))
        left = left + product();
      else if (take('-'))
        left = left - product();
      else
        return left;
    }
  }
  V product() {
    V left = unary();
    while (true) {
      if (take('*'))
        left = left * unary();
      else if (take('/'))
        left = left / unary();
      else
        return left;
    }
  }
  V unary() {
    if (++depth_ > kDeepest) fail("at most 200 nested brackets and signs", "split the formula");
    const V value = take('-') ? -unary() : power();
    --depth_;
    return value;
  }
  V power() {
    const V base = primary();
    return take('^') ? pow(base, unary()) : base;
  }
  V primary() {
    if (take('(')) {
      const V value = sum();
      if (!take(')')) fail("')'", "check the brackets");
      return value;
    }
    const char next = peek();
    if (is_digit(next) || next == '.') return number();
    if (is_letter(next)) return named();
    fail("a number, a name or '('", "write for instance tanh(a*b + c)");
  }
  V number() {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a number", "write for instance 0.5");
    at_ = static_cast<std::size_t>(end - text_.data());
    return tape_.leaf(value);
  }
  V named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (take('(')) return call(name, begin);
    if (const auto known = leaves_.find(name); known != leaves_.end()) return known->second;
    const auto given = numbers_.find(name);
    if (given == numbers_.end())
      throw ConfigError(fmt::format("expression: expected a number for {0}; write {0}=1 behind it",
                                    shortened(name)));
    return leaves_.emplace(name, tape_.leaf(given->second, name)).first->second;
  }
  V call(const std::string& name, std::size_t begin) {
    std::vector<std::string> names;
    for (const Function& function : kFunctions) {
      names.emplace_back(function.name);
      if (name != function.name) continue;
      const V first = sum();
      if (function.two && !take(',')) fail("',' and a second number", "it takes two");
      const V value = function.one ? function.one(first) : function.two(first, sum());
      if (!take(')')) fail("')'", "check the brackets");
      return value;
    }
    at_ = begin;
    fail("a function", suggestion(name, names, "known are " + expression_functions()));
  }

  Tape<double>& tape_;
  std::string_view text_;
  const std::map<std::string, double>& numbers_;
  std::map<std::string, V> leaves_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

const std::string& expression_functions() {
  static const std::string names = [] {
    std::string list;
    for (const Function& function : kFunctions)
      list += (list.empty() ? "" : " ") + std::string(function.name);
    return list;
  }();
  return names;
}

Value<double> evaluate_expression(Tape<double>& tape, std::string_view text,
                                  const std::map<std::string, double>& numbers) {
  return Parser(tape, text, numbers).whole();
}

}  // namespace glassbox
