// Models of all tokenizers, in every command.
#include <filesystem>

#include "base/json.h"
#include "model/model_file.h"
#include "tests/cli/program.h"

using namespace glassbox;

namespace {
const std::string kText =
    "\"Hello,\" said the fox (a big one).\n"
    "  Don't go!   It's 3.50 here.\n"
    "\n"
    "Größe: 猫 and 🐈, he said - \"go!\"\n";
}  // namespace

TEST_CASE("tokenizers: every command reads a model of each", "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "T.txt", kText);
  for (const std::string tokenizer : {"word-punct", "char", "bpe"}) {
    CAPTURE(tokenizer);
    glassbox.output("train T.txt --steps 30 --block-size 60 --val T.txt --out m --tokenizer " +
                    tokenizer + kTinyShape);
    const Model<float> model = read_model_as<float>(glassbox.folder / "m");
    CHECK(model.tokenizer.kind().name == tokenizer);
    CHECK_THAT(glassbox.output("eval m T.txt"), text_contains("perplexity"));
    CHECK(lines_of(glassbox.output("sample m --num-samples 5 -p 'he said'")).size() >= 5);
    CHECK(Json::parse(lines_of(glassbox.output("sample m --num-samples 1 --json --seed 3"))[0], "j")
              .find("text"));
    CHECK(!glassbox.output("next m 'the fox'").empty());
    CHECK(!glassbox.output("inspect gradients m 'the fox'").empty());
    CHECK_THAT(glassbox.output("inspect gradcheck m 'the fox' --sample 20"), text_contains("ok"));
    glassbox.output("report m --out r.html");
    glassbox.output("finetune m T.txt --steps 3 --retain T.txt --out f.safetensors");
    glassbox.output("train T.txt --steps 30 --block-size 60 --save-every 15 --out n --tokenizer " +
                    tokenizer + kTinyShape);
    const std::string whole = glassbox.file("n");
    glassbox.output("train T.txt --out n --resume n.step-00000015.safetensors");
    CHECK(glassbox.file("n") == whole);
  }
}

TEST_CASE("tokenizers: a model of bpe takes any bytes in a prompt and in a text", "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "T.txt", kText);
  glassbox.output("train T.txt --tokenizer bpe --steps 5 --block-size 60 --out m" + kTinyShape);
  CHECK(glassbox.output("sample m --num-samples 1 -n 1 -p \"$(printf '\\377\\200 \\t\\001X')\"")
            .starts_with("\xFF\x80 \t\x01X"));
  put_file(glassbox.folder / "bytes.txt", "a\xFF\x80 b\n");
  CHECK_THAT(glassbox.output("eval m bytes.txt"), text_contains("tokens 6"));
  for (const char* option : {"--unk", "--extend-vocab"}) {
    const Outcome outcome = glassbox("finetune m T.txt --steps 1 " + std::string(option));
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, text_contains("bpe, which knows all text"));
  }
}

TEST_CASE("tokenizers: rare words become <unk>, and so does a word of a prompt", "[cli]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --vocab-size 10 --steps 5 --out m" + kTinyShape);
  const Model<float> model = read_model_as<float>(glassbox.folder / "m");
  CHECK(model.tokenizer.size() == 12);  // <unk> and BOS beside the ten
  CHECK(glassbox.output("sample m --num-samples 1 -n 1 -p zebraxyz").starts_with("<unk>"));
}

TEST_CASE("tokenize: ids, pieces, totals and the way back", "[cli]") {
  const Program glassbox;
  glassbox.output("train TINY.txt --steps 0 --out m" + kTinyShape);
  const Model<float> model = read_model_as<float>(glassbox.folder / "m");
  const std::string the = std::to_string(model.tokenizer.find("the"));
  CHECK(glassbox.output("tokenize m - <<'E'\n The\tlamp\n\nthe\nE").starts_with(the + ' '));
  put_file(glassbox.folder / "T.txt", " The  LAMP\n\nthe");
  const std::string ids = glassbox.output("tokenize m T.txt");
  CHECK(lines_of(ids).size() == 3);
  CHECK(lines_of(ids)[1].empty());
  CHECK(glassbox.output("tokenize m T.txt --pieces") == "\"the\" \"lamp\"\n\n\"the\"\n");
  CHECK(glassbox.output("tokenize m T.txt | \"$G\" tokenize m --decode") == "the lamp\n\nthe\n");
  CHECK(glassbox.output("tokenize m T.txt --count") ==
        "lines 3\ntokens 3\ncharacters 13\ncharacters a token 4.333333333333333\n");
  const auto refused = [&](const std::string& arguments) {
    const Outcome outcome = glassbox("tokenize " + arguments);
    CHECK(outcome.status != 0);
    CHECK(lines_of(outcome.err).size() == 1);
    return outcome.err;
  };
  put_file(glassbox.folder / "N.txt", "the\nzebraxyz\n");
  CHECK_THAT(refused("m N.txt"), text_contains("N.txt: line 2: expected words that the model"));
  put_file(glassbox.folder / "I.txt", "0\n0 47\n");
  CHECK_THAT(refused("m I.txt --decode"),
             text_contains("I.txt: line 2: expected ids from 0 to 46, found \"47\""));
  CHECK_THAT(refused("m N.txt --decode"), text_contains("found \"the\""));
  CHECK_THAT(refused("m --export t.json"), text_contains("found the tokenizer word"));
  CHECK_THAT(refused("m T.txt --export t.json"), text_contains("--export"));
  CHECK_THAT(refused("missing"), text_contains("missing: can't be read"));
}

TEST_CASE("tokenize: with bpe any bytes come back exactly", "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "T.txt", kText);
  glassbox.output("train T.txt --tokenizer bpe --steps 0 --out m" + kTinyShape);
  std::string bytes = "\xEF\xBB\xBF the\r\n\n\t \r";
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (const std::string end : {"", "\n", "\n\n"}) {
    put_file(glassbox.folder / "B", bytes + end);
    glassbox.output("tokenize m B > ids; \"$G\" tokenize m ids --decode > back");
    CHECK(glassbox.file("back") == bytes + end);
    CHECK(glassbox.output("tokenize m < B") == glassbox.file("ids"));
  }
}

TEST_CASE("tokenize: --export and train --tokenizer-file carry a vocabulary over", "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "T.txt", kText);
  glassbox.output("train T.txt --tokenizer bpe --vocab-size 270 --steps 0 --out m" + kTinyShape);
  glassbox.output("tokenize m --export t.json");
  CHECK(glassbox.output("tokenize m T.txt") == glassbox.output("tokenize t.json T.txt"));
  glassbox.output("train TINY.txt --tokenizer-file t.json --steps 4 --save-every 2 --out n" +
                  kTinyShape);
  CHECK(read_model_as<float>(glassbox.folder / "n").tokenizer.words() ==
        read_model_as<float>(glassbox.folder / "m").tokenizer.words());
  const std::string whole = glassbox.file("n");
  glassbox.output("train TINY.txt --resume n.step-00000002.safetensors --out n");
  CHECK(glassbox.file("n") == whole);
}

TEST_CASE("splits: a model remembers how its text was cut, and a resumed run goes on so", "[cli]") {
  const Program glassbox;
  put_file(glassbox.folder / "T.txt", "Mr. Fox ran. He\nhid! Nobody saw him. Or so they say.\n");
  for (const std::string split : {"sentence", "window"}) {
    CAPTURE(split);
    const bool is_window = split == "window";
    for (const std::string tokenizer : {"word-punct", "bpe"}) {
      const std::string options = "--block-size 8 --steps 10 --tokenizer " + tokenizer +
                                  " --split " + split + " --val T.txt" + kTinyShape;
      const Outcome trained = glassbox("train T.txt --save-every 5 --out m " + options);
      CHECK(trained.status == 0);
      CHECK_THAT(trained.err, text_contains(is_window ? " windows, " : ": 4 sentences, "));
      const std::string whole = glassbox.file("m");
      glassbox.output("train T.txt --out m --resume m.step-00000005.safetensors --val T.txt");
      CHECK(glassbox.file("m") == whole);
      CHECK(name_of(read_model_as<float>(glassbox.folder / "m").tokenizer.reading().split) ==
            split);
      const Outcome other = glassbox(
          "train T.txt --out m --resume m.step-00000005.safetensors --val T.txt --split line");
      CHECK(other.status == 2);
      CHECK_THAT(other.err, text_contains("--split"));
      // Measured on the same sequences as while it trained.
      const auto tokens = Json::parse(glassbox.output("eval m T.txt --json"), "eval");
      CHECK_THAT(trained.err,
                 text_contains(std::to_string(tokens.find("tokens")->integer()) + " tokens"));
      glassbox.output("finetune m T.txt --steps 2 --out f");
      CHECK(name_of(read_model_as<float>(glassbox.folder / "f").tokenizer.reading().split) ==
            split);
      glassbox.output("finetune m T.txt --steps 2 --split line --out f");
      CHECK(read_model_as<float>(glassbox.folder / "f").tokenizer.reading().split == Split::line);
      glassbox.output("report m --out r.html");
    }
  }
}

TEST_CASE("texts: several files, standard input and a folder are trained alike", "[cli]") {
  const Program glassbox;
  const auto lines = lines_of(glassbox.file("TINY.txt"));
  std::string a, b;
  for (std::size_t i = 0; i < lines.size(); ++i) (i < 10 ? a : b) += lines[i] + '\n';
  std::filesystem::create_directory(glassbox.folder / "d");
  put_file(glassbox.folder / "d/a.txt", a);
  put_file(glassbox.folder / "d/b.txt", b);
  const std::string options = " --steps 5 --out m" + kTinyShape;
  glassbox.output("train TINY.txt" + options);
  const std::string model = glassbox.file("m");
  for (const std::string corpus : {"d/a.txt d/b.txt", "- < TINY.txt", "d", "d/a.txt - < d/b.txt"}) {
    CAPTURE(corpus);
    glassbox.output("train " + corpus + options);
    CHECK(glassbox.file("m") == model);
  }
  put_file(glassbox.folder / "d/c.txt", "\nthe zebraxyz\n");
  CHECK_THAT(glassbox("finetune m d --steps 1").err,
             text_contains("\"zebraxyz\" (d/c.txt: line 2)"));
}

TEST_CASE("advice: where a choice is bad for the text, one line says what to type", "[cli]") {
  const Program glassbox;
  const auto advice = [&](const std::string& text, const std::string& options) {
    put_file(glassbox.folder / "T.txt", text);
    return glassbox("train T.txt --steps 1 --out m " + options + kTinyShape).err;
  };
  std::string rare, line, longer;
  for (int i = 0; i < 400; ++i) rare += "w" + std::to_string(i) + (i % 8 == 7 ? "\n" : " ");
  for (int i = 0; i < 100; ++i) line += "the cat ";
  for (int i = 0; i < 40; ++i) longer += "a b c d e f g h i j k l m n o p q r s t\n";
  CHECK_THAT(advice(rare, ""), text_contains("the vocabulary has 401 tokens for 400 of the text") &&
                                   text_contains("--tokenizer bpe --block-size 32"));
  CHECK_THAT(advice(line, ""),
             text_contains("the text is one line") && text_contains("--split window"));
  CHECK_THAT(advice(longer, ""), text_contains("100% of the lines are longer than the block") &&
                                     text_contains("--block-size 32 holds"));
  for (const std::string& fine :
       {advice(rare, "--tokenizer bpe --block-size 32"), advice(line, "--split window"),
        advice(longer, "--block-size 32"), advice("a b\nc d\n", "")})
    CHECK_THAT(fine, !text_contains("--split window") && !text_contains("--tokenizer bpe"));
}
