#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "tests/cli/program.h"

using namespace glassbox;

namespace {

// A small model trained a little: M.
struct Trained : Program {
  Trained() { output("train TINY.txt --out M --steps 200 --block-size 16" + kTinyShape); }
};

}  // namespace

TEST_CASE("sample: greedy texts of untrained models are the tutorial's", "[cli][sample]") {
  const Program glassbox;
  put_file(glassbox.folder / "two.txt", "a b\nc d e\n");
  const std::vector<std::string> golden{"e d e d b c a b", "b e e e e e a e", "e", "c a a a"};
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const std::string seed = std::to_string(i + 1), line = golden[i] + '\n';
    glassbox.output("train two.txt --block-size 8 --steps 0 --precision double --out M --seed " +
                    seed + kTinyShape);
    CHECK(glassbox.output("sample M --temp 0 --num-samples 3") == line + line + line);
    CHECK(glassbox.output("sample M --temp 0 --num-samples 1 --seed 99") == line);
    CHECK(glassbox.output("sample M --top-k 1 --num-samples 1 --seed 5") == line);
    CHECK(glassbox.output("sample M --temp 1e-300 --num-samples 1") == line);
    CHECK(glassbox.output("sample M --top-p 1e-300 --num-samples 1") == line);
  }
}

TEST_CASE("sample: a filter that is off changes no byte", "[cli][sample]") {
  const Trained glassbox;
  const std::string plain = glassbox.output("sample M");
  CHECK(lines_of(plain).size() == 20);
  for (const char* const off : {"--top-k 0", "--top-k 47", "--top-k 10000000", "--top-p 1",
                                "--temperature 0.8", "--seed 42", "--threads 3"}) {
    CAPTURE(off);
    CHECK(glassbox.output(std::string("sample M ") + off) == plain);
  }
  CHECK(glassbox.output("sample M --temp 1e300 --num-samples 1").back() == '\n');
}

TEST_CASE(
    "sample: on a terminal control characters of the text are shown, elsewhere they are written",
    "[cli][sample]") {
  const Program glassbox;
  put_file(glassbox.folder / "red.txt", "\033[31mred\n");
  glassbox.output("train red.txt --out M --steps 50" + kTinyShape);
  CHECK(glassbox.output("sample M --temp 0 --num-samples 1") == "\033[31mred\n");
  if (glassbox.shell("script --version").status != 0) {
    WARN("skipped: the terminal, for want of script");
    return;
  }
  const Outcome run =
      glassbox.shell("export G; script -qec '\"$G\" sample M --temp 0 --num-samples 1' log");
  CHECK_THAT(run.out, text_contains("red"));
  CHECK(run.out.find('\033') == std::string::npos);
}

TEST_CASE("sample: a sentence depends on the seed and its number alone", "[cli][sample]") {
  const Trained glassbox;
  const auto twenty = lines_of(glassbox.output("sample M --seed 7"));
  CHECK(twenty == lines_of(glassbox.output("sample M --seed 7")));
  CHECK(twenty != lines_of(glassbox.output("sample M --seed 8")));
  CHECK(twenty[0] == lines_of(glassbox.output("sample M --seed 7 --num-samples 1"))[0]);
  CHECK(std::set<std::string>(twenty.begin(), twenty.end()).size() > 5);
  // With another prompt before it, too.
  put_file(glassbox.folder / "prompts", "we row\nthe lamp\n");
  const auto both = lines_of(glassbox.output("sample M -f prompts --num-samples 4"));
  const auto second = lines_of(glassbox.output("sample M -p 'the lamp' --num-samples 4"));
  REQUIRE(both.size() == 8);
  CHECK(std::vector<std::string>(both.begin() + 4, both.end()) == second);
}

TEST_CASE("sample: the model file is all it needs", "[cli][sample]") {
  const Trained glassbox;
  const std::string before = glassbox.output("sample M --seed 7");
  put_file(glassbox.folder / "TINY.txt", "aardvark\n");
  CHECK(glassbox.output("sample M --seed 7") == before);
}

TEST_CASE("sample: prompts stand at the beginning and are checked before anything is printed",
          "[cli][sample]") {
  const Trained glassbox;
  for (const std::string& line : lines_of(glassbox.output("sample M -p ' The\tLAMP'"))) {
    CHECK(line.rfind("the lamp", 0) == 0);
  }
  const std::string one = glassbox.output("sample M -p 'the lamp' --num-samples 1 --max-tokens 1");
  CHECK(lines_of(one)[0].size() >= 8);
  // A byte order mark, carriage returns, blank lines, a no-break space.
  put_file(glassbox.folder / "prompts", "\xEF\xBB\xBFthe lamp\r\n\r\n \nA Bird\xC2\xA0\n");
  const auto sentences = lines_of(glassbox.output("sample M -f prompts --num-samples 2"));
  REQUIRE(sentences.size() == 4);
  CHECK(sentences[1].rfind("the lamp", 0) == 0);
  CHECK(sentences[2].rfind("a bird", 0) == 0);
  CHECK(lines_of(glassbox.shell("printf 'we row\\n' | \"$G\" sample M -f - --num-samples 1").out)[0]
            .rfind("we row", 0) == 0);

  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const Outcome outcome = glassbox(arguments);
    CAPTURE(arguments, outcome.err);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.empty());
    CHECK(lines_of(outcome.err).size() == 1);
    CHECK_THAT(outcome.err, text_contains(part));
  };
  refused("sample M -p 'the zebraxyz'", "\"zebraxyz\"");
  refused("sample M -p \"$(printf 'the \\377')\"", "UTF-8");
  put_file(glassbox.folder / "prompts", "the lamp\n\nthe zebraxyz\n");
  refused("sample M -f prompts", "prompts: line 3: expected words that the model knows");
  put_file(glassbox.folder / "prompts", " \n");
  refused("sample M -f prompts", "prompts: expected a sentence a line");
  const std::string fifteen = "the the the the the the the the the the the the the the the";
  CHECK(glassbox.output("sample M --num-samples 1 -p '" + fifteen + "'").rfind(fifteen, 0) == 0);
  refused("sample M -p '" + fifteen + " the'", "at most 15 words");
}

TEST_CASE("sample: --max-tokens counts what comes after the prompt", "[cli][sample]") {
  const Trained glassbox;
  for (const std::string& line : lines_of(glassbox.output("sample M -n 2 -p 'the lamp'"))) {
    CHECK(std::count(line.begin(), line.end(), ' ') <= 3);
  }
}

TEST_CASE("sample: --json gives an object a sentence", "[cli][sample]") {
  const Trained glassbox;
  const auto texts = lines_of(glassbox.output("sample M --seed 3"));
  const auto objects = lines_of(glassbox.output("sample M --seed 3 --json"));
  REQUIRE(objects.size() == texts.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    CAPTURE(objects[i]);
    const Json object = Json::parse(objects[i], "sentence");
    CHECK(object.find("text")->string() == texts[i]);
    const std::size_t words =
        texts[i].empty()
            ? 0
            : static_cast<std::size_t>(std::count(texts[i].begin(), texts[i].end(), ' ')) + 1;
    CHECK(object.find("tokens")->array().size() == words);
    CHECK(object.find("logprobs")->array().size() == words);
    for (const Json& logprob : object.find("logprobs")->array()) CHECK(logprob.number() <= 0);
    const std::string reason = object.find("finish_reason")->string();
    CHECK((reason == "stop" || (reason == "length" && words == 16)));
    CHECK(object.find("seed")->integer() == 3);
  }
}

TEST_CASE(
    "sample: an untrained model writes no end mark, nothing longer than its block, and empty lines",
    "[cli][sample]") {
  const Program glassbox;
  put_file(glassbox.folder / "two.txt", "a b\nc d e\n");
  glassbox.output("train two.txt --block-size 8 --steps 0 --out M" + kTinyShape);
  const auto lines = lines_of(glassbox.output("sample M --num-samples 1000"));
  REQUIRE(lines.size() == 1000);
  std::size_t empty = 0;
  for (const std::string& line : lines) {
    REQUIRE(line.size() <= 15);
    REQUIRE(line.find_first_not_of("abcde ") == std::string::npos);
    empty += line.empty() ? 1 : 0;
  }
  CHECK(empty > 0);
}

TEST_CASE("sample: --min-p and the repetition penalty do what their words say", "[cli][sample]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 200 --out m" + kTinyShape);
  const std::string sample = "sample m --num-samples 200 ";
  // Only the likeliest is as likely as the likeliest.
  const std::string greedy = lines_of(glassbox.output("sample m --temp 0 --num-samples 1")).front();
  for (const std::string& line : lines_of(glassbox.output(sample + "--min-p 1")))
    CHECK(line == greedy);
  const std::string plain = glassbox.output(sample);
  CHECK(glassbox.output(sample + "--min-p 0 --repetition-penalty 1 --repeat-last-n 3") == plain);
  const auto repetitions = [&](const std::string& text) {
    std::size_t count = 0;
    for (const std::string& line : lines_of(text)) {
      std::istringstream stream(line);
      std::vector<std::string> words;
      for (std::string word; stream >> word; words.push_back(word))
        count += std::find(words.begin(), words.end(), word) != words.end() ? 1 : 0;
    }
    return count;
  };
  CHECK(repetitions(plain) > 10);
  CHECK(repetitions(glassbox.output(sample + "--repetition-penalty 1e6")) < 3);
  CHECK(repetitions(glassbox.output(sample + "--repetition-penalty 1e-3")) > repetitions(plain));
  for (const char* const wrong : {"--min-p 1.1", "--repetition-penalty 0", "--repeat-last-n -1"})
    CHECK(glassbox(sample + wrong).status == 2);
}

TEST_CASE("sample: --stop ends a sentence before its text and --stream writes the same bytes",
          "[cli][sample]") {
  const Trained glassbox;
  for (const std::string options :
       {"", "-n 40 --temp 1.5", "--stop the --stop ' s'", "--stop zzz -p the", "--stop e -n 30"}) {
    CAPTURE(options);
    const std::string text = glassbox.output("sample M --num-samples 60 " + options);
    CHECK(glassbox.output("sample M --num-samples 60 --stream " + options) == text);
    if (options.starts_with("--stop the")) {
      CHECK(text.find("the") == std::string::npos);
      CHECK(text.find(" s") == std::string::npos);
    }
  }
  const Json cut = Json::parse(
      lines_of(glassbox.output("sample M -p the --num-samples 1 --temp 0 --json"))[0], "json");
  const std::string words = cut.find("text")->string();
  const std::string third = words.substr(words.find(' ', 5));
  const Json stopped =
      Json::parse(lines_of(glassbox.output("sample M -p the --num-samples 1 --temp 0 --json "
                                           "--stop '" +
                                           third + "'"))[0],
                  "json");
  CHECK(stopped.find("text")->string() == words.substr(0, words.find(' ', 5)));
  CHECK(stopped.find("tokens")->array().size() == 2);
  CHECK(stopped.find("logprobs")->array().size() == 2);
  CHECK(stopped.find("finish_reason")->string() == "stop");
}

TEST_CASE("sample: --logprobs names the likeliest tokens of each place", "[cli][sample]") {
  const Trained glassbox;
  const Json sentence = Json::parse(
      lines_of(glassbox.output(
          "sample M -n 30 --num-samples 1 --temp 0 --repetition-penalty 5 --json --logprobs 3"))[0],
      "json");
  const auto& places = sentence.find("top_logprobs")->array();
  REQUIRE(places.size() == sentence.find("tokens")->array().size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& likeliest = places[i].array();
    REQUIRE(likeliest.size() == 3);
    double before = 0;
    for (const Json& one : likeliest) {
      CHECK(one.find("logprob")->number() <= before);
      before = one.find("logprob")->number();
      if (one.find("id")->number() == sentence.find("tokens")->array()[i].number())
        CHECK(before == sentence.find("logprobs")->array()[i].number());
    }
  }
}

TEST_CASE("play: an empty line draws, a number chooses, text is added, and a word is taken back",
          "[cli][play]") {
  const Trained glassbox;
  const auto sentences = [&](const std::string& typed, const std::string& options = "") {
    put_file(glassbox.folder / "typed", typed);
    const Outcome outcome = glassbox("play M --top 4 " + options + " < typed");
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    std::vector<std::string> lines;
    for (const std::string& line : lines_of(outcome.out))
      if (line.find('%') == std::string::npos) lines.push_back(line);
    return lines;
  };
  // Drawing on gives sample's first sentence; :e does it at once.
  for (const std::string options : {"--seed 42", "--seed 7 --temp 1.5 --top-k 20"}) {
    const std::string want = lines_of(glassbox.output("sample M --num-samples 1 " + options))[0];
    CHECK(sentences(":e\n", options).back() == want + " (end)");
    CHECK(sentences("\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", options).back() == want + " (end)");
  }
  const Json likely = Json::parse(glassbox.output("next M the --top 2 --json"), "next");
  const std::string second = likely.find("next")->array()[1].find("word")->string();
  CHECK(sentences("2\n:b\nlamp\n:n\n:q\n\n", "the") ==
        std::vector<std::string>{"the", "the " + second, "the", "the lamp", ""});
  // Greedy from the temperature that was typed.
  const std::string first = likely.find("next")->array()[0].find("word")->string();
  CHECK(sentences(":t 0\n\n", "the").back() == "the " + first);
  CHECK(sentences(":k 1\n\n", "the").back() == "the " + first);
  CHECK(sentences(":p 0\n\n", "the").back() == "the " + first);
  // What is wrong is said, and changes nothing.
  for (const char* const wrong :
       {":x", ":t", ":t hot", ":t -1", ":p 2", ":k 1.5", "99", "zebraxyz"}) {
    CAPTURE(wrong);
    const auto lines = sentences(std::string(wrong) + "\n:n\n", "the");
    REQUIRE(lines.size() == 3);
    CHECK_THAT(lines[1], text_contains("expected"));
  }
}

TEST_CASE("play: in a terminal it shows its keys and asks", "[cli][play]") {
  const Trained glassbox;
  if (glassbox.shell("command -v tmux >/dev/null").status != 0) {
    WARN("passed over: tmux is not installed");
    return;
  }
  const Outcome run = glassbox.shell(
      "T=\"tmux -L glassbox$$\"; $T -f /dev/null new-session -d -x 90 -y 40 \"'$G' play M 'the'\"\n"
      "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; $T capture-pane -p | grep -q '^>' && break; done\n"
      "$T send-keys 1 Enter; sleep 0.5; $T send-keys :b Enter; sleep 0.5; $T capture-pane -p\n"
      "$T send-keys :q Enter; sleep 0.5; $T has-session 2>/dev/null && echo STILL THERE\n"
      "$T kill-server 2>/dev/null; true");
  CHECK_THAT(run.out, text_contains(":b takes a word back"));
  CHECK_THAT(run.out, text_contains("> 1"));
  CHECK_THAT(run.out, text_contains("> :b"));
  CHECK(run.out.find("STILL THERE") == std::string::npos);
}

TEST_CASE("sample: 20,000 first words fit the probabilities that next prints", "[cli][sample]") {
  const Trained glassbox;
  constexpr double kDraws = 20'000;
  std::map<std::string, double> seen;
  for (const std::string& line :
       lines_of(glassbox.output("sample M --temp 1 -n 1 --num-samples 20000")))
    ++seen[line.empty() ? "<bos>" : line];
  const Json next = Json::parse(glassbox.output("next M --top 47 --json"), "next");
  double chi_square = 0, rare = 0, rare_seen = 0;
  int cells = 0;
  for (const Json& one : next.find("next")->array()) {
    const double expected = kDraws * one.find("probability")->number();
    const double count = seen[one.find("word")->string()];
    if (expected < 5) {  // too few to be a cell of its own
      rare += expected;
      rare_seen += count;
      continue;
    }
    chi_square += (count - expected) * (count - expected) / expected;
    ++cells;
  }
  chi_square += (rare_seen - rare) * (rare_seen - rare) / std::max(rare, 1.0);
  REQUIRE(cells > 10);
  // p = 0.001 of chi-square with as many degrees of freedom as cells: Wilson and Hilferty 1931.
  const double z = 3.09, n = cells;
  CHECK(chi_square < n * std::pow(1 - 2 / (9 * n) + z * std::sqrt(2 / (9 * n)), 3));
}
