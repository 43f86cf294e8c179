#include "cli/output.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "cli/options/options.h"

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

void print(std::string_view data) {
  if (std::fwrite(data.data(), 1, data.size(), stdout) != data.size()) output_failed();
}

void finish_output() {
  if (std::fflush(stdout) != 0) output_failed();
}

void refuse_overwriting(const char* flag, const std::string& out,
                        std::initializer_list<InputFile> inputs) {
  for (const InputFile& input : inputs)  // a file is first written beside its target
    if (!input.path.empty() && (same_file(out, input.path) || same_file(out + ".tmp", input.path)))
      throw UsageError(
          fmt::format("--{}: expected another file than {}, found {}; {} would be lost", flag,
                      input.name, out, input.path));
}

void print_status(std::string_view line) {
  std::string shown;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  shown += '\n';
  std::fwrite(shown.data(), 1, shown.size(), stderr);
  std::fflush(stderr);
}

void complain(std::string_view message) { print_status(fmt::format("glassbox: {}", message)); }

void warn_of_cut_lines(std::size_t count, std::size_t words, const std::string& text,
                       std::size_t line) {
  complain(fmt::format("warning: {}: cut {} line{} of more than {} words, the first is line {}",
                       text, count, count == 1 ? "" : "s", words, line));
}

}  // namespace glassbox::cli
