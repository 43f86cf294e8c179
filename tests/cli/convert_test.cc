#include <map>
#include <set>

#include "base/json.h"
#include "tests/cli/program.h"

using namespace glassbox;

namespace {

const std::string kTutorial = GLASSBOX_GOLDEN_DIR "/tutorial-small-model.json";
const std::string kTiny = GLASSBOX_GOLDEN_DIR "/tiny.txt";

// A message of protocol buffers as a reader that knows nothing of the writer sees it: field number
// to what stands there, varints as their digits.
using Fields = std::multimap<int, std::string>;
Fields fields_of(const std::string& text) {
  Fields fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      REQUIRE(at < text.size());
      const auto byte = static_cast<unsigned char>(text[at++]);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < text.size()) {
    const std::uint64_t tag = varint();
    const int field = static_cast<int>(tag >> 3);
    if ((tag & 7) == 0) {
      fields.emplace(field, std::to_string(varint()));
    } else {
      REQUIRE((tag & 7) == 2);
      const std::uint64_t size = varint();
      REQUIRE(size <= text.size() - at);
      fields.emplace(field, text.substr(at, size));
      at += size;
    }
  }
  return fields;
}
std::vector<std::string> all(const Fields& fields, int field) {
  std::vector<std::string> values;
  for (auto [begin, end] = fields.equal_range(field); begin != end; ++begin)
    values.push_back(begin->second);
  return values;
}

}  // namespace

TEST_CASE("convert: a model file comes back byte for byte", "[cli][convert]") {
  const Program glassbox;
  for (const char* const precision : {"float", "double"}) {
    glassbox.output("train TINY.txt --steps 20 --out M.safetensors --precision " +
                    std::string(precision) + kTinyShape);
    glassbox.output("convert M.safetensors copy.safetensors");
    CHECK(glassbox.file("copy.safetensors") == glassbox.file("M.safetensors"));
  }
}

TEST_CASE("convert: the tutorial's model comes in and goes out, to the last digit",
          "[cli][convert]") {
  const Program glassbox;
  glassbox.output("convert " + kTutorial + " M.safetensors --corpus " + kTiny);
  const Outcome out = glassbox("convert M.safetensors back.json --vocab words.txt");
  CHECK(out.status == 0);
  CHECK(glassbox.file("back.json") == file_bytes(kTutorial));
  glassbox.output("convert back.json again.safetensors --vocab words.txt");
  CHECK(glassbox.file("again.safetensors") == glassbox.file("M.safetensors"));
  CHECK_THAT(glassbox("convert M.safetensors alone.json").err, text_contains("stays behind"));
  // A float is widened: what comes back is the same number in double.
  glassbox.output("train TINY.txt --steps 9 --out F.safetensors" + kTinyShape);
  glassbox.output("convert F.safetensors F.json --vocab words.txt");
  glassbox.output("convert F.json D.safetensors --vocab words.txt");
  CHECK(glassbox.output("eval D.safetensors TINY.txt").substr(0, 9) ==
        glassbox.output("eval F.safetensors TINY.txt").substr(0, 9));
}

TEST_CASE("convert: an ONNX file has every weight, standard operators and the vocabulary",
          "[cli][convert]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 3 --n-layer 2 --n-embd 8 --n-head 2 --out M.safetensors");
  glassbox.output("convert M.safetensors M.onnx");
  const Fields model = fields_of(glassbox.file("M.onnx"));
  CHECK(all(model, 1) == std::vector<std::string>{"8"});  // IR version
  CHECK(all(fields_of(all(model, 8).at(0)), 2) == std::vector<std::string>{"13"});
  std::map<std::string, std::string> metadata;
  for (const std::string& entry : all(model, 14))
    metadata[all(fields_of(entry), 1).at(0)] = all(fields_of(entry), 2).at(0);
  CHECK_THAT(metadata["glassbox.tokenizer"], text_contains("lamp"));
  CHECK_THAT(metadata["glassbox.config"], text_contains("\"n_layer\":2"));

  const Fields graph = fields_of(all(model, 7).at(0));
  const std::set<std::string> standard = {"Gather", "Add",    "Mul",     "ReduceMean", "Sqrt",
                                          "Div",    "MatMul", "Reshape", "Transpose",  "Slice",
                                          "Shape",  "Concat", "Softmax", "Relu"};
  std::set<std::string> known = {"tokens"};
  std::size_t weights = 0;
  for (const std::string& text : all(graph, 5)) {
    const Fields tensor = fields_of(text);
    std::size_t size = 1;
    for (const std::string& dimension : all(tensor, 1)) size *= std::stoul(dimension);
    const std::size_t scalar = all(tensor, 2).at(0) == "1" ? 4 : 8;
    CHECK(all(tensor, 9).at(0).size() == size * scalar);
    const std::string name = all(tensor, 8).at(0);
    known.insert(name);
    if (name.starts_with("weights_")) weights += size;
  }
  CHECK(weights == 2 * 47 * 8 + 16 * 8 + 2 * 12 * 8 * 8);
  for (const std::string& text : all(graph, 1)) {
    const Fields node = fields_of(text);
    CHECK(standard.contains(all(node, 4).at(0)));
    for (const std::string& input : all(node, 1)) CHECK(known.contains(input));  // in order
    CHECK(known.insert(all(node, 2).at(0)).second);
  }
  CHECK(known.contains("logits"));
  glassbox.output("convert M.safetensors again.onnx");
  CHECK(glassbox.file("again.onnx") == glassbox.file("M.onnx"));
}

TEST_CASE("convert: what doesn't fit is refused, and nothing is left behind", "[cli][convert]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 3 --out M.safetensors" + kTinyShape);
  glassbox.output("train TINY.txt --steps 1 --tokenizer char --out C.safetensors" + kTinyShape);
  const std::string before = glassbox.file("M.safetensors");
  put_file(glassbox.folder / "two.txt", "a\nb\n");
  struct Case {
    std::string arguments;
    int status;
    const char* part;
  };
  for (const Case& c : {Case{"M.safetensors M.gguf", 2, ".onnx"},
                        {"M.safetensors M.safetensors", 2, "OUT"},
                        {kTutorial + " out.safetensors", 2, "--corpus or --vocab"},
                        {kTutorial + " out.safetensors --vocab two.txt", 1, "47"},
                        {kTutorial + " out.safetensors --corpus nothing.txt", 1, "nothing.txt"},
                        {"M.safetensors out.onnx --corpus TINY.txt", 2, "--corpus"},
                        {"M.safetensors out.onnx --vocab two.txt", 2, "--vocab"},
                        {"M.onnx out.safetensors", 2, "written only"},
                        {"C.safetensors out.json", 1, "tokenizer char"},
                        {"TINY.txt out.onnx", 1, "TINY.txt"},
                        {"M.safetensors no/folder/out.onnx", 1, "no/folder"},
                        {"M.safetensors", 2, "OUT"}}) {
    CAPTURE(c.arguments);
    const Outcome outcome = glassbox("convert " + c.arguments);
    CHECK(outcome.status == c.status);
    CHECK_THAT(outcome.err, text_contains(c.part));
    CHECK(lines_of(outcome.err).size() == 1);
    CHECK_FALSE(glassbox.has("out.safetensors"));
    CHECK_FALSE(glassbox.has("out.onnx"));
  }
  CHECK(glassbox.file("M.safetensors") == before);
  CHECK(file_bytes(glassbox.folder / "two.txt") == "a\nb\n");
}
