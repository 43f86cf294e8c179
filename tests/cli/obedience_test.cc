// Options that were once taken and not obeyed.
#include "tests/cli/program.h"

using namespace glassbox;

namespace {

// m.safetensors, a small model.
void train(const Program& glassbox) {
  glassbox.output("train TINY.txt --steps 20 --out m.safetensors" + kTinyShape);
}

}  // namespace

TEST_CASE("obedience: eval has the same bits for every batch size and thread", "[cli]") {
  const Program glassbox;
  train(glassbox);
  const std::string plain = glassbox.output("eval m.safetensors TINY.txt --json --per-line");
  for (const char* more : {"--threads 1", "--threads 3", "--batch-size 5 --threads 2",
                           "--batch-size 1000", "--batch-size 31 --threads 7"})
    CHECK(glassbox.output("eval m.safetensors TINY.txt --json --per-line " + std::string(more)) ==
          plain);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("obedience: eval starts the threads asked for, and no more than batches", "[cli]") {
  const Program glassbox;
  train(glassbox);
  // 32 threads with stacks of 64 MB do not fit into 1 GB of addresses; one does.
  const std::string limited = "ulimit -s 65536 && ulimit -v 1000000 && \"$G\" eval m.safetensors ";
  CHECK(glassbox.shell(limited + "TINY.txt --threads 1").status == 0);
  const Outcome many = glassbox.shell(limited + "TINY.txt --threads 32");
  CHECK(many.status == 1);
  CHECK_THAT(many.err, text_contains("--threads 1 needs none"));
  CHECK(glassbox.shell(limited + "TINY.txt --threads 32 --batch-size 32").status == 0);
}
#endif

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
