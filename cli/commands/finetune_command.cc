// glassbox finetune MODEL CORPUS
#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "base/quote.h"
#include "cli/command.h"
#include "cli/commands/training.h"
#include "cli/commands/validation.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "infer/score.h"
#include "model/extend_vocabulary.h"

namespace glassbox::cli {

namespace {

struct FinetuneOptions {
  std::string model;
  std::vector<std::string> corpus;
  TrainingOptions training{"finetuned.safetensors", 1000, 0.001};
  bool extend_vocab = false, unk = false;
  std::optional<Split> split;
  std::vector<std::string> freeze;
  std::optional<std::string> retain;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", "model file to start from");
    table.operand(corpus, "CORPUS...", kCorpusHelp);
    training.visit(table, "the model file to write; MODEL itself is refused", "optimiser steps");
    table.group("Fine-tuning");
    table.flag(extend_vocab, "extend-vocab",
               {.help = "add words that the model does not know, behind its old ones, with rows "
                        "drawn by --seed"});
    table.choice(split, "split",
                 {.value = kSplits, .help = "as train has it; without it, as MODEL was trained"});
    table.flag(unk, "unk",
               {.help = "read words that the model does not know as <unk>, and from then on in "
                        "prompts as well, whether CORPUS has such words or not"});
    table.text(freeze, "freeze",
               {.value = "PATTERN",
                .help = "parameters that stay as they are, by name; * stands for any letters, "
                        "commas part several, and the option may be repeated: "
                        "'layers.0.*,token_embedding'",
                .may_be_empty = true});  // for its own refusal, which says more
    table.file(
        retain, "retain",
        {.value = "FILE",
         .help = "tell the loss on this text of MODEL as it is and after: what was forgotten; "
                 "MODEL must know its words",
         .per_run = true});
    training.visit_machine(table);
  }
};

// The model with the words of the corpus that it lacks, as the flags say. Throws VocabularyError,
// naming words and lines, if they say nothing.
template <class T>
Model<T> with_words_of(const Corpus& corpus, const FinetuneOptions& options, Model<T> model,
                       Random& random) {
  if (model.tokenizer.kind().exact && (options.unk || options.extend_vocab))
    throw UsageError(fmt::format(
        "--{}: expected a model of words or characters, found one of {}, which knows all text; "
        "leave it out",
        options.unk ? "unk" : "extend-vocab", model.tokenizer.kind().name));
  if (options.unk && !model.tokenizer.unk()) return extend_vocabulary(model, {}, true, random);
  auto unknown = model.tokenizer.unknown_words(corpus);
  if (unknown.empty() || options.unk) return model;
  if (options.extend_vocab) {
    std::vector<std::string> words;
    for (auto& word : unknown) words.push_back(std::move(word.word));
    std::sort(words.begin(), words.end());
    print_status(fmt::format("new words: {}", words.size()));
    return extend_vocabulary(model, words, false, random);
  }
  std::vector<std::string> named;
  for (const auto& [word, line, first] : unknown)
    named.push_back(fmt::format("{} ({})", quotation(word), corpus.place(first)));
  throw VocabularyError(fmt::format("{}: expected {}s that {} knows, found {}; {}", corpus.name(),
                                    model.tokenizer.kind().unit, options.model, listed(named),
                                    "--extend-vocab adds them, --unk reads them as <unk>"));
}

// The names of the parameters that --freeze means.
std::vector<std::string> frozen_parameters(const FinetuneOptions& options,
                                           const ParameterLayout& layout) {
  std::vector<bool> frozen(layout.parameters().size());
  for (const std::string& pattern : options.freeze) {
    bool used = false;
    for (std::size_t i = 0; i < frozen.size(); ++i) {
      if (fnmatch(pattern.c_str(), layout.parameters()[i].name.c_str(), 0) != 0) continue;
      used = frozen[i] = true;
    }
    if (!used) {
      throw UsageError(fmt::format(
          "--freeze: expected the name of a parameter, as token_embedding or 'layers.0.*', "
          "found '{}'; glassbox inspect params {} lists them",
          shortened(pattern), options.model));
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
  TextLoss score;
  Countdown countdown(sentences.size(), false);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    countdown.show(i);
    score.add(log_probabilities(decoder, std::span<const TokenId>(sentences[i])));
  }
  return score.loss();
}

// Of the model that this one was trained from; "" if there is none.
template <class T>
std::string parent_of(const Model<T>& model) {
  const Json json = Json::parse(model.training, "glassbox.training");
  const Json* parent = json.find("parent");
  return parent != nullptr && parent->kind() == Json::Kind::string ? parent->string() : "";
}

template <class T>
int finetune_from(const FinetuneOptions& options, RunRecord record, Model<T> base,
                  const std::string& parent, const Checkpoint<T>* resumed) {
  Random random(options.training.seed.seed);
  const std::size_t block_size = base.config().block_size;
  const Tokenizer known = base.tokenizer;
  if (options.split) base.tokenizer = known.with_split(*options.split);
  Corpus corpus = read_corpus(options.corpus, base.tokenizer, block_size);
  corpus.shuffle(random);
  record.text = corpus.fingerprint();
  const std::vector<std::string> frozen = frozen_parameters(options, base.weights.layout());

  // Before and after, the old text is read with the words that the given model knows.
  const std::string retain = options.retain.value_or("");
  std::vector<std::vector<TokenId>> old_text;
  double before = 0;
  if (!retain.empty()) {
    old_text = known.encode_lines(read_corpus({retain}, known, block_size));
    before = loss_on(old_text, known, base.weights.view());
  }
  const Model<T> drawn = resumed != nullptr
                             ? std::move(base)
                             : with_words_of(corpus, options, std::move(base), random);
  const Model<T>& start = resumed != nullptr ? resumed->model : drawn;
  const Tokenizer& tokenizer = start.tokenizer;
  const std::optional<Corpus> held_out = hold_out(options.training, corpus, tokenizer, block_size);
  if (options.training.val) record.held_out = held_out->fingerprint();
  TrainConfig config = train_config(options.training, corpus);
  config.parent = parent;
  config.frozen = frozen;
  for (auto& sentence : old_text)
    for (TokenId& id : sentence)
      id = id == known.bos() ? tokenizer.bos() : tokenizer.find(known.word(id));
  Gpt<T> model(start.weights.view());
  const auto tell_retained = [&](WeightsView<T> weights) {
    if (retain.empty()) return;
    print_status(fmt::format("loss on {}: {:.4f} before, {:.4f} after", retain, before,
                             loss_on(old_text, tokenizer, weights)));
  };
  return run_training<T>({options.training, model, tokenizer, corpus,
                          held_out ? &*held_out : nullptr, config, record, resumed, tell_retained});
}

int finetune(FinetuneOptions& options, OptionTable& table) {
  const auto resumed = read_resumed("finetune", options.training, table);
  if (options.extend_vocab && options.unk) {
    throw UsageError("--unk: expected --extend-vocab or --unk, found both; leave one out");
  }
  check_options(options.training, options.corpus,
                {{"MODEL", options.model}, {"--retain", options.retain.value_or("")}});
  std::string bytes = read_safetensors_bytes(options.model);  // once: it may be a pipe
  const std::string parent = fingerprint(bytes);
  const RunRecord record{"finetune", "", "", table.settings()};
  return std::visit(
      [&]<class T>(Model<T>&& model) {
        const Checkpoint<T>* from = resumed ? std::get_if<Checkpoint<T>>(&*resumed) : nullptr;
        if (resumed && (from == nullptr || parent_of(from->model) != parent))
          throw FormatError(
              fmt::format("{}: expected the model with which {} was begun, found "
                          "another; give that one",
                          options.model, *options.training.resume));
        return finetune_from(options, record, std::move(model), parent, from);
      },
      parse_model(std::move(bytes), options.model));
}

}  // namespace

const Command finetune_command = make_command<finetune>(
    "finetune", "train a model further on another text",
    "Starts from MODEL's weights and keeps its shape, vocabulary and precision. A word that it "
    "does not know is an error, unless --extend-vocab or --unk says what becomes of it. MODEL's "
    "file is not touched.",
    {"glassbox finetune cats.safetensors data/questions.txt --out asks.safetensors",
     "glassbox finetune cats.safetensors poems.txt --extend-vocab --freeze 'layers.0.*'"});

}  // namespace glassbox::cli
