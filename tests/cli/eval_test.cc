#include <cmath>
#include <cstring>

#include "base/json.h"
#include "tests/cli/program.h"

using namespace glassbox;

namespace {

// The tutorial's small model, trained as it was: S.
struct Trained : Program {
  Trained() {
    output("train TINY.txt --out S --steps 300 --block-size 8 --precision double" + kTinyShape);
  }
};

std::vector<double> cells(const std::string& row) {
  std::vector<double> values;
  std::istringstream stream(row);
  for (std::string cell; std::getline(stream, cell, ',');) values.push_back(std::stod(cell));
  return values;
}

}  // namespace

TEST_CASE("eval: each line has the tutorial's loss, and the whole is their mean a token",
          "[cli][eval]") {
  const Trained glassbox;
  const auto rows = lines_of(glassbox.output("eval S TINY.txt --per-line"));
  const auto golden = lines_of(file_bytes(GLASSBOX_GOLDEN_DIR "/tutorial-small-eval.csv"));
  REQUIRE(rows.size() == golden.size());
  CHECK(rows[0] == golden[0]);
  double nats = 0, tokens = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto row = cells(rows[i]), want = cells(golden[i]);
    CAPTURE(rows[i], golden[i]);
    CHECK(row[0] == want[0]);
    CHECK(std::abs(row[1] - want[1]) < 1e-12);
    CHECK(row[2] == want[2]);
    nats += row[1] * row[2];
    tokens += row[2];
  }
  const Json whole = Json::parse(glassbox.output("eval S TINY.txt --json"), "eval");
  CHECK(std::abs(whole.find("loss")->number() - nats / tokens) < 1e-12);
  CHECK(whole.find("perplexity")->number() == std::exp(whole.find("loss")->number()));
  CHECK(whole.find("tokens")->number() == tokens);
}

TEST_CASE("eval: neither batch size, threads, blank lines nor a byte order mark change the result",
          "[cli][eval]") {
  const Trained glassbox;
  const std::string plain = glassbox.output("eval S TINY.txt");
  CHECK(lines_of(plain).size() == 3);
  CHECK(glassbox.output("eval S TINY.txt --batch-size 7 --threads 2") == plain);
  put_file(glassbox.folder / "odd.txt", "\xEF\xBB\xBF\n \n" + glassbox.file("TINY.txt") + "\n\n");
  CHECK(glassbox.output("eval S odd.txt") == plain);
}

TEST_CASE("eval: --json with --per-line is one object with the lines in it", "[cli][eval]") {
  const Trained glassbox;
  const Json whole = Json::parse(glassbox.output("eval S TINY.txt --json --per-line"), "eval");
  REQUIRE(whole.find("lines")->array().size() == 32);
  CHECK(whole.find("lines")->array()[4].find("line")->integer() == 5);
}

TEST_CASE("eval: an unknown word is named with its line", "[cli][eval]") {
  const Trained glassbox;
  put_file(glassbox.folder / "odd.txt", "the lamp\n\nthe zebraxyz\n");
  const Outcome outcome = glassbox("eval S odd.txt");
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, text_contains("odd.txt: line 3: "));
  CHECK_THAT(outcome.err, text_contains("zebraxyz"));
}

TEST_CASE("eval: tells how many words were read as <unk>, and the loss of the others",
          "[cli][eval]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 50 --out m" + kTinyShape);
  put_file(glassbox.folder / "text", "the zebraxyz\nthe lamp\n");
  glassbox.output("finetune m text --unk --steps 20 --out u");
  const Outcome run = glassbox("eval u text");
  CHECK_THAT(run.out, text_contains("tokens 6"));
  const std::string told = "unknown words 1, loss of the others ";
  REQUIRE(run.err.starts_with(told));
  // The one word's loss makes the difference.
  const std::string chance = glassbox.output("next u the --json --top 100");
  const std::size_t at = chance.find("<unk>\",\"probability\":");
  REQUIRE(at != std::string::npos);
  const double nats =
      -std::log(std::stod(chance.substr(at + std::strlen("<unk>\",\"probability\":"))));
  const double loss = std::stod(run.out.substr(5));
  const double others = std::stod(run.err.substr(told.size()));
  CHECK(std::abs(6 * loss - 5 * others - nats) < 1e-4);
  CHECK_THAT(glassbox.output("eval u text --json"), text_contains("\"unknown\":1,\"known_loss\":"));
  CHECK_THAT(glassbox("eval u text --per-line").err, text_contains("unknown words 1, loss of"));
  CHECK(glassbox.output("eval m TINY.txt").find("unknown") == std::string::npos);
}
