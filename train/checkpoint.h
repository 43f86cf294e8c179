// A run on disk, to be taken up again: one safetensors file that is a model file, too, so that
// weights and moments can't come apart. docs/formats.md describes it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "model/model_file.h"
#include "train/trainer.h"

namespace glassbox {

// What a run was told, for whoever takes it up again to compare or to obey.
struct RunRecord {
  std::string command;   // that started it: "train"
  std::string text;      // fingerprint of the corpus
  std::string held_out;  // fingerprint of a text of its own that it is measured on, "" if none
  std::map<std::string, std::string> settings;  // what shapes the result, as it was written
};

// The model of a run that did best on text that was held out.
template <class T>
struct BestModel {
  Weights<T> weights;
  Validated measured;
  std::uint64_t worse_since;  // evaluations that found no better one
};

template <class T>
struct Checkpoint {
  Model<T> model;
  typename Trainer<T>::State state;
  RunRecord record;
  std::optional<BestModel<T>> best;  // none if nothing was held out, or not measured yet
};

// "cats.step-00000100.safetensors" beside the model file cats.safetensors.
std::string checkpoint_path(const std::string& model_path, std::uint64_t step);
// The model file that such a checkpoint lies beside, or "" for a file of another name.
std::string model_path_of(const std::string& checkpoint_path);

// Written whole or not at all; the trainer can go on. Throws NumericError for a weight that is not
// finite, FileError if the file can't be written.
template <class T>
void write_checkpoint(const std::string& path, Trainer<T>& trainer, const RunRecord& record,
                      const BestModel<T>* best = nullptr);

// Float if the file's tensors are F32, double if they are F64.
using AnyCheckpoint = std::variant<Checkpoint<float>, Checkpoint<double>>;

// Throws FileError, or FormatError as read_model() does and for a model file that is no checkpoint.
AnyCheckpoint read_checkpoint(const std::string& path);

}  // namespace glassbox
