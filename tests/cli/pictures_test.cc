// Pictures of any log and any words: nothing that a file holds makes one that cannot be read.
#include "base/json.h"
#include "tests/cli/program.h"
#include "tests/support/well_formed.h"

namespace glassbox {

namespace {

// Words which would be markup, control characters, characters that XML forbids.
const std::vector<std::string> kOddWords = {
    "form\x01"
    "feed",
    "bell\x07",
    "<b>",
    "&amp;",
    "\"quoted\"",
    "it's",
    "]]>",
    "\x7f",
    "\u0085x",
    "\uFFFE",
    "\uFFFF",
    "</script>",
    "<!--",
    "\xc2\x9b",
    "&#0;",
    "\u202e",
    "<![cdata[",
    "\xf0\x9f\x98\xba"};

const Program& odd() {
  static const Program program;
  if (!program.has("odd.safetensors")) {
    std::string text;
    for (int i = 0; i < 3; ++i)
      for (std::size_t w = 0; w < kOddWords.size(); w += 3)
        text += kOddWords[w] + ' ' + kOddWords[w + 1] + ' ' + kOddWords[w + 2] + '\n';
    put_file(program.folder / "odd.txt", text);
    program.output(
        "train odd.txt --steps 20 --log-file run.jsonl --sample-every 10 --out odd.safetensors" +
        kTinyShape);
  }
  return program;
}

std::string quoted_for_shell(const std::string& word) {
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + '\'';
}

}  // namespace

TEST_CASE("pictures: every SVG and page is well-formed whatever characters the words have",
          "[cli][pictures]") {
  const Program& program = odd();
  const auto check = [&](const std::string& file) {
    CAPTURE(file);
    REQUIRE(xml_fault(program.file(file)) == "");
  };
  for (std::size_t w = 0; w < kOddWords.size(); w += 3) {
    const std::string sentence =
        quoted_for_shell(kOddWords[w] + '\f' + kOddWords[w + 1] + ' ' + kOddWords[w + 2]);
    CAPTURE(sentence);
    program.output("inspect graph odd.safetensors " + sentence + " --format svg --out g.svg");
    check("g.svg");
    program.output("inspect graph odd.safetensors " + sentence +
                   " --around loss@1 --format svg --out a.svg");
    check("a.svg");
    program.output("inspect attention odd.safetensors " + sentence + " --svg h.svg");
    check("h.svg");
  }
  put_file(program.folder / "name <b>&\x01\xff.csv", "step,loss\n1,3\n2,nan\n3,inf\n4,2\n");
  program.output("plot name*.csv run.jsonl --vocab-size 9 --out p.svg");
  check("p.svg");
  program.shell("cp odd.safetensors 'a<b>&\"c\x02.safetensors'");
  program.output(
      "report 'a<b>&\"c\x02.safetensors' --sentences odd.txt --log-file run.jsonl --out r.html");
  check("r.html");
  program.output("inspect graph --expr 'a*a + a' a=2 --format svg --out e.svg");
  check("e.svg");
}

TEST_CASE("plot and report: a log of any numbers is drawn in seconds and without a nan",
          "[cli][pictures]") {
  const Program& program = odd();
  const std::vector<std::pair<std::string, std::string>> logs = {
      {"huge.jsonl", "{\"step\":9007199254740992,\"loss\":2.5}\n"},
      {"far.jsonl",
       "{\"step\":9007199254740990,\"loss\":2.5}\n{\"step\":9007199254740992,\"loss\":2}\n"},
      {"wide.csv", "step,loss\n0,3\n9007199254740992,2\n"},
      {"wider.csv", "step,loss\n-1e308,3\n1e308,2\n"},
      {"one.csv", "step,loss\n7,3\n"},
      {"equal.csv", "step,loss\n1,3\n2,3\n3,3\n"},
      {"zero.csv", "step,loss\n1,0\n2,0\n"},
      {"same.csv", "step,loss\n5,1\n5,2\n5,3\n"},
      {"inf.csv", "step,loss\n1,3\n2,inf\n3,-inf\n4,2\n"},
      {"nan.csv", "step,loss\n1,3\n2,nan\n3,2\n"},
      {"null.jsonl",
       "{\"step\":1,\"loss\":3}\n{\"step\":2,\"loss\":null}\n{\"step\":3,\"loss\":2}\n"},
      {"only.csv", "step,loss\n1,nan\n"},
      {"large.csv", "step,loss\n1,1e308\n2,-1e308\n3,1\n"},
      {"tiny.csv", "step,loss\n1,1e-308\n2,5e-324\n"},
      {"below.csv", "step,loss\n1,-3\n2,-4\n"}};
  for (const auto& [name, text] : logs) {
    CAPTURE(name);
    put_file(program.folder / name, text);
    REQUIRE(
        program.shell("timeout 20 \"$G\" plot " + name + " --vocab-size 9 --out l.svg").status ==
        0);
    const std::string svg = program.file("l.svg");
    REQUIRE(xml_fault(svg) == "");
    for (const char* wrong : {"nan", "inf", "NaN"}) {
      std::string drawn = svg;
      for (std::size_t at; (at = drawn.find(name)) != std::string::npos;)
        drawn.erase(at, name.size());
      CAPTURE(wrong);
      REQUIRE(drawn.find(wrong) == std::string::npos);
    }
    REQUIRE(program.shell("timeout 20 \"$G\" plot " + name + " --ascii").status == 0);
    REQUIRE(program
                .shell("timeout 20 \"$G\" report odd.safetensors --sentences odd.txt --log-file " +
                       name + " --out l.html")
                .status == 0);
    REQUIRE(xml_fault(program.file("l.html")) == "");
  }
}

TEST_CASE("plot: a step whose loss is no finite number has a mark", "[cli][pictures]") {
  const Program& program = odd();
  put_file(program.folder / "marks.csv", "step,loss\n1,3\n1200,nan\n1300,inf\n1400,2\n");
  put_file(program.folder / "marks.jsonl",
           "{\"step\":1,\"loss\":3}\n{\"step\":1200,\"loss\":null}\n{\"step\":1400,\"loss\":2}\n");
  for (const std::string log : {"marks.csv", "marks.jsonl"}) {
    program.output("plot " + log + " --out m.svg");
    CHECK_THAT(program.file("m.svg"), text_contains("step 1,200: loss is not a number"));
    CHECK_THAT(program.output("plot " + log + " --ascii"),
               text_contains("! step 1,200: loss is not a number"));
  }
  put_file(program.folder / "steps.csv", "step,loss\nnan,3\n2,3\n");
  const Outcome outcome = program("plot steps.csv --ascii");
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, text_contains("steps.csv: line 2: expected a number as its step"));
}

TEST_CASE("plot: two logs and the random guess have styles of their own", "[cli][pictures]") {
  odd().output("plot run.jsonl run.jsonl --vocab-size 9 --out two.svg");
  const std::string svg = odd().file("two.svg");
  for (const char* part : {"<path class=\"c0\" data-name", "<path class=\"c1\" data-name",
                           "<path class=\"guess\"", "<title>step "})
    CHECK_THAT(svg, text_contains(part));
}

TEST_CASE("report: of a large vocabulary the map shows the words expected most, and says so",
          "[cli][pictures]") {
  const Program& program = odd();
  std::string text;
  for (int line = 0; line < 1500; ++line) {
    for (int word = 0; word < 6; ++word) text += "w" + std::to_string(line * 6 + word) + " ";
    text += '\n';
  }
  put_file(program.folder / "many.txt", text);
  put_file(program.folder / "one.txt", "w1 w2\n");
  program.output("train many.txt --steps 2 --out many.safetensors" + kTinyShape);
  const Outcome outcome = program.shell(
      "timeout 100 \"$G\" report many.safetensors --sentences one.txt --out many.html");
  REQUIRE(outcome.status == 0);
  const std::string page = program.file("many.html");
  CHECK_THAT(page, text_contains(
                       "Shown are the 5,000 words that the model expects most often, of 9,001."));
  CHECK(page.size() < 420000);
}

TEST_CASE("inspect graph: a sentence's bands of layers fit a page, and each arrow has a head",
          "[cli][pictures]") {
  const Program& program = odd();
  program.output("train TINY.txt --steps 2 --out page.safetensors");
  program.output("inspect graph page.safetensors 'the lamp is on' --format svg --out page.svg");
  const std::string svg = program.file("page.svg");
  const auto number_after = [&](const char* name) {
    return std::stod(svg.substr(svg.find(name) + std::string(name).size()));
  };
  CHECK(number_after(" width=\"") < 1500);
  CHECK(number_after(" height=\"") < 1500);
  for (const char* band : {">embedding<", ">layers.0.attention<", ">layers.1.mlp<", ">output<"})
    CHECK_THAT(svg, text_contains(band));
  const auto times = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = svg.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(times("class=\"arrow\"") > 30);
  CHECK(times("class=\"arrow\"") == times("class=\"head\""));
}

}  // namespace glassbox
