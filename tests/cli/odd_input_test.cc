// Files, names and words as nobody should give them: each is refused in one short line, or read.
#include <filesystem>

#include "base/utf8.h"
#include "tests/cli/program.h"

using namespace glassbox;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void train(const Program& glassbox, const std::string& text = "TINY.txt",
           const std::string& more = "") {
  glassbox.output("train " + text + " --out M --steps 5 " + more + kTinyShape);
}

Outcome refused(const Program& glassbox, const std::string& arguments, int status) {
  const Outcome outcome = glassbox(arguments);
  CAPTURE(arguments, outcome.err.substr(0, 1000));
  CHECK(outcome.status == status);
  CHECK(outcome.out.empty());
  CHECK(lines_of(outcome.err).size() == 1);
  CHECK(outcome.err.size() < 500);
  return outcome;
}

}  // namespace

TEST_CASE("odd input: a huge file of another kind is refused at its head", "[cli]") {
  const Program glassbox;
  train(glassbox);
  put_file(glassbox.folder / "HUGE", "");
  std::filesystem::resize_file(glassbox.folder / "HUGE", 100'000'000'000);
  for (const char* const line :
       {"train HUGE", "sample HUGE", "sample M -f HUGE", "sample M -f - < HUGE", "eval M HUGE",
        "eval HUGE TINY.txt", "finetune HUGE TINY.txt", "finetune M HUGE", "report HUGE",
        "report M --log-file HUGE", "report M --sentences HUGE", "plot HUGE --ascii",
        "inspect params HUGE", "finetune M TINY.txt --retain HUGE"})
    refused(glassbox, line, 1);
  // A pipe has no size, and its end may never come.
  for (const char* const line : {"train P", "sample P", "report P", "plot P --ascii"}) {
    const Outcome piped = glassbox.shell(
        std::string("rm -f P; mkfifo P; (exec 2>&-; cat HUGE > P) & timeout 20 \"$G\" ") + line);
    CAPTURE(line, piped.err);
    CHECK(piped.status == 1);
  }
}

TEST_CASE("odd input: a message quotes the beginning of a long text and lists a handful", "[cli]") {
  const Program glassbox;
  train(glassbox);
  glassbox.shell(
      "printf '%0100000d' 0 | tr 0 x > LONG; seq 200000 > MANY; (cat LONG; printf =1) > NUMBER");
  put_file(glassbox.folder / "RUN.csv", "step,loss\n1,2\n");
  const std::string word = "\"$(cat LONG)\"";
  for (const std::string& line :
       std::vector<std::string>{"sample M -p " + word,
                                "next M " + word,
                                "eval M LONG",
                                "eval M MANY",
                                "finetune M MANY",
                                "finetune M LONG",
                                "sample M -f MANY",
                                "inspect trace M " + word,
                                "inspect neighbours M " + word,
                                "inspect trace M the --word " + word,
                                "inspect attention M " + word,
                                "inspect value M the " + word,
                                "inspect value M the 'logits@0['" + word + "']'",
                                "inspect params M " + word,
                                "inspect params M " + word + "'[0]'",
                                "inspect graph M the --around " + word,
                                "inspect gradients M the " + word,
                                "inspect graph --expr " + word + "x",
                                "inspect graph --expr x" + word,
                                "inspect graph --expr 'a*b' \"$(cat NUMBER)\"",
                                "report M --sentences LONG",
                                "train " + word,
                                "train TINY.txt --out " + word,
                                "sample " + word})
    refused(glassbox, line, 1);
  for (const std::string& line : std::vector<std::string>{
           word, "help " + word, "man " + word, "completion " + word, "sample M --" + word,
           "sample M --top-p " + word, "sample M --top-k " + word, "inspect " + word,
           "inspect attention M the --color " + word, "sample M " + word,
           "train TINY.txt --no-lowercase=" + word, "inspect graph --expr a " + word,
           "plot RUN.csv --out x." + word, "plot RUN.csv --ascii --vocab-size 3 --column " + word,
           "finetune M TINY.txt --freeze " + word})
    refused(glassbox, line, 2);
  refused(glassbox, "plot RUN.csv --ascii --column " + word, 1);
  CHECK(refused(glassbox, "eval M MANY", 1).err.find("found \"1\"; ") != std::string::npos);
  CHECK_THAT(refused(glassbox, "finetune M MANY", 1).err, text_contains("and 199995 more"));
  put_file(glassbox.folder / "RUSSIAN", std::string(100, 'x') + std::string("ы"));
  const Outcome half =
      refused(glassbox, "sample M -p \"$(for i in $(seq 99); do printf ы; done)\"", 1);
  CHECK(find_invalid_utf8(half.err) == kValidUtf8);
  CHECK_THAT(half.err, text_contains("ыыы...\""));
}

TEST_CASE("odd input: an empty operand is named, an empty sentence is one", "[cli]") {
  const Program glassbox;
  train(glassbox);
  for (const auto& [line, name] : Pairs{{"sample ''", "MODEL"},
                                        {"train ''", "CORPUS"},
                                        {"eval M ''", "TEXT"},
                                        {"finetune '' TINY.txt", "MODEL"},
                                        {"inspect value M the ''", "NAME"},
                                        {"inspect params M ''", "[NAME]"},
                                        {"inspect gradients M the ''", "[NAME]"},
                                        {"inspect neighbours M ''", "WORD"},
                                        {"inspect graph '' the", "[MODEL]"},
                                        {"plot '' --ascii", "LOG..."},
                                        {"report ''", "MODEL"},
                                        {"help ''", "[COMMAND]"}})
    CHECK_THAT(refused(glassbox, line, 2).err,
               text_contains("expected " + name) && text_contains("found an empty text"));
  for (const char* const line :
       {"inspect graph M the --around ''", "inspect graph --expr ''",
        "inspect trace M the --word ''", "plot RUN.csv --ascii --column ''"})
    CHECK_THAT(refused(glassbox, line, 2).err, text_contains("expected a text, found ''"));
  for (const char* const line :
       {"next M ''", "inspect gradients M ''", "inspect gradcheck M '' --sample 5",
        "inspect value M '' loss", "inspect graph M ''", "inspect attention M ''",
        "inspect trace M ''", "inspect cache M ''", "sample M -p ''"}) {
    CAPTURE(line);
    CHECK_FALSE(glassbox.output(line).empty());
  }
  refused(glassbox, "inspect graph --expr 2*3 ''", 2);
}

TEST_CASE("odd input: a refused word is said to be where it is", "[cli]") {
  const Program glassbox;
  train(glassbox);
  put_file(glassbox.folder / "S.txt", "the lamp\n\nthe zebra\n");
  glassbox.shell("for i in $(seq 20); do printf 'the '; done > LONG.txt");
  for (const auto& [line, where] :
       Pairs{{"next M zebra", "TEXT: expected words"},
             {"inspect trace M zebra", "sentence: expected words"},
             {"inspect graph M zebra", "sentence: expected words"},
             {"sample M -p zebra", "--prompt: expected words"},
             {"sample M -f S.txt", "S.txt: line 3: expected words"},
             {"eval M S.txt", "S.txt: line 3: expected words"},
             {"report M --sentences S.txt", "S.txt: line 3: expected words"},
             {"report M --sentences LONG.txt",
              "LONG.txt: line 1: expected at most 15 words, found 20"}})
    CHECK_THAT(refused(glassbox, line, 1).err, text_contains("glassbox: " + where));
  CHECK_THAT(refused(glassbox, "--version x", 2).err, text_contains("found 'x'"));
}

TEST_CASE("odd input: only a near name is suggested", "[cli]") {
  const Program glassbox;
  for (const char* const line : {"inspect nope", "inspect x", "help inspct", "nope"})
    CHECK_THAT(refused(glassbox, line, 2).err, !text_contains("did you mean"));
  CHECK_THAT(refused(glassbox, "inspect valeu", 2).err,
             text_contains("did you mean inspect value?"));
}

TEST_CASE("odd input: a name's ending promises a format, which is kept or refused", "[cli]") {
  const Program glassbox;
  train(glassbox);
  put_file(glassbox.folder / "RUN.csv", "step,loss\n1,2\n");
  for (const char* const line :
       {"plot RUN.csv --out p.png", "plot RUN.csv --out p.SVGZ", "report M --out r.pdf",
        "inspect attention M the --svg a.png", "inspect graph M the --out g.png",
        "inspect graph M the --format svg --out g.pdf", "inspect graph M the --tape --out g.svg"})
    CHECK_THAT(refused(glassbox, line, 2).err, text_contains("expected a name that ends in ."));
  for (const char* const line :
       {"plot RUN.csv --out p.svg", "plot RUN.csv --out plain", "report M --out r.html",
        "inspect attention M the --svg a.svg", "inspect graph M the --out g.gv",
        "inspect graph M the --tape --out tape.txt",
        "inspect graph M the --format dot --out h.dot"}) {
    const Outcome outcome = glassbox(line);
    CAPTURE(line, outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.empty());
    CHECK_THAT(
        outcome.err,
        text_contains("wrote " + std::string(line).substr(std::string(line).rfind(' ') + 1)));
  }
  CHECK_THAT(glassbox.file("tape.txt"), text_contains("token_embedding"));
}

TEST_CASE("odd input: every output file is written through a symbolic link", "[cli]") {
  const Program glassbox;
  namespace fs = std::filesystem;
  train(glassbox);
  put_file(glassbox.folder / "RUN.csv", "step,loss\n1,2\n");
  fs::create_directory(glassbox.folder / "real");
  for (const auto& [name, line] :
       Pairs{{"l.safetensors", "train TINY.txt --steps 1" + kTinyShape + "--out"},
             {"f.safetensors", "finetune M TINY.txt --steps 1 --out"},
             {"l.csv", "train TINY.txt --steps 1" + kTinyShape + "--out m --log-file"},
             {"p.svg", "plot RUN.csv --out"},
             {"r.html", "report M --out"},
             {"a.svg", "inspect attention M the --svg"},
             {"g.dot", "inspect graph M the --out"}}) {
    fs::create_symlink("real/" + name, glassbox.folder / name);
    for (int time = 0; time < 2; ++time) {  // the file that the link names is new, then it is there
      CAPTURE(name, time);
      glassbox.output(line + " " + name);
      CHECK(fs::is_symlink(glassbox.folder / name));
      CHECK_FALSE(glassbox.file("real/" + name).empty());
    }
  }
}

TEST_CASE("odd input: a text is not lost that has the name of an output's temporary file",
          "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "real.tmp", "a b\n");
  std::filesystem::create_symlink("real", glassbox.folder / "link");
  CHECK_THAT(refused(glassbox, "train real.tmp --out link", 2).err,
             text_contains("expected another file than CORPUS"));
  CHECK(glassbox.file("real.tmp") == "a b\n");
}

TEST_CASE("odd input: a log is read as a spreadsheet or another system saves it", "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "RUN.csv", "step,loss,lr\n1,2.5,0.1\n2,2.25,0.05\n");
  const std::string plain = glassbox.output("plot RUN.csv --ascii");
  for (const char* const text :
       {"\uFEFFstep,loss,lr\n1,2.5,0.1\n2,2.25,0.05\n",
        "step,loss,lr\r\n1,2.5,0.1\r\n2,2.25,0.05\r\n", "step,loss,lr\r1,2.5,0.1\r2,2.25,0.05\r",
        "\uFEFFstep,loss,lr\r\n1,2.5,0.1\r\n2,2.25,0.05",
        "\uFEFF{\"step\":1,\"loss\":2.5}\r\n{\"step\":2,\"loss\":2.25}\r\n"}) {
    CAPTURE(text);
    put_file(glassbox.folder / "RUN.csv", text);
    CHECK(glassbox.output("plot RUN.csv --ascii") == plain);
  }
}

TEST_CASE("odd input: columns are even whatever letters the words have", "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "T.txt",
           "猫 кот e\u0301te\u0301 😀 고양이 a\u200bb internationalisation\n");
  train(glassbox, "T.txt");
  // Of each line the columns up to its last word, which is a number.
  const auto ends = [](const std::string& text) {
    std::vector<std::size_t> columns;
    for (const std::string& line : lines_of(text)) columns.push_back(display_width(line));
    return columns;
  };
  const auto next = lines_of(glassbox.output("next M --top 8"));
  REQUIRE(next.size() == 8);
  for (const std::string& line : next) {
    CAPTURE(line);
    CHECK(display_width(line.substr(0, line.find('%'))) ==
          display_width(next[0].substr(0, next[0].find('%'))));
  }
  const std::string sentence = "'猫 кот e\u0301te\u0301 😀 고양이 a\u200bb internationalisation'";
  const auto heat = lines_of(glassbox.output("inspect attention M " + sentence + " --head 0"));
  REQUIRE(heat.size() > 8);
  const std::size_t header = ends(heat[0])[0];
  CHECK(ends(heat[8])[0] <= header + 1);  // a mark may follow the number
  CHECK(ends(heat[8])[0] >= header);
  const auto losses = lines_of(glassbox.output("inspect gradients M " + sentence));
  for (std::size_t i = 1; i <= 8; ++i) {
    CAPTURE(losses[i]);
    CHECK(display_width(losses[i]) == display_width(losses[0]));
  }
}

TEST_CASE("odd input: a word of any length leaves tables and pictures that can be read", "[cli]") {
  const Program glassbox;
  glassbox.shell("(printf '%0100000d' 0 | tr 0 x; echo ' a b') > T.txt");
  train(glassbox, "T.txt");
  const std::string sentence = " M \"$(cat T.txt)\" ";
  for (const std::string& line : std::vector<std::string>{
           "next M", "inspect neighbours M a", "inspect gradients" + sentence,
           "inspect value" + sentence + "loss@0", "inspect value" + sentence + "loss@0 --expand",
           "inspect trace" + sentence, "inspect attention" + sentence, "inspect cache" + sentence,
           "inspect graph" + sentence + "--around loss@0",
           "inspect graph" + sentence + "--around loss@0 --format svg"})
    for (const std::string& shown : lines_of(glassbox.output(line))) {
      CAPTURE(line, shown.substr(0, 100));
      CHECK(shown.size() < 1000);
    }
}

TEST_CASE("odd input: a character model's blanks and marks can be seen, and are no words",
          "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "T.txt", "a b\na b\ne\u0301\u200b\n");
  train(glassbox, "T.txt", "--tokenizer char");
  const Outcome cut =
      glassbox("train TINY.txt --tokenizer char --block-size 2 --steps 1 --out S" + kTinyShape);
  CHECK_THAT(cut.err, text_contains("cut 32 lines of more than 1 character, the first is line 1") &&
                          text_contains(" characters; vocabulary of "));
  const std::string next = glassbox.output("next M a");
  CHECK_THAT(next, text_contains("\" \" "));
  CHECK_THAT(next, text_contains("\\u0301 "));
  CHECK_THAT(next, text_contains("\\u200b "));
  CHECK_THAT(glassbox.output("inspect gradients M 'a b'"), text_contains("  \" \"  "));
  const std::string long_text = "'" + std::string(40, 'a') + "'";
  for (const std::string& line : std::vector<std::string>{
           "sample M -p x", "sample M -p " + long_text, "next M " + long_text, "eval M TINY.txt",
           "inspect trace M " + long_text, "finetune M TINY.txt"})
    CHECK_THAT(refused(glassbox, line, 1).err,
               text_contains("character") && !text_contains("words"));
  CHECK_THAT(refused(glassbox, "inspect neighbours M ab", 1).err,
             text_contains("expected a character that the model knows"));
  CHECK_THAT(glassbox.output("inspect trace M a --word '\" \"'"), text_contains("logit of \" \""));
  glassbox.output("report M");
  CHECK_THAT(glassbox.file("report.html"),
             text_contains("The characters in the plane") && text_contains("Find a character") &&
                 text_contains("15 characters") && !text_contains("{unit}") &&
                 text_contains("\"tokens\":[") && text_contains("\"\\\" \\\"\""));
}

TEST_CASE("odd input: words that are spelled like special tokens are told apart", "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "T.txt", "<bos> a\n<unk> <bos>\n");
  train(glassbox, "T.txt");
  const std::string next = glassbox.output("next M --json");
  CHECK_THAT(next, text_contains("\"<bos>\"") && text_contains("\"<<bos>>\"") &&
                       text_contains("\"<unk>\""));
  const auto value = [&](const std::string& name) {
    return glassbox.output("inspect value M 'a' 'logits@0[" + name + "]'");
  };
  const std::string word = value("<bos>"), end = value("<<bos>>");
  CHECK(lines_of(word)[1] != lines_of(end)[1]);
  CHECK(lines_of(word)[1] == lines_of(value("0"))[1]);
  CHECK_THAT(glassbox.output("inspect trace M a --word '<<bos>>'"),
             text_contains("logit of <<bos>>"));
  CHECK_THAT(glassbox.output("inspect gradients M '<bos>'"), text_contains("<<bos>>"));
}

TEST_CASE("odd input: a word is looked up in any case where the model folds case", "[cli]") {
  const Program glassbox;
  train(glassbox);
  for (const auto& [folded, typed] :
       Pairs{{"inspect trace M the --word lamp", "inspect trace M THE --word Lamp"},
             {"inspect neighbours M lamp", "inspect neighbours M LAMP"},
             {"next M the", "next M The"}})
    CHECK(glassbox.output(folded) == glassbox.output(typed));
  CHECK(lines_of(glassbox.output("inspect value M the 'logits@1[lamp]'"))[1] ==
        lines_of(glassbox.output("inspect value M The 'logits@1[Lamp]'"))[1]);
}

TEST_CASE("odd input: the log of another run is told", "[cli]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --out M --steps 20 --log-file M.jsonl" + kTinyShape);
  glassbox.output("train TINY.txt --out N --steps 30 --log-file N.csv" + kTinyShape);
  glassbox.output("train TINY.txt --out O --steps 20 --lr 0.02 --log-file O.csv --log-every 3" +
                  kTinyShape);
  glassbox.output("train TINY.txt --out Q --steps 20 --lr 0.02 --log-file Q.csv" + kTinyShape);
  const auto said = [&](const std::string& line) {
    const Outcome outcome = glassbox("report " + line);
    CHECK(outcome.status == 0);
    return outcome.err;
  };
  CHECK(said("M --log-file M.jsonl") == "wrote report.html\n");
  CHECK(said("O --log-file O.csv") == "wrote report.html\n");
  CHECK_THAT(said("M --log-file N.csv"),
             text_contains("warning: N.csv: its last step is 30, the model was trained for 20"));
  CHECK_THAT(said("N --log-file M.jsonl"), text_contains("warning: M.jsonl: its last step is 20"));
  glassbox.shell("seq -s ' ' 2000 | tr ' ' '\\n' > NUMBERS.txt");
  glassbox.output("train NUMBERS.txt --out V --steps 20 --log-file V.csv" + kTinyShape);
  CHECK(said("V --log-file V.csv") == "wrote report.html\n");
  CHECK_THAT(said("M --log-file V.csv"),
             text_contains("an untrained model of 47 tokens begins near 3.85"));
  CHECK_THAT(said("M --log-file Q.csv"),
             text_contains("its first learning rate is 0.02, the model's 0.01"));
}

TEST_CASE("odd input: an option that would change nothing is refused", "[cli]") {
  const Program glassbox;
  train(glassbox);
  put_file(glassbox.folder / "RUN.csv", "step,loss,lr\n1,2,3\n");
  for (const char* const line :
       {"inspect gradients M the output --nudge 0.1", "inspect gradients M the --csv --nudge 0.1",
        "inspect gradients M the output --top 3", "inspect gradients M the --csv --top 3",
        "inspect params M output --top 3", "inspect params M --csv --top 3",
        "inspect graph M the --depth 2", "inspect graph M the --width 2",
        "inspect graph M the --tape --format svg", "inspect attention M the --json --color always",
        "inspect attention M the --svg a.svg --color always",
        "plot RUN.csv --out p.svg --columns 60", "inspect gradcheck M the --seed 7",
        "plot RUN.csv --ascii --column lr --vocab-size 9"})
    refused(glassbox, line, 2);
  CHECK_THAT(refused(glassbox, "inspect gradients M the output --nudge 0.1", 2).err,
             text_contains("--nudge: expected no NAME beside it"));
  CHECK_THAT(glassbox.output("help plot"), text_contains("only with --ascii"));
}
