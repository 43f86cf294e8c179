// Options from a file. That every option can stand in one is in obedience_test.cc.
#include "tests/cli/program.h"

using namespace glassbox;

TEST_CASE("config: what is typed wins, and the rest of the file holds", "[cli][config]") {
  const Program glassbox;
  put_file(glassbox.folder / "run.cfg",
           "# a small run\r\n\r\n  n_layer=1\r\nn-embd = 8\nn_head = \"2\"\nsteps = "
           "9\nunknown-model = 1\n");
  const Outcome outcome = glassbox("train TINY.txt --config run.cfg");
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err,
             text_contains("run.cfg: line 7: unknown-model: train has no such option"));
  put_file(glassbox.folder / "run.cfg", "n_layer=1\nn-embd = 8\nn_head = \"2\"\nsteps = 9\n");
  glassbox.output("train TINY.txt --config run.cfg --steps 5 --out a");
  glassbox.output("train TINY.txt --n-layer 1 --n-embd 8 --n-head 2 --steps 5 --out b");
  CHECK(glassbox.file("a") == glassbox.file("b"));
  put_file(glassbox.folder / "run.json",
           "{\"n_layer\": 1, \"n_embd\": 8,\n \"n_head\": 2, \"lr\": 0.01, \"steps\": 5,"
           " \"no_lowercase\": false}");
  glassbox.output("train TINY.txt --config run.json --out c");
  CHECK(glassbox.file("c") == glassbox.file("b"));
}

TEST_CASE("config: a resumed run takes what its file says as typed", "[cli][config]") {
  const Program glassbox;
  put_file(glassbox.folder / "run.cfg",
           "n_layer=1\nn-embd = 8\nn_head = 2\nsteps = 9\nsave-every=3\n");
  glassbox.output("train TINY.txt --config run.cfg --out a");
  glassbox.output("train TINY.txt --config run.cfg --out b --resume a.step-00000003.safetensors");
  CHECK(glassbox.file("a") == glassbox.file("b"));
  put_file(glassbox.folder / "run.cfg", "steps = 10\n");
  const Outcome other =
      glassbox("train TINY.txt --config run.cfg --out b --resume a.step-00000003.safetensors");
  CHECK(other.status == 2);
  CHECK_THAT(other.err, text_contains("run.cfg: line 1: steps: expected 9"));
}

TEST_CASE("config: what is wrong is refused in one line, with its place", "[cli][config]") {
  const Program glassbox;
  for (const auto& [text, status, part] : std::vector<std::tuple<std::string, int, std::string>>{
           {"stpes = 3", 2,
            "run.cfg: line 1: stpes: train has no such option; did you mean steps?"},
           {"\n\nsteps 3", 2,
            "run.cfg: line 3: expected a line like steps = 5000, found \"steps 3\""},
           {"= 3", 2, "line 1: expected a line like"},
           {"steps = 3x2", 2, "line 1: steps: expected a whole number of at least 0, found '3x2'"},
           {"no-lowercase = yes", 2, "no-lowercase: expected true or false, found 'yes'"},
           {"n_layer = 1\nn-layer = 2", 2, "line 2: n-layer: expected each option once"},
           {"config = more.cfg", 2, "line 1: config: expected an option of the work"},
           {"help = true", 2, "expected an option of the work"},
           {"momentum = 0.9", 2, "run.cfg: line 1: momentum: expected another --optimizer"},
           {"log-every = 2", 2, "line 1: log-every: expected --log-file as well"},
           {"{\"steps\": 3,\n \"n_lyer\": 2}", 2, "line 2: n_lyer: train has no such option"},
           {"{\"steps\": [3]}", 2, "line 1: steps: expected a text, a number, true or false"},
           {"{\"steps\": 3", 1, "run.cfg"}}) {
    CAPTURE(text);
    put_file(glassbox.folder / "run.cfg", text);
    const Outcome outcome = glassbox("train TINY.txt --config run.cfg");
    CHECK(outcome.status == status);
    CHECK(outcome.out.empty());
    CHECK(lines_of(outcome.err).size() == 1);
    CHECK_THAT(outcome.err, text_contains(part));
  }
  put_file(glassbox.folder / "run.cfg", "out = ./run.cfg");
  const Outcome same = glassbox("train TINY.txt --config run.cfg");
  CHECK(same.status == 2);
  CHECK_THAT(same.err, text_contains("--out: expected another file than --config"));
  CHECK_THAT(glassbox("train TINY.txt --config missing.cfg").err, text_contains("missing.cfg"));
}
