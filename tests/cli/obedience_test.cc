// Every option of every command is obeyed: a table with a row for each, and the options that were
// once taken and not obeyed.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "tests/cli/program.h"

using namespace glassbox;

namespace {

// m.safetensors, a small model.
void train(const Program& glassbox) {
  glassbox.output("train TINY.txt --steps 20 --out m.safetensors" + kTinyShape);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // needs more addresses than a limit would leave
#else
constexpr bool kSanitized = false;
#endif

// 32 threads with stacks of 64 MB do not fit into 1 GB of addresses; one does.
const std::string kLimits = "ulimit -s 65536 && ulimit -v 1000000 && ";

enum class Proof {
  difference,  // `line` with `option` behind it is seen to do something else than without it
  // Results must not depend on it, so what is seen is whether the threads can be started within
  // kLimits. Where a sanitizer forbids the limits, only that the value is read: 0 is refused.
  threads,
  // Something is printed long before the command, which goes on for hours, has come to its end.
  early,
  // A test of its own: the command does not end by itself.
  elsewhere,
};

struct Row {
  const char* command;
  const char* line;    // what stands behind the command
  const char* option;  // with its value, as a user adds it
  Proof proof = Proof::difference;
};

#define SMALL " --n-layer 1 --n-embd 8 --n-head 2 "
#define TRAIN "TINY.txt --steps 6" SMALL
#define FINETUNE "m.safetensors TINY.txt --steps 6"
#define SAMPLE "m.safetensors --num-samples 5"

const Row kRows[] = {
    {"train", TRAIN, "--out other"},
    {"train", TRAIN, "--log-file l.csv"},
    {"train", TRAIN "--log-file l.csv", "--log-every 4"},
    {"train", TRAIN "--log-file l.jsonl", "--inspect-every 3"},
    {"train", TRAIN "--log-file l.jsonl", "--sample-every 3"},
    {"train", TRAIN, "--val-fraction 0.25"},
    {"train", TRAIN, "--val TINY.txt"},
    {"train", TRAIN "--val TINY.txt --log-file l.csv", "--eval-every 4"},
    {"train", TRAIN "--val TINY.txt --lr 9", "--patience 1"},
    {"train", TRAIN, "--save-every 2"},
    {"train", TRAIN "--save-every 1", "--keep 1"},
    {"train", TRAIN, "--resume begun.step-00000003.safetensors"},
    {"train", TRAIN, "--steps 7"},
    {"train", "TINY.txt --epochs 1" SMALL, "--epochs 2"},
    {"train", TRAIN, "--batch-size 2"},
    {"train", TRAIN, "--grad-accum 2"},
    {"train", TRAIN, "--learning-rate 0.02"},
    {"train", TRAIN, "--lr-schedule constant"},
    {"train", TRAIN, "--warmup-steps 4"},
    {"train", TRAIN, "--min-lr 0.0005"},
    {"train", TRAIN, "--beta1 0.5"},
    {"train", TRAIN, "--beta2 0.5"},
    {"train", TRAIN, "--adam-epsilon 0.1"},
    {"train", TRAIN, "--optimizer adamw --weight-decay 0.1"},
    {"train", TRAIN "--optimizer sgd", "--momentum 0.9"},
    {"train", TRAIN, "--weight-decay 0.1"},
    {"train", TRAIN, "--grad-clip 0.01"},
    {"train", TRAIN, "--dropout 0.2"},
    {"train", "TINY.txt --batch-size 2" SMALL, "--find-lr"},
    {"train", "TINY.txt --steps 50 --lr 1e25" SMALL, "--detect-anomaly"},
    {"train", TRAIN, "--n-layer 2"},
    {"train", TRAIN, "--n-embd 12"},
    {"train", TRAIN, "--n-head 4"},
    {"train", TRAIN, "--block-size 4"},
    {"train", TRAIN, "--activation gelu"},
    {"train", TRAIN, "--final-norm"},
    {"train", TRAIN, "--precision double"},
    {"train", TRAIN, "--tokenizer char"},
    {"train", TRAIN, "--tokenizer-file t.json"},
    {"train", TRAIN, "--split window"},
    {"train", TRAIN, "--vocab-size 20"},
    {"train", TRAIN "--tokenizer bpe", "--min-count 9"},
    {"train", TRAIN, "--unk"},
    {"train", "CAPITALS.txt --steps 6" SMALL, "--no-lowercase"},
    {"train", TRAIN, "--seed 7"},
    {"train", TRAIN "--batch-size 64", "--threads 32", Proof::threads},

    {"finetune", FINETUNE, "--split window"},
    {"finetune", FINETUNE, "--out other"},
    {"finetune", FINETUNE, "--log-file l.csv"},
    {"finetune", FINETUNE " --log-file l.csv", "--log-every 4"},
    {"finetune", FINETUNE " --log-file l.jsonl", "--inspect-every 3"},
    {"finetune", FINETUNE " --log-file l.jsonl", "--sample-every 3"},
    {"finetune", FINETUNE, "--val-fraction 0.25"},
    {"finetune", FINETUNE, "--val TINY.txt"},
    {"finetune", FINETUNE " --val TINY.txt --log-file l.csv", "--eval-every 4"},
    {"finetune", FINETUNE " --val TINY.txt --lr 9", "--patience 1"},
    {"finetune", FINETUNE, "--save-every 2"},
    {"finetune", FINETUNE " --save-every 1", "--keep 1"},
    {"finetune", FINETUNE, "--resume tuned.step-00000003.safetensors"},
    {"finetune", FINETUNE, "--steps 7"},
    {"finetune", "m.safetensors TINY.txt --epochs 1", "--epochs 2"},
    {"finetune", FINETUNE, "--batch-size 2"},
    {"finetune", FINETUNE, "--grad-accum 2"},
    {"finetune", FINETUNE, "--learning-rate 0.02"},
    {"finetune", FINETUNE, "--lr-schedule constant"},
    {"finetune", FINETUNE, "--warmup-steps 4"},
    {"finetune", FINETUNE, "--min-lr 0.0005"},
    {"finetune", FINETUNE, "--beta1 0.5"},
    {"finetune", FINETUNE, "--beta2 0.5"},
    {"finetune", FINETUNE, "--adam-epsilon 0.1"},
    {"finetune", FINETUNE, "--optimizer adamw --weight-decay 0.1"},
    {"finetune", FINETUNE " --optimizer sgd", "--momentum 0.9"},
    {"finetune", FINETUNE, "--weight-decay 0.1"},
    {"finetune", FINETUNE, "--grad-clip 0.01"},
    {"finetune", FINETUNE, "--dropout 0.2"},
    {"finetune", "m.safetensors TINY.txt --batch-size 2", "--find-lr"},
    {"finetune", "m.safetensors TINY.txt --steps 50 --lr 1e25", "--detect-anomaly"},
    {"finetune", "m.safetensors NEW.txt --steps 6", "--extend-vocab"},
    {"finetune", "m.safetensors NEW.txt --steps 6", "--unk"},
    {"finetune", FINETUNE, "--freeze output"},
    {"finetune", FINETUNE, "--retain TINY.txt"},
    {"finetune", FINETUNE, "--seed 7"},
    {"finetune", FINETUNE " --batch-size 64", "--threads 32", Proof::threads},

    {"sample", SAMPLE, "--prompt the"},
    {"sample", SAMPLE, "--prompt-file PROMPTS.txt"},
    {"sample", SAMPLE, "--num-samples 6"},
    {"sample", SAMPLE, "--max-tokens 1"},
    {"sample", SAMPLE, "--temperature 0"},
    {"sample", SAMPLE, "--top-k 1"},
    {"sample", SAMPLE, "--top-p 0.1"},
    {"sample", SAMPLE, "--min-p 0.9"},
    {"sample", SAMPLE "0", "--repetition-penalty 3"},
    {"sample", SAMPLE "0 --repetition-penalty 3", "--repeat-last-n 1"},
    {"sample", SAMPLE, "--stop the"},
    {"sample", SAMPLE, "--json"},
    {"sample", SAMPLE " --json", "--logprobs 2"},
    {"sample", "endless.safetensors --num-samples 1 --temp 0 -n 1000000000", "--stream",
     Proof::early},
    {"sample", SAMPLE, "--seed 7"},
    {"sample", SAMPLE, "--threads 32", Proof::threads},
    {"play", "m.safetensors the < ENTER.txt", "--temperature 0"},
    {"play", "m.safetensors the < ENTER.txt", "--top-k 1"},
    {"play", "m.safetensors the < ENTER.txt", "--top-p 0.1"},
    {"play", "m.safetensors the < ENTER.txt", "--top 3"},
    {"play", "m.safetensors the < ENTER.txt", "--seed 7"},
    {"convert", "tutorial.json out.safetensors", "--corpus TINY.txt"},
    {"convert", "m.safetensors out.json", "--vocab words.txt"},
#ifdef GLASSBOX_SERVE  // serve_test.cc
    {"serve", "", "--host ::1", Proof::elsewhere},
    {"serve", "", "--port 0", Proof::elsewhere},
    {"serve", "", "--max-pending 1", Proof::elsewhere},
    {"serve", "", "--threads 3", Proof::elsewhere},
#endif

    {"tokenize", "m.safetensors TINY.txt", "--pieces"},
    {"tokenize", "m.safetensors IDS.txt", "--decode"},
    {"tokenize", "m.safetensors TINY.txt", "--count"},
    {"tokenize", "bpe.safetensors", "--export u.json"},
    {"eval", "m.safetensors TINY.txt", "--per-line"},
    {"eval", "m.safetensors TINY.txt", "--json"},
    // No more threads are started than there are batches.
    {"eval", "m.safetensors TINY.txt --threads 32", "--batch-size 32", Proof::threads},
    {"eval", "m.safetensors TINY.txt", "--threads 32", Proof::threads},

    {"next", "m.safetensors the", "--top 3"},
    {"next", "m.safetensors the", "--json"},

    {"inspect params", "m.safetensors", "--top 3"},
    {"inspect params", "m.safetensors output", "--csv"},
    {"inspect gradients", "m.safetensors 'the lamp'", "--top 3"},
    {"inspect gradients", "m.safetensors 'the lamp'", "--nudge 0.1"},
    {"inspect gradients", "m.safetensors 'the lamp' output", "--csv"},
    {"inspect gradcheck", "m.safetensors 'the lamp' --sample 20", "--worst 3"},
    {"inspect gradcheck", "m.safetensors 'the lamp' --sample 20", "--sample 21"},
    {"inspect gradcheck", "m.safetensors 'the lamp' --sample 20", "--seed 7"},
    {"inspect value", "m.safetensors 'the lamp' 'logits@1[lamp]'", "--expand"},
    {"inspect value", "m.safetensors 'the lamp' 'logits@1[lamp]'", "--limit 1"},
    {"inspect graph", "m.safetensors 'the lamp'", "--around 'logits@1[lamp]'"},
    {"inspect graph", "m.safetensors 'the lamp' --around 'logits@1[lamp]'", "--depth 2"},
    {"inspect graph", "m.safetensors 'the lamp' --around 'logits@1[lamp]'", "--width 1"},
    {"inspect graph", "--expr 'a*a' a=2", "--expr 'a+a'"},
    {"inspect graph", "--expr 'a*a' a=2", "--tape"},
    {"inspect graph", "--expr 'a*a' a=2", "--format svg"},
    {"inspect graph", "--expr 'a*a' a=2", "--out g.dot"},
    {"inspect attention", "m.safetensors 'the lamp'", "--svg a.svg"},
    {"inspect attention", "m.safetensors 'the lamp'", "--json"},
    {"inspect attention", "two.safetensors 'the lamp'", "--layer 1"},
    {"inspect attention", "m.safetensors 'the lamp'", "--head 1"},
    {"inspect attention", "m.safetensors 'the lamp'", "--color always"},
    {"inspect trace", "m.safetensors 'the lamp'", "--top 3"},
    {"inspect trace", "m.safetensors 'the lamp'", "--at 1"},
    {"inspect trace", "m.safetensors 'the lamp'", "--word off"},
    {"inspect cache", "two.safetensors 'the lamp'", "--layer 1"},
    {"inspect cache", "m.safetensors 'the lamp'", "--head 1"},
    {"inspect neighbours", "m.safetensors lamp", "--top 3"},

    {"plot", "LOG.jsonl --ascii", "--out p.svg"},
    {"plot", "LOG.jsonl", "--ascii"},
    {"plot", "LOG.jsonl --ascii", "--columns 60"},
    {"plot", "LOG.jsonl --ascii", "--column lr"},
    {"plot", "LOG.jsonl --ascii", "--vocab-size 100"},
    {"report", "m.safetensors", "--out other.html"},
    {"report", "m.safetensors", "--log-file LOG.jsonl"},
    {"report", "m.safetensors", "--sentences PROMPTS.txt"},
    {"report", "m.safetensors", "--seed 7"},
};

std::string option_name(const Row& row) {
  const std::string option = row.option;
  return option.substr(0, option.find(' '));
}

// "--steps 7 --unk" as a file of options, of lines or of JSON.
std::string config_of(const std::string& options, bool json) {
  std::istringstream words(options);
  std::string text, key, value;
  for (std::string word; words >> word;) {
    if (!word.starts_with("--")) {
      value = word.front() == '\'' ? word.substr(1, word.size() - 2) : word;
      continue;
    }
    if (!key.empty())
      text += json ? '"' + key + "\":\"" + value + "\",\n" : key + " = " + value + '\n';
    key = word.substr(2);
    value = "true";
  }
  if (!json) return "# options\n\n" + text + key + "=" + value;
  if (value != "true") value = '"' + value + '"';  // a number as a text is the number
  return "{" + text + '"' + key + "\":" + value + "}\n";
}

// "train --out" and all others, as the program itself tells them to a shell; with each its other
// spellings. --help and --config, which every command has, are left out.
std::map<std::string, std::vector<std::string>> all_options(const Program& glassbox) {
  std::map<std::string, std::vector<std::string>> options;
  for (const std::string& line : lines_of(glassbox.output("completion fish"))) {
    std::istringstream words(line.substr(0, line.find(" -d ")));
    std::string command, name;
    std::vector<std::string> others;
    for (std::string word, before; words >> word; before = word) {
      const auto bare = word.substr(0, word.find_first_of("';"));
      if (before.ends_with("__fish_seen_subcommand_from"))
        command += (command.empty() ? "" : " ") + bare;
      if (before == "-l" && name.empty())
        name = bare;
      else if (before == "-l" || before == "-s")
        others.push_back((before == "-l" ? "--" : "-") + bare);
    }
    if (!name.empty() && name != "help" && name != "config")
      options[command + " --" + name] = others;
  }
  return options;
}

// What a run leaves to be seen: its status, what it printed but for times, and every file it wrote.
std::string observed(const Program& glassbox, const std::string& script) {
  namespace fs = std::filesystem;
  std::set<std::string> before;
  for (const auto& entry : fs::directory_iterator(glassbox.folder.path()))
    before.insert(entry.path().filename());
  const Outcome outcome = glassbox.shell(script);
  std::string seen = std::to_string(outcome.status) + '\n' + outcome.out;
  for (const std::string& line : lines_of(outcome.err))
    if (!line.starts_with("step ") && !line.starts_with("trained ")) seen += line + '\n';
  std::map<std::string, std::string> written;
  for (const auto& entry : fs::directory_iterator(glassbox.folder.path())) {
    const std::string name = entry.path().filename();
    if (!before.contains(name)) written[name] = glassbox.file(name);
  }
  for (const auto& [name, bytes] : written) {
    seen += name + ": " + bytes;
    fs::remove(glassbox.folder / name);
  }
  return seen;
}

}  // namespace

TEST_CASE("obedience: every option of every command has a row, and every row an option", "[cli]") {
  const Program glassbox;
  std::set<std::string> rows;
  for (const Row& row : kRows) rows.insert(std::string(row.command) + ' ' + option_name(row));
  const auto options = all_options(glassbox);
  CHECK(options.size() > 80);
  for (const auto& [option, others] : options) {
    INFO("no row shows that it is obeyed: " << option);
    CHECK(rows.contains(option));
  }
  for (const std::string& row : rows) {
    INFO("a row without an option: " << row);
    CHECK(options.contains(row));
  }
}

TEST_CASE("obedience: what every option promises is seen, by each of its names", "[cli]") {
  const Program glassbox;
  train(glassbox);
  glassbox.output(
      "train TINY.txt --steps 5 --out two.safetensors --log-file LOG.jsonl "
      "--n-layer 2 --n-embd 8 --n-head 2");
  glassbox.output("train " TRAIN " --save-every 3 --out begun");
  glassbox.output("finetune " FINETUNE " --save-every 3 --out tuned");
  // No line ends within the block, so the model never ends a sentence.
  put_file(glassbox.folder / "ENDLESS.txt", "a a a a a a a a\n");
  glassbox.output("train ENDLESS.txt --block-size 4 --steps 30 --out endless.safetensors" SMALL);
  put_file(glassbox.folder / "ENTER.txt", "\n\n\n");
  put_file(glassbox.folder / "tutorial.json",
           file_bytes(GLASSBOX_GOLDEN_DIR "/tutorial-small-model.json"));
  put_file(glassbox.folder / "CAPITALS.txt", "The lamp\nthe Lamp\n");
  put_file(glassbox.folder / "NEW.txt", "the lamp\nthe zebraxyz\n");
  put_file(glassbox.folder / "PROMPTS.txt", "the lamp\n");
  put_file(glassbox.folder / "IDS.txt", "0 1\n");
  glassbox.output("train " TRAIN " --tokenizer bpe --out bpe.safetensors");
  glassbox.output("tokenize bpe.safetensors --export t.json");
  glassbox.shell("true");  // its three files are there from now on
  auto options = all_options(glassbox);
  std::map<std::string, std::string> known;
  std::size_t rows = 0;
  put_file(glassbox.folder / "options.cfg", "");
  for (const Row& row : kRows) {
    const std::string line = std::string("\"$G\" ") + row.command + ' ' + row.line;
    const std::string name = option_name(row), more = row.option;
    CAPTURE(line, more);
    if (row.proof == Proof::elsewhere) continue;
    if (row.proof == Proof::threads && kSanitized) {
      const Outcome refused = glassbox.shell(line + ' ' + name + " 0");
      CHECK(refused.status == 2);
      CHECK_THAT(refused.err, text_contains(name + ": expected a whole number"));
    } else if (row.proof == Proof::threads) {
      const bool asks = name == "--threads";  // else it makes fewer than the line asks for enough
      CHECK(glassbox.shell(kLimits + line + (asks ? " --threads 1" : ' ' + more)).status == 0);
      const Outcome many = glassbox.shell(kLimits + line + (asks ? ' ' + more : ""));
      CHECK(many.status == 1);
      CHECK_THAT(many.err, text_contains("--threads: the system starts ") &&
                               text_contains("--threads 1 needs none"));
    } else if (row.proof == Proof::early) {
      const auto first_bytes = [&](const std::string& command, const char* seconds) {
        return glassbox.shell("timeout " + std::string(seconds) + ' ' + command + " | head -c 20")
            .out.size();
      };
      CHECK(first_bytes(line, "1") == 0);
      CHECK(first_bytes(line + ' ' + more, "60") == 20);
    } else {
      std::string& without = known[line];
      if (without.empty()) {
        without = observed(glassbox, line);
        CHECK(observed(glassbox, line) == without);  // else a difference would say nothing
      }
      const std::string with = observed(glassbox, line + ' ' + more);
      CHECK(with.substr(0, 2) != "2\n");
      CHECK(with != without);
      put_file(glassbox.folder / "options.cfg", config_of(more, ++rows % 2 == 0));
      if (line.find(name + ' ') == std::string::npos)  // else what is typed wins
        CHECK(observed(glassbox, line + " --config options.cfg") == with);
      for (const std::string& other : options[row.command + (' ' + name)])
        CHECK(observed(glassbox, line + ' ' + other + more.substr(name.size())) == with);
    }
  }
}

TEST_CASE("obedience: eval has the same bits for every batch size and thread", "[cli]") {
  const Program glassbox;
  train(glassbox);
  const std::string plain = glassbox.output("eval m.safetensors TINY.txt --json --per-line");
  for (const char* more : {"--threads 1", "--threads 3", "--batch-size 5 --threads 2",
                           "--batch-size 1000", "--batch-size 31 --threads 7"})
    CHECK(glassbox.output("eval m.safetensors TINY.txt --json --per-line " + std::string(more)) ==
          plain);
}

TEST_CASE("obedience: an empty pattern of --freeze is refused", "[cli]") {
  const Program glassbox;
  train(glassbox);
  const Outcome outcome = glassbox("finetune m.safetensors TINY.txt --freeze ''");
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, text_contains("--freeze: expected the name of a parameter"));
}

TEST_CASE("obedience: a graph's format is that of its file's ending", "[cli]") {
  const Program glassbox;
  glassbox.output("inspect graph --expr 'a*a' a=2 --out g.svg");
  CHECK_THAT(glassbox.file("g.svg"), text_contains("<svg"));
  glassbox.output("inspect graph --expr 'a*a' a=2 --out g.svg --format dot");
  CHECK_THAT(glassbox.file("g.svg"), text_contains("digraph"));
}

TEST_CASE("obedience: the log's last line is the last step", "[cli]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 10 --log-every 40 --log-file l.csv" + kTinyShape);
  REQUIRE(lines_of(glassbox.file("l.csv")).size() == 2);
  CHECK(lines_of(glassbox.file("l.csv")).back().rfind("10,", 0) == 0);
}
