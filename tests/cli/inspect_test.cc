// glassbox inspect and next, as a user types them.
#include <cmath>
#include <regex>
#include <vector>

#include "base/json.h"
#include "tests/cli/program.h"

namespace glassbox {

namespace {
// A small trained model of each precision: m.safetensors and d.safetensors.
const Program& trained() {
  static const Program program;
  if (!program.has("d.safetensors")) {
    program.output("train TINY.txt --steps 60 --out m.safetensors" + kTinyShape);
    program.output("train TINY.txt --steps 60 --precision double --out d.safetensors" + kTinyShape);
  }
  return program;
}
std::string words() { return "'" + lines_of(trained().file("TINY.txt")).front() + "'"; }

double number_behind(const std::string& text, const std::string& label) {
  const std::size_t at = text.find("\n" + label + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + label.size() + 1));
}
}  // namespace

TEST_CASE(
    "inspect gradcheck: all parameters of either precision, status 0, the count in the last line",
    "[cli][inspect]") {
  for (const char* model : {"m", "d"}) {
    const Outcome outcome =
        trained()("inspect gradcheck " + std::string(model) + ".safetensors " + words());
    CAPTURE(outcome.out, outcome.err);
    REQUIRE(outcome.status == 0);
    const std::string last = lines_of(outcome.out).back();
    const std::string all = lines_of(trained().output("inspect params m.safetensors")).front();
    const std::string count = all.substr(0, all.find(' '));
    REQUIRE(last == "checked " + count + " of " + count + ": ok");
  }
}

TEST_CASE("inspect gradcheck: --sample checks that many", "[cli][inspect]") {
  const auto lines =
      lines_of(trained().output("inspect gradcheck m.safetensors " + words() + " --sample 17"));
  REQUIRE_THAT(lines.back(), text_contains("checked 17 of "));
}

TEST_CASE("inspect trace: the printed sum is the printed logit", "[cli][inspect]") {
  const std::string text = trained().output("inspect trace d.safetensors " + words() + " --at 1");
  REQUIRE(number_behind(text, "sum") == number_behind(text, "logit"));
}

TEST_CASE("inspect value: a logit's chance is what next prints", "[cli][inspect]") {
  const Json next = Json::parse(trained().output("next d.safetensors --top 1 --json"), "next");
  const std::string word = next.find("next")->array()[0].find("word")->string();
  const auto lines = lines_of(
      trained().output("inspect value d.safetensors " + words() + " 'logits@0[" + word + "]'"));
  REQUIRE_THAT(lines[0], text_contains("logits@0[" + word + "]"));
  REQUIRE_THAT(lines[3], text_contains("matmul"));
}

TEST_CASE("inspect value: a wrong name is refused with the nearest, status 1, nothing printed",
          "[cli][inspect]") {
  const Outcome outcome = trained()("inspect value m.safetensors " + words() + " 'embeding@0[1]'");
  REQUIRE(outcome.status == 1);
  REQUIRE(outcome.out.empty());
  REQUIRE_THAT(outcome.err, text_contains("did you mean embedding?"));
}

TEST_CASE("inspect params --csv: a line an entry and one of names", "[cli][inspect]") {
  const auto csv = lines_of(trained().output("inspect params m.safetensors --csv"));
  const std::string first = lines_of(trained().output("inspect params m.safetensors")).front();
  REQUIRE(csv[0] == "name,row,column,value");
  REQUIRE(csv.size() == std::stoul(first) + 1);
}

TEST_CASE("inspect gradients: one entry by name is the table's number", "[cli][inspect]") {
  const std::string csv =
      trained().output("inspect gradients d.safetensors " + words() + " 'output[3]' --csv");
  const std::string one =
      trained().output("inspect gradients d.safetensors " + words() + " 'output[3][2]'");
  REQUIRE(lines_of(csv).size() == 9);
  REQUIRE_THAT(csv, text_contains("output,3,2," + one.substr(one.find(' ') + 1)));
}

TEST_CASE("inspect attention --json: every row of every map sums to 1", "[cli][inspect]") {
  const Json json = Json::parse(
      trained().output("inspect attention m.safetensors " + words() + " --json"), "json");
  REQUIRE(json.find("maps")->array().size() == 2);
  for (const Json& map : json.find("maps")->array())
    for (const Json& row : map.find("weights")->array()) {
      double sum = 0;
      for (const Json& weight : row.array()) sum += weight.number();
      REQUIRE(sum == Approx(1));
    }
}

TEST_CASE("inspect attention: colour only when it is asked for", "[cli][inspect]") {
  REQUIRE(trained().output("inspect attention m.safetensors " + words()).find('\033') ==
          std::string::npos);
  REQUIRE(trained()
              .output("inspect attention m.safetensors " + words() + " --color always")
              .find('\033') != std::string::npos);
}

TEST_CASE("inspect attention: the last line is a legend, and every cell keeps to it",
          "[cli][inspect]") {
  const auto lines = lines_of(trained().output("inspect attention m.safetensors " + words()));
  REQUIRE(lines.back() ==
          "each mark begins at: 0.10. 0.20: 0.30- 0.40= 0.50+ 0.60* 0.70# 0.80% 0.90@");
  const std::regex cell("([01])\\.([0-9])[0-9](.?)");
  std::size_t cells = 0;
  for (const std::string& line : lines)
    for (std::sregex_iterator it(line.begin(), line.end(), cell), end; it != end; ++it, ++cells) {
      const std::size_t tenth = (*it)[1] == "1" ? 9 : (*it).str(2)[0] - '0';
      CAPTURE(line, it->str());
      REQUIRE((it->str(3) + ' ')[0] == " .:-=+*#%@"[tenth]);
    }
  REQUIRE(cells > 9);
}

TEST_CASE("inspect cache: a block a token, each with one key more", "[cli][inspect]") {
  const std::string text = trained().output("inspect cache m.safetensors " + words());
  REQUIRE_THAT(text, text_contains(": 1 key and value in the cache"));
  REQUIRE_THAT(text, text_contains(": 3 keys and values in the cache"));
}

TEST_CASE("inspect graph: micrograd's formula has micrograd's gradients", "[cli][inspect]") {
  const std::string text = trained().output("inspect graph --expr 'a*b + c' a=2 b=-3 c=10 --tape");
  const auto lines = lines_of(text);
  REQUIRE(lines.size() == 6);
  REQUIRE_THAT(lines[1], text_contains("2.0000   -3.0000"));
}

TEST_CASE("inspect graph --format svg: no local derivative is written over another",
          "[cli][inspect]") {
  const std::string svg = trained().output("inspect graph --expr 'a*a + a' a=3 --format svg");
  const std::regex label(
      "<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" class=\"local\" text-anchor=\"middle\">([^<]*)<");
  struct Place {
    double left, right, y;
  };
  std::vector<Place> places;
  for (std::sregex_iterator it(svg.begin(), svg.end(), label), end; it != end; ++it) {
    const double x = std::stod(it->str(1)), width = 7.3 * static_cast<double>(it->str(3).size());
    places.push_back({x - width / 2, x + width / 2, std::stod(it->str(2))});
  }
  REQUIRE(places.size() == 4);
  for (const Place& a : places)
    for (const Place& b : places)
      REQUIRE((&a == &b || a.right <= b.left || b.right <= a.left || std::abs(a.y - b.y) >= 12));
}

TEST_CASE("inspect graph: Graphviz reads what is drawn", "[cli][inspect]") {
  if (trained().shell("command -v dot >/dev/null").status != 0) return;
  REQUIRE(trained()
              .shell("\"$G\" inspect graph --expr 'tanh(a*b + c)' a=2 b=-3 c=10 | dot -Tsvg")
              .status == 0);
  const Outcome outcome = trained().shell("\"$G\" inspect graph m.safetensors " + words() +
                                          " --around loss@1 --depth 2 | dot -Tsvg > around.svg");
  REQUIRE(outcome.status == 0);
  REQUIRE(outcome.err.empty());
}

TEST_CASE("inspect graph: wrong combinations are usage errors", "[cli][inspect]") {
  CHECK(trained()("inspect graph").status == 2);
  CHECK(trained()("inspect graph --expr a a").status == 2);
  CHECK(trained()("inspect graph --expr a a=1 a=2").status == 2);
  CHECK(trained()("inspect graph --expr a a=1 --around loss").status == 2);
  CHECK(trained()("inspect graph m.safetensors " + words() + " more").status == 2);
  CHECK(trained()("inspect graph --expr 'a+' a=1").status == 1);
}

TEST_CASE("inspect: a wrong second word is a usage error that names the nearest",
          "[cli][inspect]") {
  const Outcome outcome = trained()("inspect parms m.safetensors");
  REQUIRE(outcome.status == 2);
  REQUIRE_THAT(outcome.err, text_contains("did you mean inspect params?"));
}

TEST_CASE("inspect: alone it lists what can be inspected", "[cli][inspect]") {
  const std::string text = trained().output("inspect");
  for (const char* what :
       {"params", "gradients", "gradcheck", "value", "graph", "attention", "trace", "cache"})
    REQUIRE_THAT(text, text_contains(std::string("inspect ") + what));
  REQUIRE(trained().output("help inspect") == text);
  REQUIRE_THAT(trained().output("help inspect trace"), text_contains("--at T"));
}

TEST_CASE("next: chances fall from line to line", "[cli][inspect]") {
  const Json json = Json::parse(trained().output("next m.safetensors --top 1000 --json"), "next");
  double before = 1, sum = 0;
  for (const Json& word : json.find("next")->array()) {
    const double chance = word.find("probability")->number();
    REQUIRE(chance <= before);
    before = chance;
    sum += chance;
  }
  REQUIRE(sum == Approx(1));
}

TEST_CASE("train --detect-anomaly: names the first bad scalar with step, operands and sentence",
          "[cli][anomaly]") {
  const Outcome outcome = trained()(
      "train TINY.txt --steps 50 --lr 1e25 --detect-anomaly --out x.safetensors" + kTinyShape);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 1);
  REQUIRE_THAT(outcome.err, text_contains("glassbox: step "));
  REQUIRE_THAT(outcome.err,
               text_contains("the value of layers.0.attention.heads@0[0] is nan, computed by "
                             "attention from layers.0.attention."));
  REQUIRE_THAT(outcome.err, text_contains("of TINY.txt: \""));
  REQUIRE(!trained().has("x.safetensors"));
}

TEST_CASE("train --detect-anomaly: looking changes no bit of a sound run", "[cli][anomaly]") {
  trained().output("train TINY.txt --steps 20 --out a.safetensors" + kTinyShape);
  trained().output("train TINY.txt --steps 20 --detect-anomaly --out b.safetensors" + kTinyShape);
  REQUIRE(trained().file("a.safetensors") == trained().file("b.safetensors"));
}

TEST_CASE("inspect gradcheck: of a large model a sample is checked, and it says so",
          "[cli][inspect]") {
  const Program program;
  program.output(
      "train TINY.txt --steps 1 --n-layer 1 --n-embd 136 --n-head 2 --out l.safetensors");
  const Outcome outcome = program.shell("timeout 100 \"$G\" inspect gradcheck l.safetensors ''");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.err, text_contains("drawn evenly; --sample "));
  CHECK_THAT(lines_of(outcome.out).back(), text_contains("checked 2000 of "));
}

TEST_CASE("next: says which token ends the sentence", "[cli][inspect]") {
  CHECK_THAT(trained().output("next m.safetensors 'the lamp' --top 1000"),
             text_contains("<bos> (end)"));
}

}  // namespace glassbox
