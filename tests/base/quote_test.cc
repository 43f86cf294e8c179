#include "base/quote.h"

#include "base/closest_match.h"
#include "tests/catch_compat.hpp"

using namespace glassbox;

TEST_CASE("shortened keeps so many characters and never half of one", "[base][quote]") {
  CHECK(shortened("cat", 3) == "cat");
  CHECK(shortened("cats", 3) == "cat...");
  CHECK(shortened("кошка", 2) == "ко...");
  CHECK(shortened("😀😀😀", 2) == "😀😀...");
  CHECK(shortened("", 0).empty());
  CHECK(shortened("\xFF\xC3", 1) ==
        "\xFF...");  // a byte that is part of no character counts as one
  CHECK(shortened(std::string(100'000, 'a')).size() == 63);
  CHECK(quotation("a\"b") == "\"a\\\"b\"");
}

TEST_CASE("listed names a handful and counts the rest", "[base][quote]") {
  CHECK(listed({}).empty());
  CHECK(listed({"a"}) == "a");
  CHECK(listed({"a", "b", "c", "d", "e"}) == "a, b, c, d, e");
  CHECK(listed(std::vector<std::string>(1000, "x")) == "x, x, x, x, x and 995 more");
}

TEST_CASE("counted: one is single", "[base][quote]") {
  CHECK(counted(1, "word") == "1 word");
  CHECK(counted(0, "word") == "0 words");
  CHECK(counted(15, "character") == "15 characters");
}

TEST_CASE("closest_match: what both begin with makes no word near", "[base][quote]") {
  const std::vector<std::string> commands{"inspect value", "inspect gradients", "sample"};
  CHECK(closest_match("inspect gradeints", commands) == "inspect gradients");
  CHECK(closest_match("inspect nope", commands).empty());
  CHECK(closest_match("smaple", commands) == "sample");
  CHECK(closest_match("layers.0.attention.qury",
                      {"layers.0.attention.value", "layers.0.attention.query"}) ==
        "layers.0.attention.query");
  CHECK(closest_match("layers.0.attention.xyz", {"layers.0.attention.key"}).empty());
  CHECK(closest_match("top-q", {"top-p", "top-k"}) == "top-p");
  CHECK(closest_match("x", {"a", "of"}).empty());
  CHECK(closest_match(std::string(100'000, 'a'), {"a", std::string(90'000, 'b')}).empty());
}
