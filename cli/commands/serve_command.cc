// glassbox serve MODEL
#include "cli/serve/server.h"

#include <algorithm>

#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "kernels/parallel.h"

namespace glassbox::cli {

namespace {

struct ServeOptions {
  ServerSettings settings;
  ThreadsOption threads;

  void visit(OptionTable& table) {
    table.operand(settings.model, "MODEL", kModelHelp);
    table.group("Server");
    table.text(settings.host, "host",
               {.value = "ADDRESS",
                .help = "listen there; anything but this machine's own 127.0.0.1 lets others in"});
    table.integer(
        settings.port, "port",
        {.value = "N", .range = between(0, 65535), .help = "listen there; 0 takes any free one"});
    table.integer(settings.max_pending, "max-pending",
                  {.value = "N",
                   .range = between(1, 1e6),
                   .help = "sentences that may wait or be under way; a request for more is "
                           "refused with status 429"});
    table.group("Machine");
    threads.visit(table);
  }
};

int serve(const ServeOptions& options) {
  ServerSettings settings = options.settings;
  settings.threads = options.threads.threads.value_or(kernels::allowed_cores());
  return run_server(settings);
}

}  // namespace

const Command serve_command = make_command<serve>(
    "serve", "let a model write over HTTP",
    "Answers POST /v1/completions as OpenAI's API does, streamed too, and shows a page at / that "
    "writes word by word. Choice i of a request with seed S is line i of sample --seed S. Ends "
    "with SIGINT or SIGTERM, when requests under way have five seconds.",
    {"glassbox serve cats.safetensors", "glassbox serve cats.safetensors --port 0 --threads 2"});

}  // namespace glassbox::cli
