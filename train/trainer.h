// The training loop: batches in the tutorial's order, one step after another, numbers to a
// callback.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/tokenizer.h"
#include "nn/batch.h"
#include "nn/gpt.h"
#include "train/lr_schedule.h"
#include "train/optimizer.h"

namespace glassbox {

struct TrainConfig {
  std::uint64_t steps = 5000;
  std::size_t batch_size = 1;  // sentences that are computed at once
  // Batches a step: the bits of one step of batch_size * grad_accum sentences, in the memory of one
  // of batch_size.
  std::size_t grad_accum = 1;
  // Sentences in all, each as often as it is passed: the last batch ends with the last of them. 0:
  // every batch is full.
  std::uint64_t sentences = 0;
  double learning_rate = 0.01;  // above 0
  LrSchedule::Kind lr_schedule = LrSchedule::Kind::linear;
  std::uint64_t warmup_steps = 0;  // at most `steps`
  double min_lr = 0;               // at most the learning rate; 0 if that is constant
  OptimizerKind optimizer = OptimizerKind::adam;
  double beta1 = 0.85, beta2 = 0.99, epsilon = 1e-8;  // see OptimizerConfig, here and below
  double momentum = 0, weight_decay = 0, grad_clip = 0;
  double dropout = 0;  // in [0, 1), see nn/dropout.h
  std::size_t threads =
      0;  // the results do not depend on it; 0: as many as pay, within the cores allowed
  bool keep_gradients =
      false;  // after each step, for a callback that reads Gpt::parameter(...).grad()
  std::vector<std::string> frozen = {};  // parameters that keep their bits, by name
  std::uint32_t seed = 42;               // of dropout; the caller has shuffled and drawn with it
  // Provenance only: the caller has read it.
  std::string parent = {};  // fingerprint of the model file that the weights come from; "" if none

  LrSchedule schedule() const { return {lr_schedule, learning_rate, steps, warmup_steps, min_lr}; }
  std::uint64_t sentences_a_step() const { return std::uint64_t{batch_size} * grad_accum; }
  OptimizerConfig optimizer_config() const {
    return {beta1, beta2, epsilon, optimizer, momentum, weight_decay, grad_clip};
  }
  // Throws ConfigError naming the setting, its range and what was given.
  void validate() const;
};

struct StepStats {
  std::uint64_t step;  // from 1
  // Nats, before this step's update: the mean over the batch's sentences of each one's mean over
  // its tokens, so that short sentences count as much as long ones.
  double loss;
  double learning_rate;  // of this step
  std::uint64_t tokens;  // predictions trained on so far
};

// What a model scored on text that was held out.
struct Validated {
  std::uint64_t step;  // after which it was measured
  double loss;         // nats a token
};

// Sentences cut to the block: how many, and the first one's line in the file.
struct CutSentences {
  std::size_t count = 0;
  std::size_t first_line = 0;
  std::size_t first = 0;  // in today's order
};

template <class T>
class Trainer {
 public:
  // Encodes the corpus. All arguments but the config must outlive the trainer. Throws ConfigError;
  // VocabularyError for a word that the tokenizer does not know.
  Trainer(Gpt<T>& model, const Tokenizer& tokenizer, const Corpus& corpus,
          const TrainConfig& config);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Where a run is. With the weights, the text and the config all that its other steps depend on:
  // nothing is drawn at random while it trains, and the place in the text follows from the step.
  struct State {
    std::uint64_t step = 0;    // steps done
    std::uint64_t tokens = 0;  // predictions trained on so far
    typename Optimizer<T>::State optimizer = {};
  };
  State state() { return {step_, trained_tokens_, optimizer_.state()}; }
  // Goes on from there, to the bit; the model has the weights of that step already. Throws
  // ConfigError for a step beyond the last and for an optimiser of another size.
  void resume(State state);

  // All the steps that are left, calling back after each. Throws NumericError, naming step and
  // sentence, when a loss is not finite; the weights are then those of before that step.
  // Before each step it asks `stop`, if there is one, and returns early on true.
  void run(const std::function<void(const StepStats&)>& on_step = {},
           const std::function<bool()>& stop = {});
  // One step. Throws ConfigError when all are done.
  StepStats step() { return step(schedule_.at(step_)); }
  // The same at another learning rate than the schedule's.
  StepStats step(double learning_rate);
  // From now on `look` sees each step's batch before the step is computed. What it throws ends the
  // step.
  void before_each_step(std::function<void(const Batch&)> look) { look_ = std::move(look); }
  bool done() const { return step_ == config_.steps; }

  const TrainConfig& config() const { return config_; }
  std::uint64_t steps_done() const { return step_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  WeightsView<T> weights() const { return model_.weights(); }
  const CutSentences& cut_sentences() const { return cut_; }
  // What the model file says of this run: a JSON object as text. With `best` of the model that the
  // run had after that step.
  std::string provenance(const std::optional<Validated>& best = {}) const;

 private:
  std::size_t threads_that_pay() const;
  void reserve_tape();
  // Makes batch_ of sentences of this step: `count` from the one of index `first` on.
  void fill_batch(std::uint64_t first, std::uint64_t count, std::uint64_t of_step);
  std::size_t index(std::uint64_t sentence_of_step) const {
    return (step_ * config_.sentences_a_step() + sentence_of_step) % (starts_.size() - 1);
  }

  Gpt<T>& model_;
  const Tokenizer& tokenizer_;
  const Corpus& corpus_;
  TrainConfig config_;
  std::vector<TokenId>
      tokens_;  // all sentences, one after another, BOS at both ends, cut to the block
  std::vector<std::uint64_t> starts_;  // where sentence i begins; one more entry than sentences
  CutSentences cut_;
  std::unique_ptr<kernels::Threads> threads_;
  Optimizer<T> optimizer_;
  LrSchedule schedule_;
  Batch batch_;
  std::function<void(const Batch&)> look_;
  std::uint64_t step_ = 0;
  std::uint64_t trained_tokens_ = 0;
};

}  // namespace glassbox
