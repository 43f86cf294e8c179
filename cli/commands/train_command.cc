// glassbox train CORPUS
#include "base/error.h"
#include "cli/commands/training.h"

namespace glassbox::cli {

namespace {

template <class T>
int train_as(const Arguments& arguments) {
  check_arguments(arguments, {{"CORPUS", arguments.operand(0)}});
  Random random(static_cast<std::uint32_t>(arguments.integer("seed")));
  Corpus corpus =
      Corpus::read(arguments.operand(0), {.lowercase = !arguments.given("no-lowercase")});
  corpus.shuffle(random);
  const Tokenizer tokenizer = Tokenizer::words(corpus);

  GptConfig shape;
  shape.vocab_size = tokenizer.size();
  shape.block_size = arguments.integer("block-size");
  shape.n_layer = arguments.integer("n-layer");
  shape.n_head = arguments.integer("n-head");
  shape.n_embd = arguments.integer("n-embd");
  try {
    shape.validate();
  } catch (const ConfigError& error) {  // the flags are each in range, but don't go together
    throw UsageError(error.what());
  }
  const TrainConfig config = train_config(arguments, corpus);
  Gpt<T> model(shape, random);
  return run_training(arguments, model, tokenizer, corpus, config);
}

}  // namespace

int train_command(const Arguments& arguments) {
  return arguments.text("precision") == "double" ? train_as<double>(arguments)
                                                 : train_as<float>(arguments);
}

}  // namespace glassbox::cli
