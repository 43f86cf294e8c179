#include <cmath>

#include "base/json.h"
#include "model/model_file.h"
#include "tests/cli/program.h"

using namespace glassbox;

namespace {

std::vector<double> column(const std::string& csv, std::size_t index) {
  std::vector<double> values;
  const auto rows = lines_of(csv);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::istringstream stream(rows[i]);
    std::string cell;
    for (std::size_t k = 0; k <= index; ++k) std::getline(stream, cell, ',');
    values.push_back(std::stod(cell));
  }
  return values;
}

// The log, as CSV, of a run on `text`.
std::string log_of(const Program& glassbox, const std::string& text, const std::string& options) {
  put_file(glassbox.folder / "text", text);
  glassbox.output("train text --out M --log-file log.csv " + options);
  return glassbox.file("log.csv");
}

}  // namespace

TEST_CASE("train: stdout stays empty, lines are whole, and the last one names the model file",
          "[cli][train]") {
  const Program glassbox;
  const Outcome run = glassbox("train TINY.txt --steps 300 --out M" + kTinyShape);
  CAPTURE(run.err);
  CHECK(run.status == 0);
  CHECK(run.out.empty());
  CHECK(run.err.find('\r') == std::string::npos);
  CHECK(run.err.find('\x1b') == std::string::npos);
  const auto lines = lines_of(run.err);
  CHECK(lines.back() == "wrote M");
  for (const char* const part :
       {"step 30/300 10% ", "step 300/300 100% ", "trained 300 steps",
        "a uniform guess among 47 tokens costs 3.8501", "first loss 3.", "last loss "}) {
    CHECK_THAT(run.err, text_contains(part));
  }
}

TEST_CASE("train: the log holds the tutorial's losses", "[cli][train]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 200 --precision double --log-file log.csv --out M");
  const std::string csv = glassbox.file("log.csv");
  const Json golden = Json::parse(file_bytes(GLASSBOX_GOLDEN_DIR "/tutorial-tiny.json"), "golden");
  const auto losses = column(csv, 1), steps = column(csv, 0);
  const auto& want = golden.find("losses")->array();
  REQUIRE(losses.size() == want.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(losses[i] - want[i].number()) < 1e-12);
    CHECK(steps[i] == static_cast<double>(i + 1));
  }
}

TEST_CASE("train: JSON lines carry the same numbers as CSV, and --log-every thins them",
          "[cli][train]") {
  const Program glassbox;
  const std::string run = "train TINY.txt --steps 20 --out M" + kTinyShape;
  glassbox.output(run + "--log-file log.csv");
  glassbox.output(run + "--log-file log.jsonl --log-every 5");
  const auto losses = column(glassbox.file("log.csv"), 1);
  const auto lines = lines_of(glassbox.file("log.jsonl"));
  REQUIRE(lines.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const Json line = Json::parse(lines[i], "log");
    CHECK(line.find("step")->integer() == static_cast<std::int64_t>(5 * (i + 1)));
    CHECK(line.find("loss")->number() == losses[5 * i + 4]);
  }
}

TEST_CASE("train: the logged rate begins at the whole and ends above 0", "[cli][train]") {
  const Program glassbox;
  const auto linear = column(log_of(glassbox, "a b\n", "--steps 5000" + kTinyShape), 2);
  REQUIRE(linear.size() == 5000);
  CHECK(linear[0] == 0.01);
  CHECK(std::abs(linear[1] - 0.009998) < 1e-17);
  CHECK(linear[2500] == 0.005);
  CHECK(std::abs(linear[4999] - 2e-6) < 1e-17);
  CHECK(column(log_of(glassbox, "a b\n", "--steps 1 --lr 0.5" + kTinyShape), 2) ==
        std::vector<double>{0.5});
  CHECK(column(log_of(glassbox, "a b\n", "--steps 3 --lr-schedule constant" + kTinyShape), 2) ==
        std::vector<double>(3, 0.01));
}

TEST_CASE("train: blank lines, a byte order mark and a no-break space change no loss",
          "[cli][train]") {
  const Program glassbox;
  const std::string tiny = glassbox.file("TINY.txt"), options = "--steps 40" + kTinyShape;
  const std::string plain = log_of(glassbox, tiny, options), model = glassbox.file("M");
  std::string strewn = "\n \n";
  for (const std::string& line : lines_of(tiny)) strewn += line + "\n\t \n";
  std::string crlf;
  for (const std::string& line : lines_of(tiny)) crlf += line + "\r\n";
  for (const std::string& text :
       {"\xEF\xBB\xBF" + tiny, strewn, crlf, tiny + "\xC2\xA0\n",
        tiny.substr(0, tiny.find('\n')) + "\xC2\xA0" + tiny.substr(tiny.find('\n'))}) {
    CHECK(log_of(glassbox, text, options) == plain);
    CHECK(glassbox.file("M") == model);
  }
}

TEST_CASE("train: a text without a sentence is refused and leaves nothing", "[cli][train]") {
  const Program glassbox;
  put_file(glassbox.folder / "empty", "");
  put_file(glassbox.folder / "blank", " \n\n\t\r\n");
  put_file(glassbox.folder / "bytes", "the cat\nthe \xFF\n");
  for (const std::string text : {"empty", "blank", "bytes", "missing", "."}) {
    const Outcome run = glassbox("train " + text + " --out M --log-file log.csv");
    CAPTURE(run.err);
    CHECK(run.status == 1);
    CHECK(lines_of(run.err).size() == 1);
    CHECK_THAT(run.err, text_contains("glassbox: " + text + ":"));
    CHECK_FALSE(glassbox.has("M"));
    CHECK_FALSE(glassbox.has("log.csv"));
  }
}

TEST_CASE("train: odd texts give a working model: one word, one line, no blank, a line of 10 MB",
          "[cli][train]") {
  const Program glassbox;
  std::string words;
  for (int i = 0; words.size() < 10'000'000; ++i) words += "w" + std::to_string(i % 2000) + ' ';
  put_file(glassbox.folder / "long", words);
  put_file(glassbox.folder / "word", "cat");
  put_file(glassbox.folder / "same", "cat\ncat\ncat\n");
  put_file(glassbox.folder / "glued", std::string(100'000, 'x'));
  put_file(glassbox.folder / "script",
           "\u732b\u304c\u5ea7\u308b\n\u041a\u043e\u0442 "
           "\u0441\u0438\u0434\u0438\u0442\n\u0646\u0627\u0645 \u0627\u0644\u0642\u0637\n");
  for (const std::string text : {"long", "word", "same", "glued", "script"}) {
    CAPTURE(text);
    glassbox.output("train " + text + " --steps 3 --out M" + kTinyShape);
    CHECK(lines_of(glassbox.output("sample M --num-samples 3")).size() == 3);
  }
}

TEST_CASE("train: on a terminal one line is drawn anew, with the time that is left",
          "[cli][train]") {
  const Program glassbox;
  if (glassbox.shell("script --version").status != 0) {
    WARN("skipped: the bar on a terminal, for want of script");
    return;
  }
  const Outcome run = glassbox.shell(
      "export G; env -u CI TERM=xterm script -qec '\"$G\" train TINY.txt --steps 20000 --out M" +
      kTinyShape + "' log");
  CAPTURE(run.out);
  CHECK(run.status == 0);
  CHECK(std::count(run.out.begin(), run.out.end(), '\r') > 6);  // more than the ends of its lines
  CHECK_THAT(run.out, text_contains("20000/20000 100% [="));
  CHECK_THAT(run.out, text_contains("ETA "));
  CHECK_THAT(run.out, text_contains("wrote M"));
}

TEST_CASE("train: a sentence of block size and more loses its end, with one warning",
          "[cli][train]") {
  const Program glassbox;
  const auto tokens = [&](const std::string& sentence) {
    return column(log_of(glassbox, sentence + "\n", "--steps 1 --block-size 8" + kTinyShape), 3)
        .at(0);
  };
  CHECK(tokens("a b c d e f") == 7);
  CHECK(tokens("a b c d e f g") == 8);
  CHECK(tokens("a b c d e f g h") == 8);
  put_file(glassbox.folder / "text", "a\n\na b c d e f g h\na b c d e f g h i\na b c d e f g\n");
  const Outcome run = glassbox("train text --steps 0 --block-size 8 --out M" + kTinyShape);
  CHECK_THAT(
      run.err,
      text_contains(
          "glassbox: warning: text: cut 2 lines of more than 7 words, the first is line 3\n"));
}

TEST_CASE("train: an epoch is one pass over the sentences", "[cli][train]") {
  const Program glassbox;
  CHECK(column(log_of(glassbox, "a\nb\nc\nd\ne\n", "--epochs 2" + kTinyShape), 0).size() == 10);
  CHECK(column(log_of(glassbox, "a\nb\nc\nd\n", "--epochs 3 --batch-size 2" + kTinyShape), 0)
            .size() == 6);
  // Sentences of 1 to 512 words, so that the tokens say which were used: each once, the last two in
  // a batch of their own. Powers of two sum to no other's sum.
  std::string text;
  for (int words = 1; words <= 512; words *= 2) {
    for (int i = 0; i < words; ++i) text += "a ";
    text += '\n';
  }
  const auto tokens =
      column(log_of(glassbox, text, "--epochs 1 --batch-size 4 --block-size 600" + kTinyShape), 3);
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[2] == 1023 + 10);
  CHECK(column(log_of(glassbox, text, "--epochs 3 --batch-size 4 --block-size 600" + kTinyShape), 3)
            .back() == 3 * (1023 + 10));
}

TEST_CASE("train: no steps write a valid untrained model", "[cli][train]") {
  const Program glassbox;
  const Outcome run = glassbox("train TINY.txt --steps 0 --out M");
  CHECK(run.status == 0);
  CHECK(lines_of(run.err).back() == "wrote M");
  CHECK(lines_of(glassbox.output("sample M --num-samples 5")).size() == 5);
}

TEST_CASE(
    "train: the same seed gives the same bytes with any number of threads, another seed others",
    "[cli][train]") {
  const Program glassbox;
  const std::string run = "train TINY.txt --steps 60 --batch-size 4 ";
  glassbox.output(run + "--out a --log-file a.csv");
  glassbox.output(run + "--out b --log-file b.csv --threads 3 --seed 42");
  glassbox.output(run + "--out c --log-file c.csv --seed 43");
  CHECK(glassbox.file("a") == glassbox.file("b"));
  CHECK(glassbox.file("a.csv") == glassbox.file("b.csv"));
  CHECK(glassbox.file("a") != glassbox.file("c"));
}

TEST_CASE("train: a loss that is not finite ends the run, keeps its line and the older model",
          "[cli][train]") {
  const Program glassbox;
  put_file(glassbox.folder / "M", "older");
  for (const std::string options : {"--lr 1e15", "--precision double --lr 1e150"}) {
    const Outcome run = glassbox("train TINY.txt --out M --log-file log.csv " + options);
    CAPTURE(options, run.err);
    CHECK(run.status == 1);
    CHECK_THAT(lines_of(run.err).back(),
               text_contains("glassbox: step 2: expected a finite loss, found "));
    CHECK(run.err.find("-nan") == std::string::npos);
    CHECK(glassbox.file("M") == "older");
    const auto rows = lines_of(glassbox.file("log.csv"));
    REQUIRE(rows.size() == 3);
    CHECK(rows[2].rfind("2,nan,", 0) == 0);
  }
  const Outcome spiky = glassbox("train TINY.txt --out M --lr 0.5 --steps 500");
  CHECK(spiky.status == 0);
}

TEST_CASE("train: --find-lr prints a table, tells a rate that trains, and writes no file",
          "[cli]") {
  const Program glassbox;
  const Outcome outcome = glassbox("train TINY.txt --find-lr --batch-size 4" + kTinyShape);
  CHECK(outcome.status == 0);
  const auto rows = lines_of(outcome.out);
  REQUIRE(rows.size() > 10);
  std::vector<double> rates, losses;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::istringstream row(rows[i]);
    row >> rates.emplace_back() >> losses.emplace_back();
    if (i > 1) CHECK(rates[i - 1] / rates[i - 2] == Approx(std::pow(10, 0.25)).epsilon(0.1));
  }
  CHECK(losses[0] == Approx(std::log(47)).epsilon(0.05));  // too slow to learn anything
  CHECK(*std::min_element(losses.begin(), losses.end()) < 0.95 * losses[0]);
  CHECK_FALSE(std::filesystem::exists(glassbox.folder / "model.safetensors"));
  const std::string told = outcome.err.substr(outcome.err.find("--lr ") + 5);
  CHECK(std::stod(told) >= 0.001);
  CHECK(std::stod(told) <= 0.1);
}

TEST_CASE("train: SIGINT and SIGTERM finish the step, save the model and say so", "[cli][train]") {
  const Program glassbox;
  struct Case {
    const char *signals, *name;
    int status;
  };
  for (const Case& c :
       {Case{"kill -INT $P", "SIGINT", 130}, Case{"kill -TERM $P", "SIGTERM", 143},
        Case{"kill -HUP $P", "SIGHUP", 129}, Case{"kill -INT $P; kill -INT $P", "SIGINT", 130}}) {
    const Outcome run = glassbox.shell(
        "rm -f M log.csv; \"$G\" train TINY.txt --steps 1000000000 --out M --log-file log.csv & "
        "P=$!\n"
        "while [ \"$(wc -l < log.csv 2>/dev/null || echo 0)\" -lt 50 ]; do sleep 0.01; done\n" +
        std::string(c.signals) + "; wait $P");
    CAPTURE(c.signals, run.err);
    CHECK(run.status == c.status);
    const std::string last = lines_of(run.err).back();
    CHECK_THAT(last,
               text_contains(std::string("glassbox: interrupted by ") + c.name + " after step "));
    CHECK_THAT(last, text_contains(" is in M"));
    const std::string step = last.substr(last.find("step ") + 5);
    CHECK(column(glassbox.file("log.csv"), 0).back() == std::stod(step));
    CHECK(lines_of(glassbox.output("sample M --num-samples 5")).size() == 5);
    CHECK_FALSE(glassbox.has("M.tmp"));
  }
}

TEST_CASE("train: a disk that is full or a file that may not grow keeps the older model",
          "[cli][train]") {
  const Program glassbox;
  put_file(glassbox.folder / "M", "older");
  const Outcome limited = glassbox.shell("ulimit -f 8; \"$G\" train TINY.txt --steps 2 --out M");
  CHECK(limited.status == 1);
  CHECK_THAT(lines_of(limited.err).back(),
             text_contains("glassbox: M: can't be written: File too large"));
  CHECK(glassbox.file("M") == "older");
  CHECK_FALSE(glassbox.has("M.tmp"));
  if (!has_full_device()) {
    WARN("skipped: the full disk, for want of /dev/full");
    return;
  }
  const Outcome device = glassbox("train TINY.txt --steps 2 --out /dev/full");
  CHECK(device.status == 1);
  CHECK_THAT(lines_of(device.err).back(),
             text_contains("/dev/full: can't be written: No space left on device"));
  CHECK(has_full_device());  // written in place, never renamed over
  const Outcome full = glassbox("train TINY.txt --steps 2 --out M --log-file /dev/full");
  CHECK(has_full_device());
  CHECK(full.status == 1);
  CHECK_THAT(
      lines_of(full.err).back(),
      text_contains("glassbox: /dev/full: the log can't be written: No space left on device"));
  CHECK(glassbox.file("M") == "older");
}

TEST_CASE("train: with standard error closed the model file holds the model alone",
          "[cli][train]") {
  const Program glassbox;
  const std::string run = "train TINY.txt --steps 20 --log-file log.csv" + kTinyShape;
  glassbox.output(run + "--out a");
  const std::string log = glassbox.file("log.csv");
  CHECK(glassbox(run + "--out b 2>&- >&-").status == 0);
  CHECK(glassbox.file("a") == glassbox.file("b"));
  CHECK(glassbox.file("log.csv") == log);
}

TEST_CASE("train: the largest numbers are numbers like others", "[cli][train]") {
  const Program glassbox;
  for (const char* const steps :
       {"--steps 18446744073709551615", "--epochs 9223372036854775807",
        "--steps 18446744073709551615 --log-every 18446744073709551615 --log-file log.csv"}) {
    const Outcome run = glassbox("train TINY.txt --lr 1e25 " + (steps + kTinyShape));
    CAPTURE(steps, run.err);
    // A rate that can't be computed with ends the run early, and so does the number of passes.
    CHECK(run.status == (steps[2] == 'e' ? 2 : 1));
    CHECK_THAT(lines_of(run.err).back(), text_contains(steps[2] == 'e' ? "use --steps" : "finite"));
  }
}

TEST_CASE("train: --tokenizer char makes a model of characters, which every command reads",
          "[cli][train]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --tokenizer char --block-size 40 --steps 300 --out c" +
                  kTinyShape);
  const auto model = std::get<Model<float>>(read_model(glassbox.folder / "c"));
  CHECK(std::string(model.tokenizer.kind().name) == "char");
  CHECK(model.tokenizer.words().front() == " ");
  const auto sentences = lines_of(glassbox.output("sample c --prompt 'the la' --num-samples 10"));
  REQUIRE(sentences.size() == 10);
  for (const std::string& sentence : sentences) CHECK(sentence.starts_with("the la"));
  CHECK(std::stod(glassbox.output("eval c TINY.txt").substr(5)) < 3);  // ln(27) is 3.3
  CHECK_THAT(glassbox.output("next c 'the lam' --top 3"), text_contains("p "));
  glassbox.output("finetune c TINY.txt --steps 5 --out d");
  CHECK(glassbox.output("sample d --num-samples 3") != "");
  const Outcome wrong = glassbox("train TINY.txt --tokenizer bytes");
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, text_contains("expected word, word-punct, char or bpe, found 'bytes'"));
}

TEST_CASE("train: says what it begins with, and what to do about a run that ends badly",
          "[cli][train]") {
  const Program glassbox;
  const std::string train = "train TINY.txt" + kTinyShape;
  const std::string good = glassbox(train + "--steps 64").err;
  CHECK_THAT(good, text_contains("TINY.txt: 32 lines, 171 words; vocabulary of 47 tokens, model of "
                                 "1648 parameters; 2 passes"));
  CHECK(good.find("--steps") == std::string::npos);
  CHECK_THAT(glassbox(train + "--steps 8").err,
             text_contains("the run saw 25% of the lines: more --steps"));
  CHECK_THAT(glassbox(train + "--steps 64 --lr 2").err,
             text_contains("worse than a guess: try more --steps or another --learning-rate"));
}
