// Runs that are broken off and taken up again.
#include <filesystem>

#include "tests/cli/program.h"

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
       {"", "--precision double --lr-schedule constant", "--batch-size 16 --threads 3",
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
