// `glassbox serve`: a model behind HTTP.
//
// The library that speaks HTTP takes longer to load than most commands run, so the server is a
// program of its own, glassbox-serve, which the command starts in its place: run_server() is
// defined twice, in launch.cc and in server.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace glassbox::cli {

struct ServerSettings {
  std::string model;
  std::string host = "127.0.0.1";
  std::uint64_t port = 8080;      // 0: any that is free
  std::size_t threads = 1;        // that decode
  std::size_t max_pending = 512;  // sentences; a request beyond them is refused with 429
};

int run_server(const ServerSettings& settings);

}  // namespace glassbox::cli
