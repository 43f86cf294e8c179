// Starts glassbox-serve, which lies beside this program, in its place.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "cli/serve/server.h"

namespace glassbox::cli {

int run_server(const ServerSettings&) {
  std::error_code none;
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "glassbox-serve")
          .string();
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  std::vector<std::string> words;
  for (std::string word; std::getline(text, word, '\0');) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw FileError(program + ": can't be started: " + std::strerror(errno) +
                  "; it is built and installed with glassbox, where cpp-httplib is");
}

}  // namespace glassbox::cli
