// glassbox report and plot; what needs a browser says so and is passed over where there is none.
#include "base/json.h"
#include "tests/cli/program.h"

namespace glassbox {

namespace {

constexpr const char* kEvil = "</script><script>document.title='BAD'</script>";
constexpr const char* kEvilImage = "<img/src=x/onerror=document.title='BAD'>";

// A model that knows words which would be markup, a log, and the report of both.
const Program& reported() {
  static const Program program;
  if (!program.has("r.html")) {
    std::string text;
    for (int i = 0; i < 20; ++i)
      text += std::string("the cat ") + kEvil + "\na \"dog\" & " + kEvilImage + "\n";
    put_file(program.folder / "evil.txt", text);
    put_file(program.folder / "sentences.txt", std::string("the cat ") + kEvil + "\na \"dog\"\n");
    program.output("train evil.txt --steps 40 --log-file run.jsonl --out e.safetensors" +
                   kTinyShape);
    program.output("train evil.txt --steps 40 --log-file run.csv --out e.safetensors" + kTinyShape);
    program.output(
        "report e.safetensors --log-file run.jsonl --sentences sentences.txt --out r.html");
  }
  return program;
}

// What the page's tree is after `script` has run in it; the browser's console goes to console.txt.
std::string tree_after(const std::string& script) {
  const Program& program = reported();
  std::string page = program.file("r.html");
  page.replace(page.rfind("</body>"), 0, "<script>" + script + "</script>");
  put_file(program.folder / "driven.html", page);
  program.shell(
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
      "--disable-background-networking --disable-component-update --disable-sync "
      "--user-data-dir=profile "
      "--enable-logging=stderr --dump-dom driven.html > tree.html 2> console.txt");
  return program.file("tree.html");
}

// A picture of another file's name.
std::string with_name(std::string picture, const std::string& name, const std::string& other) {
  for (std::size_t at = 0; (at = picture.find(name, at)) != std::string::npos; at += other.size())
    picture.replace(at, name.size(), other);
  return picture;
}

bool has_browser() {
  const bool found = reported().shell("command -v chromium >/dev/null").status == 0;
  if (!found) WARN("passed over: chromium is not installed");
  return found;
}

}  // namespace

TEST_CASE("report: one file that loads nothing", "[cli][report]") {
  const std::string page = reported().file("r.html");
  for (const char* reference : {"http://", "https://", "src=\"", "url(", "@import"}) {
    std::string rest = page;
    for (std::size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != std::string::npos;)
      rest.erase(at, 26);
    CAPTURE(reference);
    REQUIRE(rest.find(reference) == std::string::npos);
  }
}

TEST_CASE("report: no word of the corpus is markup", "[cli][report]") {
  const std::string page = reported().file("r.html");
  REQUIRE(page.find(kEvil) == std::string::npos);
  REQUIRE(page.find(kEvilImage) == std::string::npos);
  REQUIRE(page.find("\\u003c/script\\u003e") != std::string::npos);
}

TEST_CASE(
    "report: opens in a browser without a word on the console, scripts among the words asleep",
    "[cli][report][browser]") {
  if (!has_browser()) return;
  const std::string tree = tree_after("");
  REQUIRE_THAT(tree, text_contains("<title>e.safetensors - glassbox</title>"));
  REQUIRE_THAT(tree, text_contains("&lt;/script&gt;"));
  const std::string console = reported().file("console.txt");
  CAPTURE(console);
  REQUIRE(console.find("CONSOLE") == std::string::npos);
}

TEST_CASE("report: choosing a head and pointing at a cell says its number",
          "[cli][report][browser]") {
  if (!has_browser()) return;
  const std::string tree = tree_after(
      "document.querySelectorAll('#maps button')[1].click();"
      "document.querySelectorAll('#big tbody tr')[2].querySelectorAll('td')[1].dispatchEvent(new "
      "MouseEvent('mouseenter'));");
  REQUIRE_THAT(tree, text_contains("<h3 id=\"map-title\">Layer 0, head 1</h3>"));
  REQUIRE_THAT(tree, text_contains("'cat' looks back at 'the': 0."));
}

TEST_CASE("report: arrow keys move the position, and the logit's split follows",
          "[cli][report][browser]") {
  if (!has_browser()) return;
  const std::string tree = tree_after(
      "document.querySelectorAll('#tokens button')[0].click();"
      "document.querySelectorAll('#tokens button')[0].dispatchEvent(new KeyboardEvent('keydown', "
      "{key: 'ArrowRight'}));");
  REQUIRE_THAT(tree, text_contains("<span id=\"position\">position 1</span>"));
  REQUIRE_THAT(tree, text_contains("layer 0, MLP</span>"));
}

TEST_CASE("report: arrow keys read a chart, and many sentences are a list",
          "[cli][report][browser]") {
  if (!has_browser()) return;
  std::string many;
  for (int i = 0; i < 150; ++i) many += i % 2 == 0 ? "the cat\n" : "a \"dog\"\n";
  put_file(reported().folder / "many.txt", many);
  const std::string before = reported().file("r.html");
  reported().output("report e.safetensors --log-file run.jsonl --sentences many.txt --out r.html");
  const std::string tree = tree_after(
      "document.querySelector('figure').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home'}));"
      "const list = document.querySelector('#sentences select'); list.value = 149; "
      "list.dispatchEvent(new Event('change'));");
  put_file(reported().folder / "r.html", before);
  CHECK_THAT(tree, text_contains("step 1: training "));
  CHECK_THAT(tree, text_contains("150 sentences: "));
  CHECK_THAT(tree, text_contains("\"dog\"</button>"));
  CHECK(reported().file("console.txt").find("CONSOLE") == std::string::npos);
}

TEST_CASE("report: finding a word names its neighbours", "[cli][report][browser]") {
  if (!has_browser()) return;
  const std::string tree = tree_after(
      "const f = document.getElementById('find'); f.value = 'cat'; f.dispatchEvent(new "
      "Event('input'));");
  REQUIRE_THAT(tree, text_contains("'cat', nearest by cosine: '"));
  REQUIRE_THAT(tree, text_contains("data-found=\"cat\""));
}

TEST_CASE("report: an unknown word of a sentence is refused and nothing is written",
          "[cli][report]") {
  put_file(reported().folder / "wrong.txt", "the catt\n");
  const Outcome outcome = reported()("report e.safetensors --sentences wrong.txt --out no.html");
  REQUIRE(outcome.status == 1);
  REQUIRE_THAT(outcome.err, text_contains("catt"));
  REQUIRE(!reported().has("no.html"));
}

TEST_CASE("report: validation, gradient norms, update ratios and samples of the log are shown",
          "[cli][report]") {
  put_file(reported().folder / "events.jsonl",
           "{\"step\":1,\"loss\":2,\"lr\":0.1,\"val_loss\":2.5,\"tokens\":4}\n"
           "{\"step\":2,\"event\":\"inspect\",\"grad_norms\":{\"layers.0.mlp\":0.5},\"update_"
           "ratios\":{\"output\":0.01}}\n"
           "{\"step\":2,\"event\":\"samples\",\"sentences\":[\"the <b>cat</b>\"]}\n"
           "{\"step\":2,\"loss\":null,\"lr\":0.1,\"tokens\":8,\"event\":\"non_finite\"}\n");
  reported().output(
      "report e.safetensors --log-file events.jsonl --sentences sentences.txt --out events.html "
      "2>&1");
  const std::string page = reported().file("events.html");
  for (const char* part : {"held-out text", "Gradient norms", "layer 0, MLP</text>",
                           "Update ratios", "the &lt;b&gt;cat&lt;/b&gt;", "step 2"})
    CHECK_THAT(page, text_contains(part));
}

TEST_CASE(
    "train --inspect-every --sample-every: events in the log, curves and sentences in the report, "
    "the model the same",
    "[cli][report]") {
  reported().output(
      "train evil.txt --steps 40 --log-file watched.jsonl --inspect-every 10 --sample-every 20 "
      "--out w.safetensors" +
      kTinyShape);
  REQUIRE(reported().file("w.safetensors") == reported().file("e.safetensors"));
  std::vector<Json> inspected, samples;
  for (const std::string& line : lines_of(reported().file("watched.jsonl"))) {
    const Json json = Json::parse(line, "log");
    if (!json.find("event")) continue;
    (json.find("event")->string() == "inspect" ? inspected : samples).push_back(json);
  }
  REQUIRE(inspected.size() == 4);
  REQUIRE(samples.size() == 2);
  REQUIRE(samples[1].find("sentences")->array().size() == 3);
  // Adam moves what has a gradient by about the learning rate, so the ratio falls with it to the
  // end.
  REQUIRE(inspected[0].find("update_ratios")->find("output")->number() >
          inspected[3].find("update_ratios")->find("output")->number());
  REQUIRE(inspected[0].find("grad_norms")->find("layers.0")->number() > 0);
  reported().output(
      "report w.safetensors --log-file watched.jsonl --sentences sentences.txt --out watched.html "
      "2>&1");
  const std::string page = reported().file("watched.html");
  for (const char* part : {"Gradient norms", "Update ratios", "step 20", "step 40"})
    CHECK_THAT(page, text_contains(part));
}

TEST_CASE("train --inspect-every: without a log of JSON lines it is a usage error",
          "[cli][report]") {
  CHECK(reported()("train evil.txt --inspect-every 5").status == 2);
  CHECK(reported()("train evil.txt --sample-every 5 --log-file x.csv").status == 2);
}

TEST_CASE("plot: the CSV and the JSON lines of one run give one curve", "[cli][plot]") {
  reported().output("plot run.csv --out a.svg");
  reported().output("plot run.jsonl --out b.svg");
  const std::string a = reported().file("a.svg"), b = reported().file("b.svg");
  REQUIRE(with_name(a, "run.csv", "run.jsonl") == b);
}

TEST_CASE("plot: a last line that a kill cut short is left out", "[cli][plot]") {
  for (const std::string log : {"run.csv", "run.jsonl"}) {
    const std::string text = reported().file(log);
    const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
    put_file(reported().folder / ("cut." + log), text.substr(0, last + 4));
    put_file(reported().folder / ("whole." + log), text.substr(0, last));
    CHECK(reported().output("plot cut." + log + " --ascii") != "");
    reported().output("plot cut." + log + " --out cut.svg");
    reported().output("plot whole." + log + " --out whole.svg");
    const std::string cut = reported().file("cut.svg"), whole = reported().file("whole.svg");
    CHECK((with_name(cut, "cut.", "whole.") == whole));
    put_file(reported().folder / "middle", text.substr(0, last + 4) + "\n" + text.substr(last));
    CHECK(reported()("plot middle --ascii").status == 1);
  }
}

TEST_CASE("plot: --ascii fits its columns and marks the random guess", "[cli][plot]") {
  const auto lines =
      lines_of(reported().output("plot run.csv run.jsonl --ascii --columns 60 --vocab-size 7"));
  for (const std::string& line : lines) REQUIRE(line.size() <= 60);
  REQUIRE_THAT(lines.back(), text_contains("random guess 1.95"));
}

TEST_CASE("plot: a file that is no log is refused with its line", "[cli][plot]") {
  const Outcome outcome = reported()("plot evil.txt --ascii");
  REQUIRE(outcome.status == 1);
  REQUIRE_THAT(outcome.err, text_contains("evil.txt: line 1: expected a JSON object"));
  REQUIRE(reported()("plot run.csv").status == 2);
  REQUIRE_THAT(reported()("plot run.csv --ascii --column nope").err,
               text_contains("found loss, lr"));
}

TEST_CASE("report, plot and inspect: what is read is never written over", "[cli][report]") {
  const Program& program = reported();
  for (const std::string command :
       {"report e.safetensors --out ./e.safetensors",
        "report e.safetensors --log-file run.jsonl --out run.jsonl",
        "plot run.jsonl --out run.jsonl", "inspect graph e.safetensors 'a' --out e.safetensors",
        "inspect attention e.safetensors 'a' --svg e.safetensors"}) {
    CAPTURE(command);
    const std::string model = program.file("e.safetensors"), log = program.file("run.jsonl");
    const Outcome outcome = program(command);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, text_contains("expected another file than"));
    CHECK(program.file("e.safetensors") == model);
    CHECK(program.file("run.jsonl") == log);
  }
}

}  // namespace glassbox
