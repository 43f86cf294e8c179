// What an earlier release wrote is what the program of today writes: tests/golden/release-0.1.
#include "tests/cli/program.h"

using namespace glassbox;

namespace {

struct Command {
  std::string line;   // as typed
  std::string shown;  // its standard output
};

std::vector<Command> commands_of(const std::string& session) {
  std::vector<Command> commands;
  for (const std::string& line : lines_of(session)) {
    if (line.starts_with("$ ")) {
      commands.push_back({line.substr(2), ""});
    } else {
      commands.back().shown += line + '\n';
    }
  }
  return commands;
}

// The value of that option, or nothing.
std::string option(const std::string& line, const std::string& name) {
  const std::size_t at = line.find(name + ' ');
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

// A folder with the files of that release.
struct Release : Program {
  Release() {
    put_file(folder / "tiny.txt", file("TINY.txt"));
    for (const char* name : {"more.txt", "float.safetensors", "double.safetensors",
                             "extended.safetensors", "unk.safetensors"})
      put_file(folder / name, golden(name));
  }
  static std::string golden(const std::string& name) {
    return file_bytes(GLASSBOX_GOLDEN_DIR "/release-0.1/" + name);
  }
  Outcome type(const std::string& line) const {
    return shell("glassbox() { \"$G\" \"$@\"; }\n" + line);
  }
  // Else its bits are others, see docs/determinism.md.
  bool fuses_multiply_and_add() const {
    const std::string version = output("--version");
    for (const char* target : {"SIMD AVX2", "SIMD AVX3", "SIMD NEON"})
      if (version.find(target) != std::string::npos) return true;
    WARN("skipped: the bytes of release 0.1, since this processor has no fused multiply-add");
    return false;
  }

  std::vector<Command> commands = commands_of(golden("session.txt"));
};

}  // namespace

TEST_CASE("release 0.1: its models load and give the same sentences, losses and scalars",
          "[cli][release]") {
  const Release glassbox;
  if (!glassbox.fuses_multiply_and_add()) return;
  std::size_t compared = 0;
  for (const Command& command : glassbox.commands) {
    if (!option(command.line, "--out").empty()) continue;
    CAPTURE(command.line);
    const Outcome outcome = glassbox.type(command.line);
    CHECK(outcome.status == 0);
    CHECK(outcome.out == command.shown);
    ++compared;
  }
  CHECK(compared == 18);
}

TEST_CASE("release 0.1: the same commands train the same models and write the same logs",
          "[cli][release]") {
  const Release glassbox;
  if (!glassbox.fuses_multiply_and_add()) return;
  std::size_t trained = 0;
  for (const Command& command : glassbox.commands) {
    const std::string model = option(command.line, "--out");
    if (model.empty()) continue;
    CAPTURE(command.line);
    const Outcome outcome = glassbox.type(command.line);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out == command.shown);
    CHECK(glassbox.file(model) == Release::golden(model));
    const std::string log = option(command.line, "--log-file");
    CHECK(glassbox.file(log) == Release::golden(log));
    put_file(glassbox.folder / model, Release::golden(model));  // the next ones start from it
    ++trained;
  }
  CHECK(trained == 4);
}
