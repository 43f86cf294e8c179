// glassbox: the program. Finds the command, runs it, and turns every failure into one line and an
// exit status: 0 done, 1 the work failed, 2 the command line is wrong, 130, 143 or 129 interrupted
// after saving.
#include <fmt/core.h>

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "base/closest_match.h"
#include "base/error.h"
#include "base/quote.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/version.h"

namespace glassbox::cli {

std::span<const Command> commands() {
#define GLASSBOX_LIST_COMMAND(name) name##_command,
  static const Command all[] = {GLASSBOX_COMMANDS(GLASSBOX_LIST_COMMAND)};
#undef GLASSBOX_LIST_COMMAND
  return all;
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (name == command.name) return command;
    names.emplace_back(command.name);
  }
  const std::string near = closest_match(name, names);
  throw UsageError(fmt::format(
      "'{}' is no command; {}", shortened(name),
      near.empty() ? "glassbox help lists them" : fmt::format("did you mean {}?", near)));
}

namespace {

int run(std::vector<std::string> words) {
  if (words.empty())
    throw UsageError("expected a command, found nothing; glassbox help lists them");
  std::string first = words.front();
  if (first == "--version") {
    if (words.size() > 1)
      throw UsageError(fmt::format(
          "--version: expected nothing behind it, found '{}'; leave it out", shortened(words[1])));
    print(version_text());
    return 0;
  }
  if (first == "--help" || first == "-h") first = "help";
  words.erase(words.begin());
  if (first == "inspect" && !words.empty() && words.front() != "--help" && words.front() != "-h") {
    first += ' ' + words.front();  // a command of two words
    words.erase(words.begin());
  } else if (first == "inspect") {
    return help_command.run(help_command, {first});
  }
  const Command& command = find_command(first);
  return command.run(command, words);
}

}  // namespace
}  // namespace glassbox::cli

int main(int argc, char** argv) {
  using namespace glassbox::cli;
  prepare_streams();
  try {
    const int status = run({argv + 1, argv + argc});
    finish_output();
    return status;
  } catch (const UsageError& error) {
    complain(error.what());
    return 2;
  } catch (const ClosedPipe&) {
    return 0;
  } catch (const std::bad_alloc&) {
    complain("out of memory; a smaller model, batch or text needs less");
  } catch (const std::system_error& error) {
    complain(error.code() == std::errc::resource_unavailable_try_again
                 ? fmt::format("--threads: {}; try fewer, --threads 1 needs none", error.what())
                 : error.what());
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return 1;
}
