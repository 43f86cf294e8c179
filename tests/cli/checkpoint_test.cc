// Runs that are broken off and taken up again.
#include <filesystem>
#include <random>

#include "tests/cli/program.h"
#include "train/checkpoint.h"

using namespace glassbox;

namespace {

std::string checkpoint_name(const std::string& stem, int step) {
  const std::string digits = std::to_string(step);
  return stem + ".step-" + std::string(8 - digits.size(), '0') + digits + ".safetensors";
}

// The checkpoints in the folder, in order.
std::vector<std::string> checkpoints(const Program& glassbox) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(glassbox.folder.path()))
    if (entry.path().filename().string().find(".step-") != std::string::npos)
      names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("resume: from any step the model and the log are those of a run without a break",
          "[cli][resume]") {
  const Program glassbox;
  for (const std::string options :
       {"", "--precision double --lr-schedule constant",
        "--lr-schedule cosine --warmup-steps 50 --min-lr 0.001 --grad-clip 0.5 "
        "--dropout 0.1 --batch-size 4 --grad-accum 4 --final-norm --activation gelu",
        "--optimizer sgd --lr 0.1 --momentum 0.9 --weight-decay 0.001",
        "--batch-size 16 --threads 3 --optimizer adamw --weight-decay 0.1 --beta2 0.95",
        "--epochs 6 --tokenizer char --block-size 40 --no-lowercase --beta1 0.9 --seed 7"}) {
    CAPTURE(options);
    const std::string steps = options.find("epochs") == std::string::npos ? " --steps 200 " : " ";
    glassbox.output("train TINY.txt --out M --log-file whole.csv" + steps + options + kTinyShape);
    glassbox.output("train TINY.txt --out S --log-file log.csv --save-every 1 --keep 200" + steps +
                    options + kTinyShape);
    CHECK(glassbox.file("S") == glassbox.file("M"));
    const std::string whole = glassbox.file("whole.csv");
    CHECK(glassbox.file("log.csv") == whole);
    for (const int step : {1, 37, 100, 191}) {
      CAPTURE(step);
      const std::string from = checkpoint_name("S", step);
      glassbox.output("train TINY.txt --resume " + from +
                      " --out R --log-file log.csv --threads 2");
      CHECK(glassbox.file("R") == glassbox.file("M"));
      CHECK(glassbox.file("log.csv") == whole);
    }
    for (const std::string& name : checkpoints(glassbox))
      std::filesystem::remove(glassbox.folder / name);
  }
}

TEST_CASE("resume: a chain of runs ends in the bytes of one, checkpoints included",
          "[cli][resume]") {
  const Program glassbox;
  const std::string every = " --save-every 50 --out ";
  glassbox.output("train TINY.txt --steps 200" + every + "a" + kTinyShape);
  const std::string last = glassbox.file(checkpoint_name("a", 200));
  glassbox.output("train TINY.txt --resume " + checkpoint_name("a", 100) + every + "b");
  CHECK(glassbox.file(checkpoint_name("b", 150)) == glassbox.file(checkpoint_name("a", 150)));
  glassbox.output("train TINY.txt --resume " + checkpoint_name("b", 150) + every + "c");
  CHECK(glassbox.file(checkpoint_name("c", 200)) == last);
  // A run that was at its end says so and writes the model. Without --out it lies beside.
  const Outcome done = glassbox("train TINY.txt --resume " + checkpoint_name("c", 200));
  CHECK(done.status == 0);
  CHECK_THAT(done.err, text_contains(checkpoint_name("c", 200) + ": 200 of 200 steps are done"));
  CHECK(lines_of(done.err).back() == "wrote c.safetensors");
  CHECK(glassbox.file("c.safetensors") == glassbox.file("a"));
  // A checkpoint is a model, too.
  CHECK(glassbox.output("sample " + checkpoint_name("c", 200)) == glassbox.output("sample a"));
}

TEST_CASE("resume: --keep leaves the last of them", "[cli][resume]") {
  const Program glassbox;
  put_file(glassbox.folder / checkpoint_name("M", 3), "of another run");
  glassbox.output("train TINY.txt --steps 90 --save-every 10 --keep 2 --out M" + kTinyShape);
  CHECK(checkpoints(glassbox) == std::vector<std::string>{checkpoint_name("M", 3),
                                                          checkpoint_name("M", 80),
                                                          checkpoint_name("M", 90)});
  glassbox.output("train TINY.txt --steps 90 --save-every 10 --out N" + kTinyShape);
  CHECK(checkpoints(glassbox).size() == 6);
}

TEST_CASE("resume: what is no checkpoint, another text and other settings are refused",
          "[cli][resume]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 20 --save-every 10 --out M" + kTinyShape);
  const std::string from = checkpoint_name("M", 10), bytes = glassbox.file(from);
  put_file(glassbox.folder / "OTHER.txt", glassbox.file("TINY.txt") + "aardvark\n");
  glassbox.output("finetune M TINY.txt --steps 6 --save-every 3 --out F");
  const std::string tuned = checkpoint_name("F", 3);
  struct Refusal {
    std::string arguments;
    int status;
    std::string part;
  };
  for (const Refusal& refusal : std::vector<Refusal>{
           {"train TINY.txt --resume M", 1,
            "M: expected a checkpoint, found a model without the optimiser's state; train it "
            "further with glassbox finetune"},
           {"train TINY.txt --resume missing", 1, "missing"},
           {"train TINY.txt --resume TINY.txt", 1, "TINY.txt: header"},
           {"train OTHER.txt --resume " + from, 1,
            "OTHER.txt: expected the text with which " + from + " was begun"},
           {"train TINY.txt --lr 0.02 --resume " + from, 2,
            "--lr: expected 0.01, with which " + from + " was begun, found 0.02; leave it out"},
           {"train TINY.txt --steps 30 --resume " + from, 2, "--steps: expected 20"},
           {"train TINY.txt --epochs 3 --resume " + from, 2,
            "--epochs: " + from + " was begun without it"},
           {"train TINY.txt --no-lowercase --resume " + from, 2, "begun without it"},
           {"train TINY.txt --n-layer 2 --resume " + from, 2, "--n-layer: expected 1"},
           {"train TINY.txt --resume " + from + " --out " + from, 2, "another file than --resume"},
           {"train TINY.txt --resume " + tuned, 1, "expected a checkpoint of train"},
           {"finetune M TINY.txt --resume " + from, 1, "expected a checkpoint of finetune"},
           {"finetune F TINY.txt --resume " + tuned, 1, "F: expected the model with which"},
           {"train TINY.txt --save-every 5 --keep 0", 2, "--keep: expected a whole number"},
           {"train TINY.txt --resume " + from + " --log-file OTHER.txt", 1,
            "OTHER.txt: expected the log of the run that is resumed"}}) {
    const Outcome outcome = glassbox(refusal.arguments);
    CAPTURE(refusal.arguments, outcome.err);
    CHECK(outcome.status == refusal.status);
    CHECK(lines_of(outcome.err).size() == 1);
    CHECK_THAT(outcome.err, text_contains(refusal.part));
  }
  CHECK(glassbox.file(from) == bytes);
  // The same value again is no other.
  glassbox.output("train TINY.txt --lr 0.01 --steps 20 --seed 42 --resume " + from);
}

TEST_CASE("resume: fine-tuning goes on with its new words, its frozen parameters and its parent",
          "[cli][resume]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 20 --out M" + kTinyShape);
  put_file(glassbox.folder / "NEW.txt", "the lamp\nthe zebraxyz\n");
  const std::string tune = "finetune M NEW.txt ";
  glassbox.output(tune +
                  "--steps 40 --extend-vocab --freeze 'output,layers.0.mlp.*' --save-every 7 "
                  "--keep 9 --retain TINY.txt --out a --log-file a.jsonl");
  const std::string log = glassbox.file("a.jsonl");
  const Outcome again = glassbox(tune + "--resume " + checkpoint_name("a", 21) +
                                 " --retain TINY.txt --out b --log-file a.jsonl");
  CAPTURE(again.err);
  CHECK(again.status == 0);
  CHECK_THAT(again.err, text_contains("loss on TINY.txt: "));
  CHECK(glassbox.file("b") == glassbox.file("a"));
  CHECK(glassbox.file("a.jsonl") == log);
}

namespace {

// Runs the program in the background until `ready`, a shell's test, holds, then does `then`, in
// which $P is the process; its exit status is the outcome's.
Outcome interrupted(const Program& glassbox, const std::string& arguments, const std::string& ready,
                    const std::string& then) {
  return glassbox.shell("\"$G\" " + arguments + " & P=$!\nwhile ! { " + ready +
                        "; } 2>/dev/null; do sleep 0.01; done\n" + then + "\nwait $P");
}

}  // namespace

TEST_CASE("resume: a run that a signal ended says how to go on, and ends in the same bytes",
          "[cli][resume]") {
  const Program glassbox;
  const std::string run = "train TINY.txt --steps 20000" + kTinyShape;
  glassbox.output(run + "--out M --log-file whole.csv");
  const Outcome ended = interrupted(glassbox, run + "--out S --log-file log.csv",
                                    "[ \"$(wc -l < log.csv)\" -ge 50 ]", "kill -TERM $P");
  CAPTURE(ended.err);
  REQUIRE(ended.status == 143);
  REQUIRE(checkpoints(glassbox).size() == 1);
  const std::string from = checkpoints(glassbox)[0];
  CHECK_THAT(lines_of(ended.err).back(), text_contains("; to go on, add --resume " + from));
  glassbox.output("train TINY.txt --out S --log-file log.csv --resume " + from);
  CHECK(glassbox.file("S") == glassbox.file("M"));
  CHECK(glassbox.file("log.csv") == glassbox.file("whole.csv"));
}

TEST_CASE("resume: a second signal ends a long step at once and leaves the older files whole",
          "[cli][resume]") {
  const Program glassbox;
  put_file(glassbox.folder / "M", "older");
  // A step of this model takes many seconds.
  const Outcome ended = interrupted(
      glassbox,
      "train TINY.txt --n-layer 2 --n-embd 1024 --batch-size 2048 --steps 9 --threads 1 --out M",
      "grep -q 'will be replaced' .stderr", "sleep 0.5; kill -INT $P; sleep 1.5; kill -INT $P");
  CAPTURE(ended.err);
  CHECK(ended.status == 130);
  CHECK_THAT(ended.err, text_contains("finishing the step; a second signal ends it at once"));
  CHECK_THAT(lines_of(ended.err).back(), text_contains("glassbox: ended in the middle of a step"));
  CHECK(glassbox.file("M") == "older");
  CHECK_FALSE(glassbox.has("M.tmp"));
  CHECK(checkpoints(glassbox).empty());
}

TEST_CASE("resume: nohup's ignored SIGHUP stays ignored", "[cli][resume]") {
  const Program glassbox;
  const Outcome run = glassbox.shell(
      "trap '' HUP\n\"$G\" train TINY.txt --steps 60000 --out M --log-file log.csv" + kTinyShape +
      " & P=$!\nwhile [ \"$(wc -l < log.csv || echo 0)\" -lt 50 ]; do sleep 0.01; done "
      "2>/dev/null\n"
      "kill -HUP $P; wait $P");
  CHECK(run.status == 0);
  CHECK(lines_of(run.err).back() == "wrote M");
}

TEST_CASE("resume: a log that can't be written ends the run, which is saved", "[cli][resume]") {
  const Program glassbox;
  put_file(glassbox.folder / "M", "older");
  const std::string run = "train TINY.txt --steps 20000" + kTinyShape;
  const Outcome full =
      glassbox.shell("ulimit -f 128; \"$G\" " + run + "--out M --log-file log.csv");
  CAPTURE(full.err);
  CHECK(full.status == 1);
  REQUIRE(checkpoints(glassbox).size() == 1);
  const std::string from = checkpoints(glassbox)[0], last = lines_of(full.err).back();
  CHECK_THAT(last, text_contains("glassbox: log.csv: the log can't be written: File too large"));
  CHECK_THAT(last, text_contains("the run is saved as " + from));
  CHECK(glassbox.file("M") == "older");
  glassbox.output("train TINY.txt --out M --resume " + from);
  glassbox.output(run + "--out N");
  CHECK(glassbox.file("M") == glassbox.file("N"));
}

TEST_CASE("resume: a loss that is not finite leaves the last checkpoint and names it",
          "[cli][resume]") {
  const Program glassbox;
  const Outcome run = glassbox("train TINY.txt --lr 1e15 --save-every 1 --out M");
  CHECK(run.status == 1);
  CHECK_THAT(run.err, text_contains("step 2: expected a finite loss"));
  CHECK_THAT(run.err, text_contains("; the last checkpoint is " + checkpoint_name("M", 1)));
  CHECK(checkpoints(glassbox) == std::vector<std::string>{checkpoint_name("M", 1)});
  CHECK_NOTHROW(read_checkpoint(glassbox.folder / checkpoint_name("M", 1)));
}

TEST_CASE("resume: a new run keeps the old log and says so, and tells of the model in its place",
          "[cli][resume]") {
  const Program glassbox;
  const std::string run = "train TINY.txt --steps 5 --out M --log-file run.csv" + kTinyShape;
  CHECK(glassbox(run).err.find("M: ") == std::string::npos);
  const std::string first = glassbox.file("run.csv");
  const Outcome again = glassbox(run + "--seed 7");
  CHECK_THAT(again.err, text_contains("run.csv: the log of an earlier run is now run.1.csv\n"));
  CHECK_THAT(again.err, text_contains("M: there is one already, which will be replaced\n"));
  CHECK(glassbox.file("run.1.csv") == first);
  CHECK_THAT(glassbox(run).err, text_contains("is now run.2.csv\n"));
  CHECK(glassbox.file("run.csv") == first);
}

namespace {

// Kills a run again and again, each time at a random moment, takes it up from its last checkpoint,
// and in the end compares. After each kill all checkpoints can be read.
void check_kills(const Program& glassbox, int kills, unsigned seed) {
  std::mt19937 random(seed);
  const std::string steps = "--steps " + std::to_string(300 * kills) + kTinyShape;
  glassbox.output("train TINY.txt --out M " + steps);
  std::string begin = steps;
  std::size_t read = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const std::string delay = "0.0" + std::to_string(10 + random() % 80);
    const Outcome run =
        glassbox.shell("\"$G\" train TINY.txt --out S --save-every 3 --log-file log.csv " + begin +
                       " & P=$!\nsleep " + delay + "\nkill -KILL $P; wait $P");
    CAPTURE(kill, delay, begin, run.err);
    if (run.status == 0) break;  // it was at its end
    REQUIRE(run.status == 128 + SIGKILL);
    const auto names = checkpoints(glassbox);
    for (const std::string& name : names) {
      if (name.ends_with(".tmp")) continue;
      begin = "--resume " + name;
      ++read;
      CHECK_NOTHROW(read_checkpoint(glassbox.folder / name));
    }
  }
  CHECK(read > 0);
  glassbox.output("train TINY.txt --out S --log-file log.csv " + begin);
  CHECK(glassbox.file("S") == glassbox.file("M"));
}

}  // namespace

TEST_CASE("resume: kill -9 at any moment leaves checkpoints that can be read and gone on with",
          "[cli][resume]") {
  check_kills(Program(), 8, 1);
}

TEST_CASE("resume: a hundred kills at random moments", "[cli][resume][.slow]") {
  check_kills(Program(), 100, 2);
}
