// glassbox next MODEL [TEXT]
#include <fmt/core.h>

#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/view/text.h"
#include "infer/decoder.h"
#include "inspect/inspection.h"

namespace glassbox::cli {

namespace {

struct NextOptions {
  std::string model, text;
  TopOption top;
  bool json = false;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", kModelHelp);
    table.sentence(text, "[TEXT]", "how the sentence begins");
    table.group("Output");
    top.visit(table);
    table.flag(json, "json", {.help = "one object: words and probabilities"});
  }
};

int show_next(const NextOptions& options) {
  Decoder<double> decoder = load_model<double>(options.model);
  const Tokenizer& tokenizer = decoder.tokenizer();
  std::vector<TokenId> tokens = {tokenizer.bos()};
  for (const TokenId id : tokenizer.encode(options.text, "TEXT")) tokens.push_back(id);
  if (tokens.size() > decoder.config().block_size)
    throw ConfigError(fmt::format("TEXT: expected at most {}, found {}; the model's block is {}",
                                  counted(decoder.config().block_size - 1, tokenizer.kind().unit),
                                  tokens.size() - 1, decoder.config().block_size));
  KvCache<double> cache(decoder.config());
  std::span<const double> logits;
  for (const TokenId token : tokens) logits = decoder.step(token, cache);
  const auto chances = softmax({logits.begin(), logits.end()});

  Table table({0, 2});
  JsonWriter json;
  json.begin_object().key("next").begin_array();
  for (const TokenId id : likeliest_tokens(chances, options.top.top)) {
    const char* const meaning = id == tokenizer.bos() ? " (end)" : "";  // of the sentence
    table.row({shown_token(tokenizer.word(id)) + meaning, fmt::format("{:.2f}%", 100 * chances[id]),
               std::string(static_cast<std::size_t>(chances[id] * 50 + 0.5), '#')});
    json.begin_object().member("word", tokenizer.word(id)).member("probability", chances[id]);
    json.end_object();
  }
  json.end_array().end_object();
  print(options.json ? json.take() + '\n' : table.text());
  return 0;
}

}  // namespace

const Command next_command =
    make_command<show_next>("next", "show what a model would say next",
                            "Prints the likeliest next words with their probabilities, as the "
                            "model gives them: no temperature, no filter.",
                            {"glassbox next cats.safetensors 'the cat'",
                             "glassbox next cats.safetensors 'the cat' --top 3 --json"});

}  // namespace glassbox::cli
