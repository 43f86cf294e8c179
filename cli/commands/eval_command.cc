// glassbox eval MODEL TEXT
#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "infer/score.h"
#include "model/model_file.h"

namespace glassbox::cli {

namespace {

template <class T>
int evaluate(const Arguments& arguments, Decoder<T> model) {
  const Tokenizer& tokenizer = model.tokenizer();
  const Corpus corpus = Corpus::read(arguments.operand(1), {.lowercase = tokenizer.lowercase()});
  const std::vector<std::vector<TokenId>> sentences = tokenizer.encode_lines(corpus);
  std::size_t cut = 0, first_cut = 0;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    if (sentences[i].size() - 1 > model.config().block_size && cut++ == 0) {
      first_cut = corpus.line_number(i);
    }
  }
  if (cut > 0) {
    warn_of_cut_lines(cut, model.config().block_size - 1, corpus.name(), first_cut);
  }

  const bool json = arguments.given("json"), per_line = arguments.given("per-line");
  Score total;
  std::string rows;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    Score line;
    line.add(log_probabilities(model, std::span<const TokenId>(sentences[i])));
    total.nats += line.nats;
    total.tokens += line.tokens;
    if (!per_line) continue;
    const std::string loss = json_number(line.loss());
    rows += json ? fmt::format(R"({}{{"line":{},"loss":{},"tokens":{}}})", i == 0 ? "" : ",",
                               corpus.line_number(i), loss, line.tokens)
                 : fmt::format("{},{},{}\n", corpus.line_number(i), loss, line.tokens);
  }

  if (!std::isfinite(total.loss())) {
    throw NumericError(
        fmt::format("{}: the loss is not finite; the weights of {} are too large to compute "
                    "with",
                    corpus.name(), arguments.operand(0)));
  }
  const std::string loss = json_number(total.loss());
  const std::string perplexity = json_number(std::exp(total.loss()));
  if (json) {
    print(fmt::format(R"({{"loss":{},"perplexity":{},"tokens":{}{}}})", loss, perplexity,
                      total.tokens, per_line ? fmt::format(R"(,"lines":[{}])", rows) : "") +
          '\n');
  } else if (per_line) {
    print("line,loss,tokens\n" + rows);
    print_status(fmt::format("loss {}, perplexity {}, tokens {}", loss, perplexity, total.tokens));
  } else {
    print(fmt::format("loss {}\nperplexity {}\ntokens {}\n", loss, perplexity, total.tokens));
  }
  return 0;
}

}  // namespace

int eval_command(const Arguments& arguments) {
  return std::visit([&](auto&& model) { return evaluate(arguments, Decoder(std::move(model))); },
                    read_model(arguments.operand(0)));
}

}  // namespace glassbox::cli
