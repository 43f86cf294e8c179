// glassbox inspect trace MODEL SENTENCE
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/view/text.h"
#include "inspect/logit_split.h"
#include "inspect/lookup.h"

namespace glassbox::cli {

namespace {

struct TraceOptions {
  SentenceOperands operands;
  TopOption top = {5};
  std::optional<std::size_t> at;
  std::optional<std::string> word;

  void visit(OptionTable& table) {
    operands.visit(table);
    table.group("Output");
    top.visit(table, "how many words to show after each layer");
    table.integer(at, "at",
                  {.value = "T",
                   .help = "the position to look from, 0 being the sentence's beginning; without "
                           "it the last"});
    table.text(
        word, "word",
        {.value = "WORD", .help = "the word whose logit to split; without it the likeliest"});
  }
};

int trace(const TraceOptions& options) {
  Inspection inspection(read_model_as<double>(options.operands.model), options.operands.sentence);
  const Tokenizer& tokenizer = inspection.tokenizer();
  std::size_t position = inspection.positions() - 1;
  if (options.at) {
    position = *options.at;
    if (position >= inspection.positions())
      throw UsageError(fmt::format(
          "--at: expected a position from 0 to {}, found {}; 0 is the sentence's beginning",
          inspection.positions() - 1, position));
  }
  const auto guesses = guesses_by_layer(inspection, position);
  TokenId word = likeliest_tokens(guesses.back().probabilities, 1)[0];
  if (options.word) word = find_word("--word " + *options.word, *options.word, tokenizer);
  const LogitSplit split = logit_split(inspection, position, word);

  std::string sentence;
  for (std::size_t t = 0; t <= position; ++t)
    sentence += fmt::format("{}{}", t == 0 ? "" : tokenizer.kind().separator,
                            shown_name(inspection.token(t)));
  std::string text = fmt::format("after \"{}\" (position {}), the logit of {}\n\n", sentence,
                                 position, shown_token(tokenizer.word(word)));
  Table table;
  for (const auto& part : split.parts) table.row({part.name, fmt::format("{:+.6f}", part.amount)});
  table.row({"sum", fmt::format("{:+.6f}", split.sum)});
  table.row({"logit", fmt::format("{:+.6f}", split.logit)});
  text += table.text() + "\nwhat it would say after\n";
  const std::size_t top = std::min<std::size_t>(options.top.top, tokenizer.size());
  std::vector<std::size_t> to_the_left(top + 1);
  std::iota(to_the_left.begin(), to_the_left.end(), std::size_t{0});
  Table guess_table(to_the_left);
  for (const auto& guess : guesses) {
    std::vector<std::string> row = {guess.after};
    for (const TokenId id : likeliest_tokens(guess.probabilities, top))
      row.push_back(fmt::format("{} {:.1f}%", shown_token(tokenizer.word(id)),
                                100 * guess.probabilities[id]));
    guess_table.row(std::move(row));
  }
  print(text + guess_table.text());
  return 0;
}

}  // namespace

const Command inspect_trace_command = make_command<trace>(
    "inspect trace", "a logit, taken apart",
    "Splits the logit of a word exactly into what the embeddings, each head and each MLP added, "
    "and shows what the model would say after each layer. Computed in double.",
    {"glassbox inspect trace cats.safetensors 'the cat' --at 2",
     "glassbox inspect trace cats.safetensors 'the cat sat' --at 2 --word sat"});

}  // namespace glassbox::cli
