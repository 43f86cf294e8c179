// What a terminal gets: control characters of a text never act there, and a pipe gets the exact
// text.
#include <fcntl.h>
#include <pty.h>

#include "tests/cli/program.h"

using namespace glassbox;

namespace {

// Not every container has pseudo-terminals.
bool has_terminals() {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) WARN("skipped: what a terminal shows, for want of /dev/ptmx");
  ::close(terminal);
  return terminal >= 0;
}

// What the program's run shows on a terminal, which is both its outputs.
std::string on_terminal(const Program& glassbox, const std::string& arguments) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  REQUIRE(child >= 0);
  if (child == 0) {
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("CI");
    const std::string script =
        "cd '" + glassbox.folder.path() + "' && exec '" GLASSBOX_PROGRAM "' " + arguments;
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  std::string shown;
  char part[4096];
  // Ends with an error when the other side is closed.
  for (ssize_t size; (size = ::read(terminal, part, sizeof part)) > 0;)
    shown.append(part, static_cast<std::size_t>(size));
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  return shown;
}

bool has_control(const std::string& text) {
  return std::any_of(
             text.begin(), text.end(),
             [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\r') || c == 0x7f; }) ||
         text.find("\xC2\x9B") != text.npos;
}

}  // namespace

TEST_CASE("terminal: control characters of a text are shown escaped, a pipe gets them as they are",
          "[cli]") {
  if (!has_terminals()) return;
  const Program glassbox;
  const std::string word =
      "a\x1b[31mb\xC2\x9B"
      "c";
  put_file(glassbox.folder / "T.txt", word + " " + word + "\n");
  glassbox.output("train T.txt --out M --steps 30" + kTinyShape);
  CHECK_THAT(glassbox.output("sample M --temp 0 --num-samples 1"), text_contains(word));
  for (const char* const line :
       {"sample M --temp 0 --num-samples 1", "sample M --temp 0 --num-samples 1 --json", "next M",
        "next M --json", "inspect trace M ''", "inspect gradients M ''",
        "inspect attention M '' --color never", "inspect value M '' loss", "inspect neighbours M x",
        "sample \"$(printf 'x\\033[31m\\302\\233')\""}) {
    CAPTURE(line);
    CHECK_FALSE(has_control(on_terminal(glassbox, line)));
  }
  CHECK_THAT(on_terminal(glassbox, "sample M --temp 0 --num-samples 1"),
             text_contains("a\\x1b[31mb\\x9bc"));
  // Messages are one line of harmless text wherever they go.
  const Outcome refused = glassbox("sample \"$(printf 'x\\033[31m\\302\\233\\342\\200\\256')\"");
  CHECK(refused.err ==
        "glassbox: x\\x1b[31m\\x9b\\u202e: can't be read: No such file or directory; check the "
        "path\n");
}

TEST_CASE("terminal: eval of a large text tells how far it is there, and nothing elsewhere",
          "[cli]") {
  if (!has_terminals()) return;
  const Program glassbox;
  glassbox.output("train TINY.txt --out M --steps 1" + kTinyShape);
  glassbox.shell("for i in $(seq 2000); do cat TINY.txt; done > LARGE.txt");
  const std::string shown = on_terminal(glassbox, "eval M LARGE.txt --threads 1");
  CHECK_THAT(shown, text_contains(" of 64,000 "));
  CHECK_THAT(shown, text_contains("% ETA "));
  const Outcome plain = glassbox("eval M LARGE.txt --threads 1");
  CHECK_THAT(plain.err, !text_contains("ETA"));
  const auto lines = lines_of(plain.out);
  for (const std::string& line : lines) CHECK_THAT(shown, text_contains(line));
}

TEST_CASE("terminal: a report of many sentences and what finetune retains tell how far they are",
          "[cli]") {
  if (!has_terminals()) return;
  const Program glassbox;
  glassbox.output("train TINY.txt --out M --steps 1" + kTinyShape);
  glassbox.shell("for i in $(seq 2000); do head -31 TINY.txt; done > LARGE.txt");
  glassbox.shell("for i in $(seq 20); do head -31 TINY.txt; done > MANY.txt");
  CHECK_THAT(on_terminal(glassbox, "report M --sentences MANY.txt"), text_contains(" of 620 "));
  CHECK_THAT(on_terminal(glassbox, "finetune M TINY.txt --steps 1 --retain LARGE.txt"),
             text_contains(" of 62,000 "));
}
