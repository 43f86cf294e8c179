// glassbox finetune MODEL CORPUS
#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "cli/commands/training.h"
#include "cli/output.h"
#include "infer/score.h"
#include "model/extend_vocabulary.h"

namespace glassbox::cli {

namespace {

constexpr std::size_t kNamedWords = 50;  // a line of more helps nobody

// The model with the words of the corpus that it lacks, as the flags say. Throws VocabularyError,
// naming words and lines, if they say nothing.
template <class T>
Model<T> with_words_of(const Corpus& corpus, const Arguments& arguments, Model<T> model,
                       Random& random) {
  auto unknown = model.tokenizer.unknown_words(corpus);
  if (unknown.empty()) return model;
  if (arguments.given("unk")) return extend_vocabulary(model, {}, true, random);
  if (arguments.given("extend-vocab")) {
    std::vector<std::string> words;
    for (auto& word : unknown) words.push_back(std::move(word.word));
    std::sort(words.begin(), words.end());
    print_status(fmt::format("new words: {}", words.size()));
    return extend_vocabulary(model, words, false, random);
  }
  std::string named;
  for (std::size_t i = 0; i < std::min(unknown.size(), kNamedWords); ++i) {
    named += fmt::format("{}{} (line {})", i == 0 ? "" : ", ", json_quote(unknown[i].word),
                         unknown[i].line);
  }
  if (unknown.size() > kNamedWords)
    named += fmt::format(" and {} more", unknown.size() - kNamedWords);
  throw VocabularyError(fmt::format("{}: expected words that {} knows, found {}; {}", corpus.name(),
                                    arguments.operand(0), named,
                                    "--extend-vocab adds them, --unk reads them as <unk>"));
}

// The names of the parameters that --freeze means.
std::vector<std::string> frozen_parameters(const Arguments& arguments,
                                           const ParameterLayout& layout) {
  std::vector<bool> frozen(layout.parameters().size());
  for (const std::string& pattern : arguments.texts("freeze")) {
    bool used = false;
    for (std::size_t i = 0; i < frozen.size(); ++i) {
      if (fnmatch(pattern.c_str(), layout.parameters()[i].name.c_str(), 0) != 0) continue;
      used = frozen[i] = true;
    }
    if (!used) {
      throw UsageError(fmt::format(
          "--freeze: expected the name of a parameter, as token_embedding or 'layers.0.*', "
          "found '{}'; glassbox inspect params {} lists them",
          pattern, arguments.operand(0)));
    }
  }
  if (std::all_of(frozen.begin(), frozen.end(), [](bool is) { return is; })) {
    throw UsageError(
        "--freeze: expected a parameter that is left to train, found none; freeze fewer");
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < frozen.size(); ++i)
    if (frozen[i]) names.push_back(layout.parameters()[i].name);
  return names;
}

// The mean loss a token on a text.
template <class T>
double loss_on(const std::vector<std::vector<TokenId>>& sentences, const Tokenizer& tokenizer,
               WeightsView<T> weights) {
  Decoder<T> decoder(weights, tokenizer);
  Score score;
  for (const auto& sentence : sentences)
    score.add(log_probabilities(decoder, std::span<const TokenId>(sentence)));
  return score.loss();
}

template <class T>
int finetune(const Arguments& arguments, Model<T> base) {
  Random random(static_cast<std::uint32_t>(arguments.integer("seed")));
  const CorpusOptions options{.lowercase = base.tokenizer.lowercase()};
  Corpus corpus = Corpus::read(arguments.operand(1), options);
  TrainConfig config = train_config(arguments, corpus);
  config.parent = fingerprint(read_file(arguments.operand(0)));
  config.frozen = frozen_parameters(arguments, base.weights.layout());
  corpus.shuffle(random);
  const Model<T> start = with_words_of(corpus, arguments, std::move(base), random);
  const Tokenizer& tokenizer = start.tokenizer;

  const std::string& retain = arguments.text("retain");
  std::vector<std::vector<TokenId>> old_text;
  double before = 0;
  if (!retain.empty()) {
    old_text = tokenizer.encode_lines(Corpus::read(retain, options));
    before = loss_on(old_text, tokenizer, start.weights.view());
  }
  Gpt<T> model(start.weights.view());
  return run_training<T>(arguments, model, tokenizer, corpus, config, [&](WeightsView<T> weights) {
    if (retain.empty()) return;
    print_status(fmt::format("loss on {}: {:.4f} before, {:.4f} after", retain, before,
                             loss_on(old_text, tokenizer, weights)));
  });
}

}  // namespace

int finetune_command(const Arguments& arguments) {
  if (arguments.given("extend-vocab") && arguments.given("unk")) {
    throw UsageError("--unk: expected --extend-vocab or --unk, found both; leave one out");
  }
  check_arguments(arguments, {{"MODEL", arguments.operand(0)},
                              {"CORPUS", arguments.operand(1)},
                              {"--retain", arguments.text("retain")}});
  return std::visit([&](auto&& model) { return finetune(arguments, std::move(model)); },
                    read_model(arguments.operand(0)));
}

}  // namespace glassbox::cli
