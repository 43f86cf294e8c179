// A training as train and finetune have it: the run with its log, its checkpoints, its progress and
// its signals, the model file at the end, and what is told of it all.
#pragma once

#include <functional>

#include "cli/commands/training_options.h"
#include "nn/gpt.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace glassbox::cli {

// All but the functions must outlive the run.
template <class T>
struct Training {
  const TrainingOptions& options;
  Gpt<T>& model;
  const Tokenizer& tokenizer;
  const Corpus& corpus;
  const Corpus* held_out;  // to be measured on; null: nothing is
  const TrainConfig& config;
  const RunRecord& record;       // for the checkpoints
  const Checkpoint<T>* resumed;  // to go on from there; null: a run from its beginning
  // Called with the trained weights before "wrote FILE" is told.
  std::function<void(WeightsView<T>)> at_the_end = {};
};

// Trains, writes the model to --out, tells the result; returns the exit status.
template <class T>
int run_training(const Training<T>& training);

}  // namespace glassbox::cli
