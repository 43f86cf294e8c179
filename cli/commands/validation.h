// A training measured on text that it does not learn from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/commands/training_options.h"
#include "infer/score.h"
#include "train/checkpoint.h"

namespace glassbox::cli {

// The text that --val or --val-fraction holds out, if one does; with --val-fraction it is taken out
// of the corpus. Throws FormatError if one of the two would be left without a line.
std::optional<Corpus> hold_out(const TrainingOptions& options, Corpus& corpus,
                               const Tokenizer& tokenizer, std::size_t block_size);

// Measures the model every so many steps and keeps the best. It changes nothing of the run, and its
// numbers depend on neither batches nor threads: they are those of `glassbox eval`.
template <class T>
class Validation {
 public:
  // Goes on from `best`, if there is one. All but that must outlive it. Throws VocabularyError.
  Validation(const TrainingOptions& options, std::uint64_t steps, const Corpus& text,
             const Tokenizer& tokenizer, std::size_t block_size, const BestModel<T>* best);

  bool due(std::uint64_t step) const { return step % every_ == 0; }
  // The loss of the model as it is after that step.
  double measure(std::uint64_t step, WeightsView<T> weights);
  // --patience is over.
  bool has_stopped() const { return patience_ > 0 && best_ && best_->worse_since >= patience_; }
  std::uint64_t patience() const { return patience_; }
  // nullptr as long as nothing has been measured.
  const BestModel<T>* best() const { return best_ ? &*best_ : nullptr; }

  std::size_t tokens() const { return tokens_; }
  // What can be compared across tokenizers: a line's end counts as a character.
  double bits_a_character(double loss) const;

 private:
  const Tokenizer& tokenizer_;
  std::vector<std::vector<TokenId>> sentences_;
  std::size_t tokens_ = 0, characters_ = 0;  // that are predicted: lines are cut to the block
  std::uint64_t every_, patience_;
  std::size_t most_threads_;
  std::optional<BestModel<T>> best_;
};

extern template class Validation<float>;
extern template class Validation<double>;

}  // namespace glassbox::cli
