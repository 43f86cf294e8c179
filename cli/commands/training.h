// What train and finetune have in common: flags to settings, the run with its log, its progress and
// its signals, the model file at the end, and what is told of it all.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "nn/gpt.h"
#include "train/trainer.h"

namespace glassbox::cli {

// The options that both have. What a command's default differs in it sets in its own constructor.
struct TrainingOptions {
  std::string out;
  std::optional<std::string> log_file;
  std::uint64_t log_every = 1;
  std::optional<std::uint64_t> inspect_every, sample_every;
  std::optional<std::uint64_t> steps, epochs;
  std::uint64_t default_steps;
  TrainConfig adam;  // its batch size, learning rate and the rest of Adam
  bool detect_anomaly = false;
  SeedOption seed;
  ThreadsOption threads;

  TrainingOptions(const char* file, std::uint64_t count, double learning_rate)
      : out(file), default_steps(count) {
    adam.learning_rate = learning_rate;
  }
  // The groups Files and Training, and after a command's own groups Machine.
  void visit(OptionTable& table, const char* out_help, const char* steps_help);
  void visit_machine(OptionTable& table);
};

// What can be told before anything is read. Throws UsageError if a file that is to be written is
// one of those that are read, under whatever name, or if both are the same; FileError if --out
// can't be written.
void check_options(const TrainingOptions& options, std::initializer_list<InputFile> inputs);

// Throws UsageError for settings that don't go together.
TrainConfig train_config(const TrainingOptions& options, const Corpus& corpus);

// Trains, writes the model to --out, tells the result; returns the exit status. `at_the_end` is
// called with the trained weights before "wrote FILE" is told.
template <class T>
int run_training(const TrainingOptions& options, Gpt<T>& model, const Tokenizer& tokenizer,
                 const Corpus& corpus, const TrainConfig& config,
                 const std::function<void(WeightsView<T>)>& at_the_end = {});

}  // namespace glassbox::cli
