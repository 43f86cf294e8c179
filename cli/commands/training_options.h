// The options that train and finetune have in common, and what they mean.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "train/checkpoint.h"
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
  bool detect_anomaly = false, find_lr = false;
  double val_fraction = 0;
  std::optional<std::string> val;
  std::optional<std::uint64_t> eval_every, patience;
  std::optional<std::uint64_t> save_every;
  std::size_t keep = 3;
  std::optional<std::string> resume;
  SeedOption seed;
  ThreadsOption threads;

  TrainingOptions(const char* file, std::uint64_t count, double learning_rate)
      : out(file), default_steps(count) {
    adam.learning_rate = learning_rate;
  }
  bool validates() const { return val || val_fraction > 0; }
  // The groups Files, Training and Validation, and after a command's own groups Machine.
  void visit(OptionTable& table, const char* out_help, const char* steps_help);
  void visit_machine(OptionTable& table);
};

// The checkpoint that --resume names, if it does: what shaped its run is set in the options, which
// `table` lists, and --out, unless it is given, to the model file beside it. Throws UsageError for
// options that say something else, FormatError also for a checkpoint of another command.
std::optional<AnyCheckpoint> read_resumed(const char* command, TrainingOptions& options,
                                          OptionTable& table);

// What can be told before anything is read. Throws UsageError if a file that is to be written is
// one of those that are read, under whatever name, or if both are the same; FileError if --out
// can't be written or a folder of the corpus has no text.
void check_options(const TrainingOptions& options, const std::vector<std::string>& corpus,
                   std::vector<InputFile> inputs);

// Throws UsageError for settings that don't go together.
TrainConfig train_config(const TrainingOptions& options, const Corpus& corpus);

}  // namespace glassbox::cli
