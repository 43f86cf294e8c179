// glassbox next MODEL [TEXT]
#include <fmt/core.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/view/text.h"
#include "infer/decoder.h"
#include "inspect/inspection.h"

namespace glassbox::cli {

int next_command(const Arguments& arguments) {
  Decoder<double> decoder = load_model<double>(arguments.operand(0));
  const Tokenizer& tokenizer = decoder.tokenizer();
  std::vector<TokenId> tokens = {tokenizer.bos()};
  for (const TokenId id : tokenizer.encode(arguments.operand(1))) tokens.push_back(id);
  if (tokens.size() > decoder.config().block_size)
    throw ConfigError(fmt::format(
        "next: expected at most {} words, found {}; the model's block is {}",
        decoder.config().block_size - 1, tokens.size() - 1, decoder.config().block_size));
  KvCache<double> cache(decoder.config());
  std::span<const double> logits;
  for (const TokenId token : tokens) logits = decoder.step(token, cache);
  const auto chances = softmax({logits.begin(), logits.end()});

  Table table({0, 2});
  std::string json;
  for (const TokenId id : likeliest_tokens(chances, arguments.integer("top"))) {
    table.row({escape_controls(tokenizer.word(id)), fmt::format("{:.2f}%", 100 * chances[id]),
               std::string(static_cast<std::size_t>(chances[id] * 50 + 0.5), '#')});
    json += fmt::format(R"({}{{"word":{},"probability":{}}})", json.empty() ? "" : ",",
                        json_quote(tokenizer.word(id)), json_number(chances[id]));
  }
  print(arguments.given("json") ? fmt::format("{{\"next\":[{}]}}\n", json) : table.text());
  return 0;
}

}  // namespace glassbox::cli
