// glassbox train CORPUS
#include "base/error.h"
#include "cli/command.h"
#include "cli/commands/training.h"
#include "cli/commands/validation.h"
#include "model/tokenizer_json.h"

namespace glassbox::cli {

namespace {

enum class Precision { single, twofold };

// "word|char"
const char* tokenizer_names() {
  static const std::string names = [] {
    std::string list;
    for (const TokenizerKind& kind : tokenizer_kinds())
      list += (list.empty() ? "" : "|") + std::string(kind.name);
    return list;
  }();
  return names.c_str();
}

struct TrainOptions {
  std::vector<std::string> corpus;
  TrainingOptions training{"model.safetensors", 5000, 0.01};
  GptConfig shape;
  Precision precision = Precision::single;
  std::string tokenizer = tokenizer_kinds().front().name;
  std::optional<std::string> tokenizer_file;
  VocabularyConfig vocabulary;
  Split split = Split::line;
  bool no_lowercase = false;

  void visit(OptionTable& table) {
    const Range size = between(1, 1e6);
    table.operand(corpus, "CORPUS...", kCorpusHelp);
    training.visit(table,
                   "the model file to write: weights, shape, vocabulary, all that sample needs",
                   "optimiser steps; 0 writes the untrained model");
    table.group("Model");
    table.integer(shape.n_layer, "n-layer", {.value = "N", .range = size, .help = "layers"});
    table.integer(
        shape.n_embd, "n-embd",
        {.value = "N", .range = size, .help = "width of a token's vector; a multiple of --n-head"});
    table.integer(shape.n_head, "n-head",
                  {.value = "N", .range = size, .help = "attention heads a layer"});
    table.integer(shape.block_size, "block-size",
                  {.value = "N",
                   .range = size,
                   .help = "positions a sentence may have, its beginning counted; a longer one is "
                           "cut"});
    table.choice(shape.activation, "activation",
                 {.value = "relu|gelu|silu", .help = "of the perceptron's hidden layer"});
    table.flag(shape.final_norm, "final-norm",
               {.help = "normalise the residual stream once more, before the logits"});
    table.choice(precision, "precision",
                 {.value = "float|double", .help = "of the arithmetic and of the file"});
    table.choice(
        tokenizer, "tokenizer",
        {.value = tokenizer_names(),
         .help = "what a token is: a word; a word or a punctuation mark; a single character; "
                 "or a frequent piece of text, learnt from the corpus by byte-pair "
                 "encoding, which keeps every byte. The last two need a longer "
                 "--block-size"});
    table.file(tokenizer_file, "tokenizer-file",
               {.value = "FILE",
                .help = "the vocabulary and merges of this tokenizer.json of byte-level BPE, as "
                        "Hugging Face's library and glassbox tokenize --export write it",
                .not_with = "tokenizer vocab-size min-count unk"});
    table.integer(vocabulary.size, "vocab-size",
                  {.value = "N",
                   .help = "the N most frequent words are tokens, all others become <unk>; 0 is "
                           "all of them. Of bpe the size of the vocabulary; 0 is 1000"});
    table.integer(vocabulary.min_count, "min-count",
                  {.value = "N",
                   .help = "a word that is there less often becomes <unk>; of bpe, a pair is not "
                           "merged then. 0 is 1, of bpe 2"});
    table.flag(vocabulary.unk, "unk",
               {.help = "have <unk> in the vocabulary even if no word is left out, so that any "
                        "prompt and text can be read"});
    table.choice(split, "split", {.value = kSplits, .help = kSplitHelp});
    table.flag(no_lowercase, "no-lowercase",
               {.help = "keep capital letters apart from small ones, as bpe always does"});
    training.visit_machine(table);
  }
};

template <class T>
int train_as(const TrainOptions& options, RunRecord record, const Checkpoint<T>* resumed) {
  Random random(options.training.seed.seed);
  std::optional<Tokenizer> known;
  if (resumed != nullptr) {
    known = resumed->model.tokenizer;
  } else if (options.tokenizer_file) {
    known = read_tokenizer_json(*options.tokenizer_file).with_split(options.split);
  }
  const bool exact = find_tokenizer_kind(options.tokenizer)->exact;
  const CorpusOptions reading = known ? known->reading()
                                      : CorpusOptions{.lowercase = !options.no_lowercase && !exact,
                                                      .exact = exact,
                                                      .split = options.split};
  Corpus corpus = Corpus::read(options.corpus, reading);
  const Tokenizer tokenizer =
      known ? *known : Tokenizer::of(corpus, options.tokenizer, options.vocabulary);
  const std::size_t block_size = options.shape.block_size;
  if (reading.split == Split::window) corpus = tokenizer.windows(std::move(corpus), block_size);
  corpus.shuffle(random);
  record.text = corpus.fingerprint();

  const std::optional<Corpus> held_out = hold_out(options.training, corpus, tokenizer, block_size);
  if (options.training.val) record.held_out = held_out->fingerprint();

  GptConfig shape = options.shape;
  shape.vocab_size = tokenizer.size();
  try {
    shape.validate();
  } catch (const ConfigError& error) {  // the flags are each in range, but don't go together
    throw UsageError(error.what());
  }
  const TrainConfig config = train_config(options.training, corpus);
  Gpt<T> model = resumed != nullptr ? Gpt<T>(resumed->model.weights.view()) : Gpt<T>(shape, random);
  return run_training<T>({options.training, model, tokenizer, corpus,
                          held_out ? &*held_out : nullptr, config, record, resumed});
}

int train(TrainOptions& options, OptionTable& table) {
  const auto resumed = read_resumed("train", options.training, table);
  check_options(options.training, options.corpus,
                {{"--tokenizer-file", options.tokenizer_file.value_or("")}});
  try {
    options.vocabulary.validate(*find_tokenizer_kind(options.tokenizer));
  } catch (const ConfigError& error) {
    throw UsageError(error.what());
  }
  const RunRecord record{"train", "", "", table.settings()};
  if (resumed)
    return std::visit([&](const auto& from) { return train_as(options, record, &from); }, *resumed);
  return options.precision == Precision::twofold ? train_as<double>(options, record, nullptr)
                                                 : train_as<float>(options, record, nullptr);
}

}  // namespace

const Command train_command = make_command<train>(
    "train", "train a model on a text file",
    "Reads a text, builds the vocabulary from its words or characters, trains a model and writes "
    "it to one file. "
    "The lines are shuffled once by the seed; step i takes the next sentences in that order, "
    "around and around. SIGINT, SIGTERM and SIGHUP finish the step, write the model as it then is "
    "and a checkpoint for --resume, and say so; a second one does not wait for the step. Nothing "
    "is printed to standard output.",
    {"glassbox train data/first_grade.txt --out cats.safetensors",
     "glassbox train poems.txt --epochs 3 --batch-size 16 --n-embd 64 --log-file run.csv"});

}  // namespace glassbox::cli
