// One model, two threads: each has a decoder of its own over the same weights, and writes a
// sentence token by token until it has had enough.
#include <fmt/core.h>

#include <string>
#include <thread>
#include <vector>

#include "infer/generate.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: streams MODEL\n");
    return 2;
  }
  const auto model = glassbox::load_model(argv[1]);
  std::vector<std::string> written(2);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < written.size(); ++i)
    threads.emplace_back([&model, &text = written[i], i] {
      auto decoder = model.another();  // shares the weights, has its own workspace
      glassbox::Sampler sampler({.temperature = 0.8});
      const glassbox::Tokenizer& tokenizer = decoder.tokenizer();
      glassbox::generate_tokens(decoder, sampler, {}, 0, glassbox::UniformStream(42, i),
                                [&](std::span<const glassbox::TokenId> tokens) {
                                  text += std::string(tokenizer.word(tokens.back())) + ' ';
                                  return tokens.size() < 6;  // enough
                                });
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : written) fmt::print("{}\n", text);
}
