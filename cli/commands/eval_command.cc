// glassbox eval MODEL TEXT
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "infer/score.h"
#include "kernels/parallel.h"
#include "model/model_file.h"

namespace glassbox::cli {

namespace {

struct EvalOptions {
  std::string model, text;
  bool per_line = false, json = false;
  std::size_t batch_size = 1;
  ThreadsOption threads;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", kModelHelp);
    table.operand(text, "TEXT", kTextHelp);
    table.group("Output");
    table.flag(per_line, "per-line",
               {.help = "a row a line of the text as well: line, loss, tokens; the totals then go "
                        "to standard error"});
    table.flag(json, "json",
               {.help = "one object: loss, perplexity, tokens; with --per-line the rows too, as "
                        "lines"});
    table.group("Machine");
    table.integer(batch_size, "batch-size",
                  {.value = "B",
                   .range = between(1, 1e6),
                   .help = "lines that a thread takes at a time; the result does not depend on "
                           "it"});
    threads.visit(table);
  }
};

using Sentences = std::vector<std::vector<TokenId>>;

struct LineScore {
  TextLoss all;
  TextLoss known;  // without the words that were read as <unk>
};

// The score of each line, in the lines' order whichever thread computes them.
template <class T>
std::vector<LineScore> score_lines(const EvalOptions& options, const Decoder<T>& model,
                                   const Sentences& sentences) {
  const std::size_t parts = (sentences.size() + options.batch_size - 1) / options.batch_size;
  kernels::Threads threads(
      std::min(parts, options.threads.threads.value_or(kernels::allowed_cores())));
  Countdown countdown(sentences.size(), false);
  const auto logs =
      log_probabilities(model, std::span<const std::vector<TokenId>>(sentences), threads,
                        options.batch_size, [&](std::size_t done) { countdown.show(done); });
  const std::optional<TokenId> unk = model.tokenizer().unk();
  std::vector<LineScore> scores(sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    scores[i].all.add(logs[i]);
    for (std::size_t token = 0; token < logs[i].size(); ++token)
      if (sentences[i][token + 1] != unk) scores[i].known.add(std::span(logs[i]).subspan(token, 1));
  }
  return scores;
}

// The loss here is the mean over all tokens of the text, and a line's the mean over its own.
template <class T>
int evaluate(const EvalOptions& options, Decoder<T> model) {
  const Tokenizer& tokenizer = model.tokenizer();
  const Corpus corpus = read_corpus({options.text}, tokenizer, model.config().block_size);
  const std::vector<std::vector<TokenId>> sentences = tokenizer.encode_lines(corpus);
  std::size_t cut = 0, first_cut = 0;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    if (sentences[i].size() - 1 > model.config().block_size && !corpus.goes_on(i) && cut++ == 0) {
      first_cut = i;
    }
  }
  if (cut > 0) {
    warn_of_cut_lines(cut, model.config().block_size - 1, corpus.name(), corpus.place(first_cut),
                      tokenizer.kind().unit);
  }

  const std::vector<LineScore> scores = score_lines(options, model, sentences);
  TextLoss total, known;
  for (const LineScore& line : scores) {
    total.add(line.all);
    known.add(line.known);
  }
  const std::size_t unknown = total.tokens - known.tokens;
  const bool tells_unknown = tokenizer.unk() && known.tokens > 0;
  if (!std::isfinite(total.loss())) {
    throw NumericError(
        fmt::format("{}: the loss is not finite; the weights of {} are too large to compute "
                    "with",
                    corpus.name(), options.model));
  }
  const double perplexity = std::exp(total.loss());
  if (options.json) {
    JsonWriter json;
    json.begin_object().member("loss", total.loss()).member("perplexity", perplexity);
    json.member("tokens", total.tokens);
    if (tells_unknown) json.member("unknown", unknown).member("known_loss", known.loss());
    if (options.per_line) {
      json.key("lines").begin_array();
      for (std::size_t i = 0; i < scores.size(); ++i) {
        json.begin_object()
            .member("line", corpus.line_number(i))
            .member("loss", scores[i].all.loss());
        json.member("tokens", scores[i].all.tokens).end_object();
      }
      json.end_array();
    }
    print(json.end_object().take() + '\n');
    return 0;
  }
  const std::string loss = json_number(total.loss());
  const std::string shown = std::isfinite(perplexity) ? json_number(perplexity) : "inf";
  if (options.per_line) {
    print("line,loss,tokens\n");
    for (std::size_t i = 0; i < scores.size(); ++i)
      print(fmt::format("{},{},{}\n", corpus.line_number(i), json_number(scores[i].all.loss()),
                        scores[i].all.tokens));
    print_status(fmt::format("loss {}, perplexity {}, tokens {}", loss, shown, total.tokens));
  } else {
    print(fmt::format("loss {}\nperplexity {}\ntokens {}\n", loss, shown, total.tokens));
  }
  if (tells_unknown)
    print_status(fmt::format("unknown {}s {}, loss of the others {}", tokenizer.kind().unit,
                             unknown, json_number(known.loss())));
  return 0;
}

int eval(const EvalOptions& options) {
  return std::visit([&](auto&& model) { return evaluate(options, Decoder(std::move(model))); },
                    read_model(options.model));
}

}  // namespace

const Command eval_command = make_command<eval>(
    "eval", "measure a model on a text",
    "Prints the mean loss in nats a token (words and ends of sentences), the perplexity and the "
    "number of tokens. Each line is cut to the model's block as in training. Of a model with <unk> "
    "also how many words were read so, and the loss of the others.",
    {"glassbox eval cats.safetensors data/first_grade.txt",
     "glassbox eval cats.safetensors poems.txt --per-line > losses.csv"});

}  // namespace glassbox::cli
