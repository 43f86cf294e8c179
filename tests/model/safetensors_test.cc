// The rules of the container, under the numbers they have in docs/formats.md. Each is broken by a
// file made for it; what is wrong with the model inside a sound container is in model_file_test.cc.
#include "model/safetensors.h"

#include <limits>
#include <string>

#include "tests/catch_compat.hpp"
#include "tests/model/model_files.h"

namespace glassbox {
namespace {

// A file of one tensor `t` of that description, and 8 bytes of numbers.
std::string one(const std::string& entry) { return container("{\"t\":" + entry + "}", "12345678"); }
const std::string kSound = R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";

TEST_CASE("safetensors: a sound file is read", "[model][safetensors]") {
  CHECK(container_error(container("{}")) == "accepted");
  CHECK(container_error(one(kSound)) == "accepted");
  CHECK(container_error(container("{}       ")) == "accepted");
  // A scalar, and a tensor without elements between two others.
  CHECK(container_error(container(R"({"s":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
                                  R"("none":{"dtype":"F32","shape":[0,9],"data_offsets":[8,8]},)"
                                  R"("half":{"dtype":"BF16","shape":[1],"data_offsets":[8,10]}})",
                                  "1234567890")) == "accepted");
}

TEST_CASE("safetensors rule 1: a file shorter than 8 bytes is refused", "[model][safetensors]") {
  CHECK_THAT(container_error(""),
             text_contains("header: expected a file of at least 8 bytes, found 0"));
  CHECK_THAT(container_error("1234567"), text_contains("found 7"));
}

TEST_CASE("safetensors rule 2: a header over 100 MB is refused", "[model][safetensors]") {
  std::string bytes;
  append_little_endian<std::uint64_t>(100'000'001, bytes);
  CHECK_THAT(container_error(bytes), text_contains("at most 100000000 bytes, found 100000001"));
  CHECK_THAT(container_error(std::string(8, '\xFF')), text_contains("found 18446744073709551615"));
}

TEST_CASE("safetensors rule 3: a header beyond the file is refused", "[model][safetensors]") {
  CHECK_THAT(container_error(container("{}").substr(0, 9)),
             text_contains("header: expected 2 bytes, found 1"));
  CHECK_THAT(container_error(container("{}").substr(0, 8)), text_contains("found 0"));
}

TEST_CASE("safetensors rule 4: a header that is not UTF-8 is refused", "[model][safetensors]") {
  CHECK_THAT(container_error(container("{\"\xFF\":1}")), text_contains("header: expected UTF-8"));
}

TEST_CASE("safetensors rule 5: a header that is not one JSON object is refused",
          "[model][safetensors]") {
  for (const char* header : {"", "[]", " {}", "7", "\xEF\xBB\xBF{}"}) {
    CHECK_THAT(container_error(container(header)), text_contains("header: expected a JSON object"));
  }
  CHECK_THAT(container_error(container("{")), text_contains("header: expected JSON"));
  CHECK_THAT(container_error(container("{}{}")), text_contains("header: expected JSON"));
  for (const char* header : {"{}\n", "{} \t "}) {
    CHECK_THAT(container_error(container(header)), text_contains("nothing but blanks behind"));
  }
  CHECK(container_error(container({"{}\0", 3})) != "accepted");
}

TEST_CASE("safetensors rule 6: a key twice is refused", "[model][safetensors]") {
  CHECK_THAT(container_error(container("{\"t\":" + kSound + ",\"t\":" + kSound + "}", "12345678")),
             text_contains("\"t\" twice"));
  CHECK_THAT(
      container_error(one(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})")),
      text_contains("\"dtype\" twice"));
  CHECK_THAT(container_error(container(R"({"__metadata__":{"k":"1","k":"2"}})")),
             text_contains("\"k\" twice"));
}

TEST_CASE("safetensors rule 7: an entry that lacks a field or has a wrong one is refused",
          "[model][safetensors]") {
  const struct {
    const char *entry, *place;
  } cases[] = {
      {R"({"shape":[2],"data_offsets":[0,8]})", "t: dtype: expected a text, found nothing"},
      {R"({"dtype":"F32","data_offsets":[0,8]})", "t: shape: expected a list, found nothing"},
      {R"({"dtype":"F32","shape":[2]})", "t: data_offsets: expected a list, found nothing"},
      {R"({"dtype":32,"shape":[2],"data_offsets":[0,8]})", "t: dtype: expected a text, found 32"},
      {R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})", "t: shape: expected a list, found 2"},
      {R"({"dtype":"F32","shape":["2"],"data_offsets":[0,8]})",
       "t: shape: expected a whole number"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0]})", "data_offsets: expected two numbers"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,4,8]})", "two numbers, found 3"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1})", "found \"x\""},
      {R"("F32")", "t: expected an object, found \"F32\""},
  };
  for (const auto& c : cases) CHECK_THAT(container_error(one(c.entry)), text_contains(c.place));
}

TEST_CASE("safetensors rule 8: a dtype that is unknown or ends within a byte is refused",
          "[model][safetensors]") {
  CHECK_THAT(container_error(one(R"({"dtype":"F33","shape":[2],"data_offsets":[0,8]})")),
             text_contains("t: dtype: expected one of the format's, like F32, found \"F33\""));
  CHECK_THAT(container_error(one(R"({"dtype":"F4","shape":[15],"data_offsets":[0,8]})")),
             text_contains("t: shape: expected a whole number of bytes, found 60 bits"));
  CHECK(container_error(one(R"({"dtype":"F4","shape":[16],"data_offsets":[0,8]})")) == "accepted");
}

TEST_CASE("safetensors rule 9: a size that overflows 64 bits is refused", "[model][safetensors]") {
  for (const char* shape :
       {"4294967296,4294967296", "9223372036854775807", "4294967296,4294967296,0"}) {
    CHECK_THAT(container_error(one(R"({"dtype":"F32","shape":[)" + std::string(shape) +
                                   R"(],"data_offsets":[0,8]})")),
               text_contains("t: shape: expected a size within 64 bits"));
  }
}

TEST_CASE("safetensors rule 10: a tensor that ends before it begins is refused",
          "[model][safetensors]") {
  CHECK_THAT(
      container_error(one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})")),
      text_contains("t: data_offsets: expected an end not before the beginning, found [8, 0]"));
}

TEST_CASE("safetensors rule 11: gaps and overlaps are refused", "[model][safetensors]") {
  const auto two = [](const std::string& a, const std::string& b, const std::string& numbers) {
    return container_error(container(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + a +
                                         R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b +
                                         "}}",
                                     numbers));
  };
  CHECK(two("[0,4]", "[4,8]", "12345678") == "accepted");
  CHECK(two("[4,8]", "[0,4]", "12345678") == "accepted");
  CHECK_THAT(two("[4,8]", "[8,12]", "123456789012"),
             text_contains("a: data_offsets: expected a beginning at 0"));
  CHECK_THAT(two("[0,4]", "[5,9]", "123456789"),
             text_contains("b: data_offsets: expected a beginning "
                           "at 4, where the tensor before ends, "
                           "found 5 (a gap)"));
  CHECK_THAT(two("[0,4]", "[3,7]", "1234567"), text_contains("found 3 (an overlap)"));
  CHECK_THAT(two("[0,4]", "[0,4]", "1234"), text_contains("found 0 (an overlap)"));
}

TEST_CASE("safetensors rule 12: bytes that do not fit the shape are refused",
          "[model][safetensors]") {
  CHECK_THAT(container_error(one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})")),
             text_contains("t: data_offsets: expected 12 bytes for shape [3] of F32, found 8"));
}

TEST_CASE("safetensors rule 13: missing and trailing bytes are refused", "[model][safetensors]") {
  CHECK_THAT(
      container_error(one(kSound) + "9"),
      text_contains("size: expected 8 bytes of numbers behind the header, found 9 (trailing"));
  CHECK_THAT(container_error(container("{\"t\":" + kSound + "}", "1234567")),
             text_contains("found 7 (cut short)"));
  CHECK_THAT(container_error(container("{}", "1")), text_contains("expected 0 bytes"));
}

TEST_CASE("safetensors rule 14: metadata that is not text is refused", "[model][safetensors]") {
  CHECK_THAT(container_error(container(R"({"__metadata__":{"k":1}})")),
             text_contains("__metadata__: \"k\": expected a text, found 1"));
  CHECK_THAT(container_error(container(R"({"__metadata__":"k"})")),
             text_contains("__metadata__: expected an object, found \"k\""));
}

TEST_CASE("safetensors rule 15: odd numbers and names and deep nesting are refused",
          "[model][safetensors]") {
  const auto numbered = [](const std::string& size, const std::string& end) {
    return container_error(
        one(R"({"dtype":"F32","shape":[)" + size + R"(],"data_offsets":[0,)" + end + "]}"));
  };
  for (const char* number : {"2.0", "2e0", "-0", "-1", "9223372036854775808"}) {
    CHECK_THAT(numbered(number, "8"), text_contains("t: shape: expected a whole number from 0"));
    CHECK_THAT(numbered("2", number), text_contains("t: data_offsets: expected a whole number"));
  }
  for (const char* number : {"1e999", "02", "+2"}) {
    CHECK_THAT(numbered(number, "8"), text_contains("header: expected JSON"));
  }
  CHECK_THAT(
      container_error(container("{\"t\":" + std::string(9, '[') + std::string(9, ']') + "}")),
      text_contains("header"));
  CHECK_THAT(container_error(container("{\"t\":" + std::string(100'000, '['))),
             text_contains("header"));
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  CHECK_THAT(numbered(ones, "4"), text_contains("t: shape: expected at most 64 sizes, found 65"));
  const auto named = [](const std::string& name) {
    return container_error(container("{\"" + name + "\":" + kSound + "}", "12345678"));
  };
  CHECK(named(std::string(1024, 'n')) == "accepted");
  CHECK(named("\xC3\x80") == "accepted");  // a letter
  CHECK_THAT(named(std::string(1025, 'n')),
             text_contains("header: expected names of at most 1024"));
  // A message quotes the beginning of a long one.
  CHECK(container_error(container("{\"" + std::string(1000, 'n') + "\":{}}")).size() < 300);
  for (const char* name : {"\\n", "\\u001b[31m", "\x7F", "\xC2\x9B"}) {
    CHECK_THAT(named(name), text_contains("without control characters"));
  }
}

TEST_CASE("safetensors rule 21: every truncation is refused", "[model][safetensors]") {
  const std::string whole = tiny_model_file<float>();
  REQUIRE(model_error(whole) == "accepted");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (container_error(whole.substr(0, size)) == "accepted") FAIL("accepted at " << size);
  }
}

TEST_CASE("safetensors rule 21: a flipped bit is refused or harmless", "[model][safetensors]") {
  const std::string whole = tiny_model_file<float>();
  const TemporaryFolder folder;
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {0x01, 0x04, 0x20, 0x80, 0xFF}) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ bit);
      put_file(folder / "x", flipped);
      try {
        read_model(folder / "x");
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("safetensors rule 22: a huge file is refused without reading it",
          "[model][safetensors]") {
  const TemporaryFolder folder;
  put_file(folder / "x", one(kSound));
  std::filesystem::resize_file(folder / "x", 1ull << 40);  // sparse: takes no room on the disk
  CHECK_THROWS_WITH(SafetensorsReader(folder / "x"), text_contains("trailing bytes"));
}

TEST_CASE("safetensors: a missing file and a folder are told with the system's reason",
          "[model][safetensors]") {
  CHECK_THROWS_AS(SafetensorsReader("no/such/file"), FileError);
  CHECK_THROWS_AS(SafetensorsReader(std::filesystem::temp_directory_path().string()), FileError);
  CHECK_THROWS_WITH(SafetensorsReader("/dev/null"), text_contains("at least 8 bytes, found 0"));
}

TEST_CASE("safetensors: scalars are little endian on every host", "[model][safetensors]") {
  std::string bytes;
  append_little_endian(1.0f, bytes);
  append_little_endian(1.0, bytes);
  CHECK(bytes == std::string("\0\0\x80\x3F\0\0\0\0\0\0\xF0\x3F", 12));
  CHECK(from_little_endian<float>(bytes.data()) == 1.0f);
  CHECK(from_little_endian<double>(bytes.data() + 4) == 1.0);
}

TEST_CASE("safetensors: what is written stands in order, aligned, and is read back",
          "[model][safetensors]") {
  const std::string bytes = safetensors_bytes({{"b", "F32", {1, 2}, "bbbbbbbb"},
                                               {"a", "F32", {1}, "aaaa"},
                                               {"c\"\\\xC3\xA9", "F64", {}, "cccccccc"}},
                                              {{"k", "line\n\"quoted\" \x01"}, {"j", ""}});
  CHECK(from_little_endian<std::uint64_t>(bytes.data()) % 8 == 0);
  CHECK(bytes.ends_with("ccccccccaaaabbbbbbbb"));
  const TemporaryFolder folder;
  put_file(folder / "x", bytes);
  const SafetensorsReader reader(folder / "x");
  CHECK(reader.metadata() ==
        std::map<std::string, std::string>{{"k", "line\n\"quoted\" \x01"}, {"j", ""}});
  REQUIRE(reader.tensors().size() == 3);
  CHECK(reader.find("d") == nullptr);
  CHECK(reader.find("b")->shape == std::vector<std::uint64_t>{1, 2});
  CHECK(reader.read(*reader.find("b")) == "bbbbbbbb");
  CHECK(reader.find("c\"\\\xC3\xA9")->dtype == "F64");
  // Without tensors and metadata the header is still an object of a multiple of 8.
  CHECK(safetensors_bytes({}, {}) == container("{}      "));
}

}  // namespace
}  // namespace glassbox
