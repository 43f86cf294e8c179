#include "cli/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "cli/options/options.h"
#include "cli/view/text.h"

namespace glassbox::cli {

namespace {

[[noreturn]] void output_failed() {
  if (errno == EPIPE) throw ClosedPipe();
  throw FileError(fmt::format("standard output: can't be written: {}", std::strerror(errno)));
}

}  // namespace

void prepare_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    // The lowest free number is the closed one. Opened for reading, so that a write to it still
    // fails.
    if (fcntl(descriptor, F_GETFD) == -1) static_cast<void>(open("/dev/null", O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void print_styled(std::string_view data) {
  if (std::fwrite(data.data(), 1, data.size(), stdout) != data.size()) output_failed();
}

void print(std::string_view data) {
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (!terminal) return print_styled(data);
  for (std::size_t begin = 0; begin < data.size();) {
    const std::size_t end = std::min(data.find('\n', begin), data.size());
    print_styled(escape_controls(data.substr(begin, end - begin)));
    if (end < data.size()) print_styled("\n");
    begin = end + 1;
  }
}

void finish_output() {
  if (std::fflush(stdout) != 0) output_failed();
}

void refuse_overwriting(const char* flag, const std::string& out,
                        const std::vector<InputFile>& inputs) {
  for (const InputFile& input : inputs)  // a file is first written beside its target
    if (!input.path.empty() &&
        (same_file(out, input.path) || same_file(temporary_of(out), input.path)))
      throw UsageError(
          fmt::format("--{}: expected another file than {}, found {}; {} would be lost", flag,
                      input.name, out, input.path));
}

void print_status(std::string_view line) {
  const std::string shown = escape_controls(line) + '\n';
  std::fwrite(shown.data(), 1, shown.size(), stderr);
  std::fflush(stderr);
}

void complain(std::string_view message) { print_status(fmt::format("glassbox: {}", message)); }

void warn_of_cut_lines(std::size_t count, std::size_t tokens, const std::string& text,
                       const std::string& place, const char* unit) {
  complain(fmt::format("warning: {}: cut {} of more than {}, the first is {}", text,
                       counted(count, "line"), counted(tokens, unit), place));
}

void check_ending(const char* flag, const std::string& path,
                  std::initializer_list<const char*> endings) {
  const std::string ending = std::filesystem::path(path).extension();
  if (ending.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end()) return;
  std::string known;
  for (const char* const each : endings) known += (known.empty() ? "" : " or ") + std::string(each);
  throw UsageError(fmt::format(
      "--{}: expected a name that ends in {}, found {}; write for instance {}", flag, known,
      shortened(path),
      shortened(std::filesystem::path(path).replace_extension(*endings.begin()).string())));
}

void write_output(const std::string& path, std::string_view contents) {
  write_file(path, contents);
  print_status(fmt::format("wrote {}", path));
}

}  // namespace glassbox::cli
