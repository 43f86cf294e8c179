// Runs that are measured on text that was held out.
#include <cmath>

#include "base/json.h"
#include "tests/cli/program.h"
#include "tests/support/bits.h"
#include "train/checkpoint.h"

using namespace glassbox;

namespace {

// By step: what the log, JSON lines, says of a key.
std::map<std::int64_t, double> values(const std::string& log, const char* key) {
  std::map<std::int64_t, double> result;
  for (const std::string& line : lines_of(log)) {
    const Json json = Json::parse(line, "log");
    if (const Json* value = json.find(key)) result[json.find("step")->integer()] = value->number();
  }
  return result;
}

std::vector<float> weights_of(const std::string& path) {
  const auto model = std::get<Model<float>>(read_model(path));
  const float* const data = model.weights.data();
  return {data, data + model.weights.layout().slab_size()};
}

// The last eight lines of the text, the first of which is cut to a block of 8.
std::string held_out_lines(const Program& glassbox) {
  std::string text;
  const auto lines = lines_of(glassbox.file("TINY.txt"));
  for (std::size_t i = 24; i < 32; ++i) text += lines[i] + '\n';
  return text;
}

const std::string kRun = "train TINY.txt --steps 200 --eval-every 20" + kTinyShape;

}  // namespace

TEST_CASE("validation: the logged loss of the model that is written is what eval says of it",
          "[cli][validation]") {
  const Program glassbox;
  put_file(glassbox.folder / "V.txt", held_out_lines(glassbox));
  for (const std::string precision : {"float", "double"}) {
    glassbox.output(kRun + "--block-size 8 --val V.txt --log-file l.jsonl --out M --precision " +
                    precision);
    const auto losses = values(glassbox.file("l.jsonl"), "val_loss");
    CHECK(losses.size() == 10);
    const Json told = Json::parse(glassbox.output("eval M V.txt --json"), "eval");
    double best = INFINITY;
    for (const auto& [step, loss] : losses) best = std::min(best, loss);
    CHECK(told.find("loss")->number() == best);
  }
}

TEST_CASE("validation: neither the weights nor the log of a run depend on it",
          "[cli][validation]") {
  const Program glassbox;
  put_file(glassbox.folder / "V.txt", held_out_lines(glassbox));
  const std::string run = kRun + "--save-every 200 ";
  const auto plain_run = [&](std::string line) {
    line.replace(line.find("--eval-every 20"), 15, "");
    glassbox.output(line);
  };
  plain_run(run + "--out a --log-file a.jsonl");
  glassbox.output(run + "--out b --log-file b.jsonl --val V.txt --threads 3");
  glassbox.output(run + "--out c --log-file c.jsonl --val V.txt --threads 1");
  CHECK(values(glassbox.file("b.jsonl"), "loss") == values(glassbox.file("a.jsonl"), "loss"));
  CHECK(glassbox.file("c.jsonl") == glassbox.file("b.jsonl"));
  CHECK(glassbox.file("c") == glassbox.file("b"));
  const auto last = [&](const std::string& name) {
    return weights_of(glassbox.folder / (name + ".step-00000200.safetensors"));
  };
  CHECK(different_bits<float>(last("a"), last("b")) == 0);
}

TEST_CASE("validation: the best model is the one that is written, and its file says so",
          "[cli][validation]") {
  const Program glassbox;
  const Outcome run =
      glassbox(kRun + "--val-fraction 0.25 --save-every 20 --keep 99 --log-file l.jsonl --out M");
  CHECK(run.status == 0);
  CHECK_THAT(run.err, text_contains("held out of TINY.txt: 8 lines, 56 tokens\n"));
  const auto losses = values(glassbox.file("l.jsonl"), "val_loss");
  std::int64_t best = 20;
  for (const auto& [step, loss] : losses)
    if (loss < losses.at(best)) best = step;
  REQUIRE(best < 200);  // 24 lines are learnt by heart
  const std::string digits = std::to_string(best);
  CHECK(different_bits<float>(
            weights_of(glassbox.folder / "M"),
            weights_of(glassbox.folder / ("M.step-" + std::string(8 - digits.size(), '0') + digits +
                                          ".safetensors"))) == 0);
  const auto model = std::get<Model<float>>(read_model(glassbox.folder / "M"));
  const Json training = Json::parse(model.training, "training");
  CHECK(training.find("steps")->integer() == best);
  CHECK(training.find("val_loss")->number() == losses.at(best));
  CHECK_THAT(run.err, text_contains(", best after step " + digits + ": perplexity "));
}

TEST_CASE("validation: the last lines of the shuffled order are held out, their words are not",
          "[cli][validation]") {
  const Program glassbox;
  const std::string run = "train TINY.txt --steps 30 --out M --log-file ";
  glassbox.output(run + "a.jsonl" + kTinyShape);
  glassbox.output(run + "b.jsonl --val-fraction 0.25" + kTinyShape);
  const auto whole = values(glassbox.file("a.jsonl"), "loss");
  const auto part = values(glassbox.file("b.jsonl"), "loss");
  for (std::int64_t step = 1; step <= 24; ++step) CHECK(part.at(step) == whole.at(step));
  CHECK(part.at(25) != whole.at(25));  // the first line again
}

TEST_CASE("validation: --patience ends a run that gets no better", "[cli][validation]") {
  const Program glassbox;
  const std::string run = kRun + "--val-fraction 0.25 --out M --log-file l.jsonl ";
  glassbox.output(run);
  const std::string model = glassbox.file("M");
  const auto losses = values(glassbox.file("l.jsonl"), "val_loss");
  double best = INFINITY;
  std::int64_t end = 0;  // the second measurement in a row that is no better than the best
  for (int worse = 0; worse < 2;) {
    const double loss = losses.at(end += 20);
    worse = loss < best ? 0 : worse + 1;
    best = std::min(best, loss);
  }
  const Outcome patient = glassbox(run + "--patience 2");
  CHECK(patient.status == 0);
  CHECK_THAT(patient.err, text_contains("stopped after step " + std::to_string(end) +
                                        " of 200: 2 measurements in a row found no better model"));
  CHECK(values(glassbox.file("l.jsonl"), "loss").rbegin()->first == end);
  CHECK(glassbox.file("M") == model);
}

TEST_CASE("validation: a resumed run knows the best model and how long it has waited",
          "[cli][validation]") {
  const Program glassbox;
  put_file(glassbox.folder / "V.txt", held_out_lines(glassbox));
  put_file(glassbox.folder / "W.txt", "the lamp\n");
  for (const std::string how : {"--val-fraction 0.25", "--val V.txt"}) {
    glassbox.output(kRun + how +
                    " --patience 3 --save-every 10 --keep 99 --out M --log-file l.csv");
    const std::string log = glassbox.file("l.csv"), model = glassbox.file("M");
    const std::string again = how.starts_with("--val ") ? how : "";
    for (const char* step : {"10", "70", "90"}) {
      const std::string from = std::string(" --resume M.step-000000") + step + ".safetensors ";
      glassbox.output("train TINY.txt " + again + from + "--out R --log-file l.csv");
      CHECK(glassbox.file("R") == model);
      CHECK(glassbox.file("l.csv") == log);
    }
  }
  const std::string from = "train TINY.txt --resume M.step-00000090.safetensors ";
  for (const auto& [more, part] : std::map<std::string, std::string>{
           {"",
            "--val: expected the text with which M.step-00000090.safetensors was begun, found "
            "none; give it again"},
           {"--val W.txt", "found another"}}) {
    const Outcome refused = glassbox(from + more);
    CHECK(refused.status == 2);
    CHECK_THAT(lines_of(refused.err).back(), text_contains(part));
  }
}

TEST_CASE("validation: bits a character are those of the text, whatever its tokens",
          "[cli][validation]") {
  const Program glassbox;
  put_file(glassbox.folder / "V.txt", "the lamp\nthe b\u00e4r\n");
  put_file(glassbox.folder / "T.txt", "the lamp\nthe b\u00e4r\nthe lamp the b\u00e4r\n");
  for (const char* tokenizer : {"word", "char"}) {
    const Outcome run =
        glassbox("train T.txt --steps 9 --val V.txt --out M --log-file l.jsonl --tokenizer " +
                 std::string(tokenizer) + kTinyShape);
    const Json told = Json::parse(glassbox.output("eval M V.txt --json"), "eval");
    const double nats = told.find("loss")->number() * told.find("tokens")->number();
    char bits[64];
    std::snprintf(bits, sizeof bits, ", %.3f bits a character\n", nats / std::log(2.0) / (9 + 8));
    CHECK_THAT(run.err, text_contains(bits));
  }
}

TEST_CASE("validation: what can't be measured is refused in one line", "[cli][validation]") {
  const Program glassbox;
  put_file(glassbox.folder / "NEW.txt", "the lamp\nthe zebraxyz\n");
  struct Refusal {
    const char* arguments;
    int status;
    const char* part;
  };
  for (const Refusal& refusal : std::vector<Refusal>{
           {"--val-fraction 0.01", 1,
            "TINY.txt: expected lines enough to hold out 0.01 of them and to train on the others, "
            "found 32"},
           {"--val-fraction 0.99", 1, "found 32"},
           {"--val-fraction 1", 2, "--val-fraction: expected a number from 0 to below 1"},
           {"--val-fraction 0.5 --val TINY.txt", 2, "found both"},
           {"--eval-every 5", 2, "--eval-every: expected a text to measure on"},
           {"--patience 5", 2, "--patience: expected a text to measure on"},
           {"--val missing", 1, "missing: can't be read"},
           {"--val NEW.txt --out NEW.txt", 2, "another file than --val"},
           {"--val NEW.txt", 1, "NEW.txt: line 2: "}}) {
    const Outcome outcome = glassbox("train TINY.txt " + std::string(refusal.arguments));
    CAPTURE(refusal.arguments, outcome.err);
    CHECK(outcome.status == refusal.status);
    CHECK_THAT(lines_of(outcome.err).back(), text_contains(refusal.part));
    CHECK_FALSE(glassbox.has("model.safetensors"));
  }
}

TEST_CASE("validation: finetune holds out, too, and knows the words of what it holds out",
          "[cli][validation]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 20 --out M" + kTinyShape);
  put_file(glassbox.folder / "NEW.txt", "the lamp\nthe zebraxyz\nthe aardvark\nthe okapi\n");
  const Outcome run = glassbox(
      "finetune M NEW.txt --extend-vocab --steps 10 --val-fraction 0.5 --out F --log-file l.csv");
  CHECK(run.status == 0);
  CHECK_THAT(run.err, text_contains("new words: 3\n"));
  CHECK_THAT(run.err, text_contains("held out of NEW.txt: 2 lines, 6 tokens\n"));
  CHECK(lines_of(glassbox.file("l.csv"))[0] == "step,loss,lr,tokens,val_loss");
}

TEST_CASE("validation: plot draws it with the loss", "[cli][validation]") {
  const Program glassbox;
  glassbox.output(kRun + "--val-fraction 0.25 --out M --log-file l.csv");
  CHECK_THAT(glassbox.output("plot l.csv --ascii"), text_contains("l.csv validation"));
  CHECK(glassbox.output("plot l.csv --ascii --column lr").find("validation") == std::string::npos);
}
