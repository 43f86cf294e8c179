// What a training looks at while it runs, for the log and the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands/training_options.h"
#include "inspect/gradients.h"
#include "nn/gpt.h"
#include "train/train_log.h"
#include "train/trainer.h"

namespace glassbox::cli {

// What --detect-anomaly, --inspect-every and --sample-every look at, before and after a step. The
// run does not depend on it.
template <class T>
class Watch {
 public:
  // All arguments must outlive it; `log` may be null. `step` steps have been done.
  Watch(const TrainingOptions& options, Gpt<T>& model, const Tokenizer& tokenizer,
        const Corpus& corpus, const TrainConfig& config, TrainLog* log, std::uint64_t step);
  bool any() const { return detect_ || inspect_every_ > 0 || sample_every_ > 0; }

  // Throws NumericError, naming the scalar, for an anomaly that is looked for.
  void before(const Batch& batch);
  void after();

 private:
  bool due(std::uint64_t every) const { return every > 0 && step_ % every == 0; }
  void detect(const Batch& batch);
  void write_samples();

  Gpt<T>& model_;
  const Tokenizer& tokenizer_;
  const Corpus& corpus_;
  const TrainConfig& config_;
  TrainLog* log_;
  bool detect_;
  std::uint64_t inspect_every_, sample_every_, step_;
  std::vector<PlaceNorm> norms_;  // of the step to come
  std::vector<T> weights_;        // before it
};

extern template class Watch<float>;
extern template class Watch<double>;

}  // namespace glassbox::cli
