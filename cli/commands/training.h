// What train and finetune have in common: flags to settings, the run with its log, its progress and
// its signals, the model file at the end, and what is told of it all.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "cli/options/options.h"
#include "cli/output.h"
#include "nn/gpt.h"
#include "train/trainer.h"

namespace glassbox::cli {

// What can be told before anything is read. Throws UsageError if a file that is to be written is
// one of those that are read, under whatever name, or if both are the same; FileError if --out
// can't be written.
void check_arguments(const Arguments& arguments, std::initializer_list<InputFile> inputs);

// From the flags. Throws UsageError for settings that don't go together.
TrainConfig train_config(const Arguments& arguments, const Corpus& corpus);

// Trains, writes the model to --out, tells the result; returns the exit status. `at_the_end` is
// called with the trained weights before "wrote FILE" is told.
template <class T>
int run_training(const Arguments& arguments, Gpt<T>& model, const Tokenizer& tokenizer,
                 const Corpus& corpus, const TrainConfig& config,
                 const std::function<void(WeightsView<T>)>& at_the_end = {});

}  // namespace glassbox::cli
