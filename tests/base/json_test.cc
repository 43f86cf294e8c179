#include "base/json.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"
#include "tests/support/error_message.h"

using namespace glassbox;
using Kind = Json::Kind;

namespace {
std::string refused(std::string_view text) {
  const std::string message = error_message<FormatError>([&] { Json::parse(text, "m.json"); });
  CHECK(message.compare(0, 8, "m.json: ") == 0);
  return message;
}
}  // namespace

TEST_CASE("Json keeps an object's entries in the file's order", "[base][json]") {
  const Json json = Json::parse(R"( {"b": [true, null, "x\u00e4\n"], "a": {"c": -7}} )", "m.json");
  REQUIRE(json.kind() == Kind::object);
  REQUIRE(json.object().size() == 2);
  CHECK(json.object()[0].first == "b");
  const auto& array = json.find("b")->array();
  REQUIRE(array.size() == 3);
  CHECK(array[0].boolean());
  CHECK(array[1].kind() == Kind::null);
  CHECK(array[2].string() == "x\xC3\xA4\n");
  CHECK(json.find("a")->find("c")->integer() == -7);
  CHECK(json.find("d") == nullptr);
}

TEST_CASE("Json: an integer is written with digits alone and fits in 64 bits", "[base][json]") {
  const auto [text, kind, number] = GENERATE(table<std::string, Kind, double>({
      {"0", Kind::integer, 0},
      {"-7", Kind::integer, -7},
      {"9223372036854775807", Kind::integer, 0x1p63},
      {"-9223372036854775808", Kind::integer, -0x1p63},
      {"9223372036854775808", Kind::number, 0x1p63},
      {"18446744073709551615", Kind::number, 0x1p64},
      {"18446744073709551616", Kind::number, 0x1p64},
      {"-9223372036854775809", Kind::number, -0x1p63},
      {"1.0", Kind::number, 1},
      {"1e3", Kind::number, 1000},
      {"-0", Kind::number, 0},
  }));
  CAPTURE(text);
  const Json json = Json::parse(text, "m.json");
  CHECK(json.kind() == kind);
  CHECK(json.number() == number);
  CHECK(std::signbit(json.number()) == (text[0] == '-'));
}

TEST_CASE("Json refuses bad syntax and says at which byte", "[base][json]") {
  const auto [text, byte] = GENERATE(table<std::string, std::string>({
      {"", "byte 0"},
      {"  ", "byte 2"},
      {"[1,]", "byte 3"},
      {"{\"a\":1} x", "byte 8"},
      {"[1] [2]", "byte 4"},
      {"[01]", "byte 2"},
      {"[+1]", "byte 1"},
      {"[nan]", "byte 2"},
      {"{a:1}", "byte 1"},
      {"[1", "byte 2"},
      {"\"\\ud800\"", "byte 7"},  // half a pair
      {"\"\t\"", "byte 1"},       // a control character
      {"[1] // a comment", "byte 4"},
  }));
  CAPTURE(text);
  CHECK_THAT(refused(text), text_contains("expected JSON, found what is none at " + byte + ";"));
}

TEST_CASE("Json refuses a NUL byte and does not take it for the end", "[base][json]") {
  CHECK_THAT(refused(std::string_view("{}\0 evil", 8)), text_contains("NUL byte at byte 2"));
}

TEST_CASE("Json refuses invalid UTF-8 and names the byte", "[base][json]") {
  CHECK_THAT(refused("[\"ab\xC0\x80\"]"), text_contains("found the byte 0xC0 at byte 4"));
}

TEST_CASE("Json refuses a number beyond a double", "[base][json]") {
  CHECK_THAT(refused("[1e999]"), text_contains("a number beyond a double's range"));
}

TEST_CASE("Json refuses a repeated key at any depth, spelled with an escape too", "[base][json]") {
  CHECK_THAT(refused(R"({"a":1,"b":2,"\u0061":3})"), text_contains("found \"a\" twice"));
  CHECK_THAT(refused(R"([{"x":{"k":1,"k":1}}])"), text_contains("found \"k\" twice"));
  CHECK_NOTHROW(Json::parse(R"([{"k":1},{"k":{"k":1}}])", "m.json"));
}

TEST_CASE("Json refuses nesting beyond the depth, a million brackets included", "[base][json]") {
  CHECK_NOTHROW(Json::parse("[[[[[[[[]]]]]]]]", "m.json"));
  CHECK_THAT(refused("[[[[[[[[[]]]]]]]]]"), text_contains("at most 8 levels of nesting"));
  CHECK_THAT(refused(std::string(1'000'000, '[')), text_contains("at most 8 levels of nesting"));
}

TEST_CASE("json_quote gives a text that reads back as the same", "[base][json]") {
  std::string text = "\"\\/ \xC3\xA4 \xF0\x9F\x90\xB1";
  for (char c = 1; c < 0x20; ++c) text += c;
  CHECK(Json::parse(json_quote(text), "m.json").string() == text);
  CHECK(json_quote("a\n\x1b\"") == "\"a\\n\\u001b\\\"\"");
}

TEST_CASE("json_number is the shortest text, without the locale and without NaN", "[base][json]") {
  CHECK(json_number(0.1) == "0.1");
  CHECK(json_number(0.1f) == "0.1");
  CHECK(json_number(double{0.1f}) == "0.10000000149011612");
  CHECK(json_number(1.0) == "1");
  CHECK(json_number(-0.0) == "-0");
  CHECK(json_number(1e-5) == "1e-05");
  CHECK(json_number(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(json_number(-std::numeric_limits<float>::infinity()) == "null");
}

TEST_CASE("json_number reads back as the same double for random bits", "[base][json]") {
  std::mt19937_64 bits(7);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t u = bits();
    double value;
    static_assert(sizeof u == sizeof value);
    std::memcpy(&value, &u, sizeof value);
    if (!std::isfinite(value)) continue;
    REQUIRE(Json::parse(json_number(value), "m.json").number() == value);
  }
}

TEST_CASE("JsonWriter puts the commas in nested objects and arrays", "[base][json]") {
  const std::vector<std::string> words = {"the", "c\"at", ""};
  JsonWriter json;
  json.begin_object();
  json.member("step", std::size_t{7}).member("loss", 0.1f).member("lr", 0.1).member("ok", true);
  json.key("none").null().key("words").values(words).key("empty").values(std::vector<double>{});
  json.key("rows").begin_array();
  for (int row = -1; row < 1; ++row) json.begin_array().value(row).value(row + 0.5).end_array();
  json.begin_object().end_object().end_array().member("text", "a literal is no bool").end_object();
  CHECK(json.take() ==
        R"({"step":7,"loss":0.1,"lr":0.1,"ok":true,"none":null,"words":["the","c\"at",""],)"
        R"("empty":[],"rows":[[-1,-0.5],[0,0.5],{}],"text":"a literal is no bool"})");
}

TEST_CASE("JsonWriter separates values whose last character opens nothing", "[base][json]") {
  JsonWriter json;
  json.begin_array().value("{").value("[").value(":").raw("1e-3").value(-0.0).end_array();
  CHECK(json.take() == R"(["{","[",":",1e-3,-0])");
  CHECK(json.take().empty());
}

TEST_CASE("JsonWriter writes NaN and infinities as null and integers whole", "[base][json]") {
  JsonWriter json;
  json.begin_array().value(std::numeric_limits<double>::quiet_NaN());
  json.value(std::numeric_limits<float>::infinity());
  json.value(std::numeric_limits<std::uint64_t>::max());
  json.value(std::numeric_limits<std::int64_t>::min()).end_array();
  CHECK(json.take() == "[null,null,18446744073709551615,-9223372036854775808]");
}

TEST_CASE("JsonWriter begins a line behind the comma, and before a bracket", "[base][json]") {
  JsonWriter json;
  json.begin_object().key("rows").begin_array();
  for (int row = 0; row < 2; ++row) json.new_line().begin_object().member("a", row).end_object();
  json.new_line().end_array().end_object();
  CHECK(json.take() == "{\"rows\":[\n{\"a\":0},\n{\"a\":1}\n]}");
}

TEST_CASE("JsonWriter's text reads back as what was written", "[base][json]") {
  JsonWriter json;
  json.begin_object()
      .member("\x1b\"key", "\xC3\xA4\n")
      .key("n")
      .values(std::vector<double>{0.1, 1e300});
  const Json read = Json::parse(json.end_object().take(), "m.json");
  CHECK(read.find("\x1b\"key")->string() == "\xC3\xA4\n");
  CHECK(read.find("n")->array()[1].number() == 1e300);
}
