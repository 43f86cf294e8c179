// The built program, run in a folder of its own as a user runs it.
#pragma once

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch_compat.hpp"
#include "tests/support/full_device.h"
#include "tests/support/temporary_folder.h"

namespace glassbox {

struct Outcome {
  int status;  // the exit status; of a process that a signal ended, 128 and the signal
  std::string out, err;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline const std::string kTinyShape = " --n-layer 1 --n-embd 8 --n-head 2 ";

// A folder with TINY.txt, the golden corpus of 32 lines, in it.
class Program {
 public:
  Program() { put_file(folder / "TINY.txt", file_bytes(GLASSBOX_GOLDEN_DIR "/tiny.txt")); }

  // `arguments` as typed in a shell, redirections too; $G is the program.
  Outcome operator()(const std::string& arguments) const { return shell("\"$G\" " + arguments); }
  // A shell's script.
  Outcome shell(const std::string& script) const {
    put_file(folder / ".script", "G='" GLASSBOX_PROGRAM "'\n" + script + "\n");
    const std::string command =
        "cd '" + folder.path() + "' && sh ./.script >.stdout 2>.stderr </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            file_bytes(folder / ".stdout"), file_bytes(folder / ".stderr")};
  }
  // Runs what must succeed and returns its standard output.
  std::string output(const std::string& arguments) const {
    const Outcome outcome = (*this)(arguments);
    CAPTURE(arguments, outcome.err);
    CHECK(outcome.status == 0);
    return outcome.out;
  }
  std::string file(std::string_view name) const { return file_bytes(folder / name); }
  bool has(std::string_view name) const { return ::access((folder / name).c_str(), F_OK) == 0; }

  TemporaryFolder folder;
};

}  // namespace glassbox
