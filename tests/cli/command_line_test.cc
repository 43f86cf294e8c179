#include <unistd.h>

#include "tests/cli/program.h"

using namespace glassbox;

namespace {

const std::vector<std::string> kCommands{"train", "finetune", "sample",    "eval",
                                         "help",  "man",      "completion"};

struct Refusal {
  const char* arguments;
  int status;
  const char* part;  // of the message
};

void check_refused(const Program& glassbox, const Refusal& refusal) {
  const Outcome outcome = glassbox(refusal.arguments);
  CAPTURE(refusal.arguments, outcome.err);
  CHECK(outcome.status == refusal.status);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.rfind("glassbox: ", 0) == 0);
  CHECK(lines_of(outcome.err).size() == 1);
  CHECK_THAT(outcome.err, text_contains(refusal.part));
}

}  // namespace

TEST_CASE("command line: what is wrong is refused in one line that names it", "[cli]") {
  const Program glassbox;
  for (const Refusal& refusal : std::vector<Refusal>{
           {"", 2, "expected a command"},
           {"trian TINY.txt", 2, "did you mean train?"},
           {"xyzzy", 2, "'xyzzy' is no command"},
           {"train", 2, "expected CORPUS"},
           {"train TINY.txt more", 1, "more: can't be read"},
           {"eval M TINY.txt more", 2, "found 'more'"},
           {"eval M TINY.txt false --json", 2, "found 'false'"},
           {"train TINY.txt --stpes 3", 2, "did you mean --steps?"},
           {"train TINY.txt --n_layr 3", 2, "did you mean --n-layer?"},
           {"train TINY.txt --x", 2, "--x: train has no such option"},
           {"train TINY.txt -x", 2, "-x: train has no such option"},
           {"train TINY.txt --steps", 2, "found nothing"},
           {"train TINY.txt --steps 3x2", 2,
            "--steps: expected a whole number of at least 0, found '3x2'"},
           {"train TINY.txt --steps ' '", 2, "--steps: expected a whole number"},
           {"train TINY.txt --steps ''", 2, "--steps: expected a whole number"},
           {"train TINY.txt --steps -5", 2, "found '-5'"},
           {"train TINY.txt --steps 0x10", 2, "found '0x10'"},
           {"train TINY.txt --steps 1e3", 2, "found '1e3'"},
           {"train TINY.txt --steps 18446744073709551616", 2, "--steps"},
           {"train TINY.txt --steps 1 --epochs 1", 2, "found both"},
           {"train TINY.txt --epochs 0", 2, "--epochs: expected a whole number of at least 1"},
           {"train TINY.txt --lr 0", 2, "--lr: expected a number above 0, found '0'"},
           {"train TINY.txt --lr nan", 2, "found 'nan'"},
           {"train TINY.txt --lr inf", 2, "found 'inf'"},
           {"train TINY.txt --lr 1e400", 2, "found '1e400'"},
           {"train TINY.txt --beta1 1", 2, "a number from 0 to below 1"},
           {"train TINY.txt --n_layer=0", 2, "--n_layer: expected a whole number from 1"},
           {"train TINY.txt --n-embd 30", 2, "n_head: expected a divisor of n_embd"},
           {"train TINY.txt --lr-schedule 'linear|constant'", 2,
            "expected linear, cosine or constant"},
           {"train TINY.txt --lr-schedule cosin", 2, "found 'cosin'"},
           {"train TINY.txt --warmup-steps 9 --steps 8", 2, "at most the 8 steps"},
           {"train TINY.txt --min-lr 0.02", 2, "min_lr: expected a number from 0 to"},
           {"train TINY.txt --min-lr 0.001 --lr-schedule constant", 2,
            "expected another --lr-schedule than constant"},
           {"train TINY.txt --optimizer rmsprop", 2, "expected adam, adamw or sgd"},
           {"train TINY.txt --momentum 0.9", 2, "expected another --optimizer than adam"},
           {"train TINY.txt --optimizer sgd --beta1 0.9", 2, "--optimizer than sgd"},
           {"train TINY.txt --weight-decay=-1", 2, "--weight-decay: expected a number of at least"},
           {"train TINY.txt --find-lr --steps 5", 2, "--steps: expected no --find-lr beside it"},
           {"train TINY.txt --dropout 1", 2, "--dropout: expected a number from 0 to below 1"},
           {"train TINY.txt --grad-clip nan", 2, "found 'nan'"},
           {"train TINY.txt --min-lr=-1", 2, "--min-lr: expected a number"},
           {"train TINY.txt --tokenizer bpe --vocab-size 256", 2, "at least 257 tokens of bpe"},
           {"train TINY.txt --tokenizer bpe --unk", 2, "no <unk> of bpe"},
           {"train TINY.txt --no-lowercase=yes", 2, "expected no value, found 'yes'"},
           {"train TINY.txt --seed 4294967296", 2, "from 0 to 4294967295"},
           {"train TINY.txt --threads 0", 2, "from 1 to 1024"},
           {"train TINY.txt --threads 1025", 2, "from 1 to 1024"},
           {"train TINY.txt --out ''", 2, "expected a file's name"},
           {"train TINY.txt --out TINY.txt", 2, "another file than CORPUS"},
           {"train TINY.txt --out x --log-file ./x", 2, "--log-file: expected another file"},
           {"train TINY.txt --out missing/x", 1, "missing/x: can't be written: No such file"},
           {"train TINY.txt --out /proc/x", 1, "/proc/x: can't be written: "},
           {"train TINY.txt --out .", 1, "Is a directory"},
           {"train TINY.txt --log-file missing/x", 1,
            "missing/x: the log can't be created: No such"},
           {"train missing.txt", 1, "missing.txt: can't be read: No such file or directory"},
           {"train \"$(printf 'a\\nb')\"", 1, "a\\x0ab: can't be read"},
           {"train /proc/self/fdinfo", 1,
            "/proc/self/fdinfo: expected a file, or a folder with files"},
           {"train .", 1, ".: expected a file or a folder of texts, found the folder that you"},
           {"train TINY.txt --split words", 2, "expected line, sentence or window"},
           {"sample", 2, "expected MODEL"},
           {"sample missing", 1, "missing: can't be read"},
           {"sample TINY.txt", 1, "TINY.txt: header"},
           {"sample M --top-p 0.5x", 2, "--top-p: expected a number from 0 to 1, found '0.5x'"},
           {"sample M --top-p -1", 2, "found '-1'"},
           {"sample M --top-p 1.5", 2, "found '1.5'"},
           {"sample M --temp -1", 2, "--temp: expected a number of at least 0, found '-1'"},
           {"sample M --temp inf", 2, "found 'inf'"},
           {"sample M --temp hot", 2, "found 'hot'"},
           {"sample M --top-k -3", 2, "found '-3'"},
           {"sample M -n 0", 2, "-n: expected a whole number of at least 1"},
           {"sample M --num-samples 0", 2, "from 1 to 1000000000"},
           {"sample M --num-samples 18446744073709551615", 2, "from 1 to 1000000000"},
           {"sample M -p the -f TINY.txt", 2, "found both"},
           {"eval M", 2, "expected TEXT"},
           {"finetune M", 2, "expected CORPUS"},
           {"finetune missing TINY.txt", 1, "missing: can't be read"},
           {"finetune TINY.txt TINY.txt", 1, "TINY.txt: header"},
           {"finetune M TINY.txt --out missing/x", 1, "missing/x: can't be written: No such file"},
           {"finetune M TINY.txt --n-layer 2", 2, "--n-layer: finetune has no such option"},
           {"finetune M TINY.txt --steps 1 --epochs 1", 2, "found both"},
           {"completion ksh", 2, "expected bash, zsh or fish, found 'ksh'"},
           {"help trian", 2, "did you mean train?"},
       }) {
    check_refused(glassbox, refusal);
  }
  CHECK(glassbox.folder.count() == 4);  // nothing came to be: the text, the script, two outputs
}

TEST_CASE("command line: --version says what the build is", "[cli]") {
  const Program glassbox;
  const std::string out = glassbox.output("--version");
  const auto lines = lines_of(out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].rfind("glassbox ", 0) == 0);
  for (std::size_t i = 1; i < 4; ++i) {
    const std::vector<std::string> subjects{"", "revision ", "compiler ", "SIMD "};
    CHECK(lines[i].rfind(subjects[i], 0) == 0);
    CHECK(lines[i].size() > subjects[i].size());
  }
}

TEST_CASE("command line: help shows every option of a command, defaults, ranges and two examples",
          "[cli]") {
  const Program glassbox;
  const std::string overview = glassbox.output("help");
  CHECK(glassbox.output("--help") == overview);
  CHECK(glassbox.output("-h") == overview);
  for (const std::string& command : kCommands) {
    CAPTURE(command);
    CHECK_THAT(overview, text_contains("\n  " + command + " "));
    const std::string help = glassbox.output("help " + command);
    CHECK(glassbox.output(command + " --help") == help);
    CHECK(glassbox.output(command + " -h") == help);
    const std::size_t examples = help.find("\nExamples:\n");
    REQUIRE(examples != std::string::npos);
    CHECK(lines_of(help.substr(examples + 11)).size() == 2);
    for (const std::string& line : lines_of(help.substr(0, examples))) CHECK(line.size() <= 80);
  }
  const std::string train = glassbox.output("help train");
  for (const char* const part :
       {"-o, --out FILE", "--learning-rate, --lr X", "--lr-schedule linear|cosine|constant",
        "--no-lowercase", "default 5000", "default model.safetensors", "from 0 to 4294967295"}) {
    CHECK_THAT(train, text_contains(part));
  }
}

TEST_CASE("command line: a manual page is made of each command without a warning of man", "[cli]") {
  const Program glassbox;
  const bool has_man = glassbox.shell("man --version").status == 0;
  if (!has_man) WARN("skipped: man is not installed");
  CHECK(glassbox.output("man inspect") == glassbox.output("man"));
  for (std::string page : kCommands) {
    for (const std::string& command : {std::string(), page}) {
      CAPTURE(command);
      CHECK(glassbox.output("man " + command).rfind(".TH glassbox", 0) == 0);
      if (!has_man) continue;
      const Outcome shown = glassbox.shell("\"$G\" man " + command +
                                           " > page.1 && LC_ALL=C.UTF-8 man --warnings -l page.1");
      CHECK(shown.status == 0);
      CHECK(shown.err.empty());
      CHECK_THAT(shown.out, text_contains("NAME"));
    }
  }
}

TEST_CASE("command line: completions know commands, options, listed values and files", "[cli]") {
  const Program glassbox;
  if (glassbox.shell("bash --version").status != 0) {
    WARN("skipped: bash is not installed");
    return;
  }
  put_file(glassbox.folder / "complete.sh",
           "source <(\"$G\" completion bash)\n"
           "COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n_glassbox\necho \"${COMPREPLY[*]}\"\n");
  const auto completed = [&](const std::string& words) {
    const Outcome outcome = glassbox.shell("export G; bash complete.sh glassbox " + words);
    CHECK(outcome.err.empty());
    return outcome.out;
  };
  CHECK(completed("tr") == "train\n");
  CHECK(completed("--v") == "--version\n");
  CHECK(completed("train --lr-s") == "--lr-schedule\n");
  CHECK(completed("train --lr-schedule con") == "constant\n");
  CHECK(completed("train TIN") == "TINY.txt\n");
  CHECK(completed("sample --prompt-file TIN") == "TINY.txt\n");
  CHECK(completed("sample --top-k ''") == "\n");
  CHECK(completed("completion z") == "zsh\n");
  CHECK(completed("help ev") == "eval\n");
  for (const std::string shell : {"zsh", "fish"}) {
    const std::string script = glassbox.output("completion " + shell);
    CHECK_THAT(script, text_contains("lr-schedule"));
    if (glassbox.shell(shell + " --version").status != 0) {
      WARN("skipped: the syntax check of " + shell + ", which is not installed");
      continue;
    }
    put_file(glassbox.folder / "script", script);
    CHECK(glassbox.shell(shell + " -n script").status == 0);
  }
}

TEST_CASE("command line: underscores are dashes and the last of repeated values holds", "[cli]") {
  const Program glassbox;
  const std::string tiny = "--n_layer 1 --n_embd=8 --n-head 2 --steps 1 ";
  glassbox.output("train TINY.txt --out a --steps 9 --n_layer=7 " + tiny);
  glassbox.output("train TINY.txt -o b " + kTinyShape +
                  "--steps 1 --sample_every 1 --log_file l.jsonl");
  CHECK(glassbox.file("a") == glassbox.file("b"));
  CHECK_FALSE(glassbox.file("a").empty());
}

TEST_CASE("command line: a file gets exactly the name that was typed", "[cli]") {
  const Program glassbox;
  const std::string run = "train TINY.txt --steps 1" + kTinyShape;
  ::mkdir((glassbox.folder / "d").c_str(), 0777);
  for (const char* const typed : {"'--out=a b'", "--out 'c,d'", "-o d/x.safetensors", "-oe.bin",
                                  "--out 'zoë.safetensors'", "--out=--steps", "--out -"}) {
    const Outcome outcome = glassbox(run + typed);
    CAPTURE(typed, outcome.err);
    CHECK(outcome.status == 0);
  }
  for (const char* const name :
       {"a b", "c,d", "d/x.safetensors", "e.bin", "zoë.safetensors", "--steps", "-"}) {
    CAPTURE(name);
    CHECK(glassbox.has(name));
    CHECK(glassbox.output("sample --num-samples 1 -- '" + std::string(name) + "'").back() == '\n');
  }
  CHECK(glassbox.folder.count() == 4 + 7);
}

TEST_CASE("command line: a full disk or a closed output is an error and a closed pipe is not",
          "[cli]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --out M --steps 1" + kTinyShape);
  for (const char* const data : {"sample M", "help", "--version", "man", "eval M TINY.txt"}) {
    CAPTURE(data);
    if (has_full_device()) {
      const Outcome full = glassbox(std::string(data) + " > /dev/full");
      CHECK(full.status == 1);
      CHECK(lines_of(full.err).back() ==
            "glassbox: standard output: can't be written: No space left on device");
    }
    CHECK(glassbox(std::string(data) + " >&-").status == 1);
  }
  if (!has_full_device()) WARN("skipped: the full disk, for want of /dev/full");
  const Outcome piped =
      glassbox.shell("{ \"$G\" sample M --num-samples 100000; echo $? > status; } | head -n 1");
  CHECK(lines_of(piped.out).size() == 1);
  CHECK(piped.err.empty());
  CHECK(glassbox.file("status") == "0\n");
}

TEST_CASE("command line: a model may come from a pipe, which is read once", "[cli]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 20 --out m" + kTinyShape);
  for (const std::string line :
       {"finetune P TINY.txt --steps 2", "sample P", "eval P TINY.txt", "next P the",
        "inspect params P", "inspect gradients P 'the lamp'",
        "inspect gradcheck P 'the lamp' --sample 5", "inspect value P 'the lamp' 'logits@1[lamp]'",
        "inspect graph P 'the lamp' --around 'logits@1[lamp]'", "inspect attention P 'the lamp'",
        "inspect trace P 'the lamp'", "inspect cache P 'the lamp'", "inspect neighbours P lamp",
        "report P"}) {
    CAPTURE(line);
    // A second opening would wait for a second writer: the time limits end that.
    const Outcome piped =
        glassbox.shell("rm -f P; mkfifo P; timeout 20 cat m > P & timeout 20 \"$G\" " + line);
    CHECK(piped.status == 0);
    glassbox.shell("rm -f P; cp m P");
    const Outcome plain = glassbox(line);
    CHECK(plain.out == piped.out);
  }
}
