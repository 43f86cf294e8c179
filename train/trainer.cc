#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "autograd/scope.h"
#include "base/error.h"
#include "base/json.h"

namespace glassbox {

void TrainConfig::validate() const {
  if (batch_size < 1) throw ConfigError("batch_size: expected at least 1, found 0");
  if (grad_accum < 1) throw ConfigError("grad_accum: expected at least 1, found 0");
  if (!(learning_rate > 0 && std::isfinite(learning_rate)))
    throw ConfigError(
        fmt::format("learning_rate: expected a finite number above 0, found {}", learning_rate));
  optimizer_config().validate();
  if (!(dropout >= 0 && dropout < 1))
    throw ConfigError(
        fmt::format("dropout: expected a number from 0 up to but not 1, found {}", dropout));
  if (warmup_steps > steps)
    throw ConfigError(fmt::format(
        "warmup_steps: expected at most the {} steps of the run, found {}", steps, warmup_steps));
  if (!(min_lr >= 0 && min_lr <= learning_rate))
    throw ConfigError(
        fmt::format("min_lr: expected a number from 0 to the learning rate, {}, found {}",
                    learning_rate, min_lr));
  if (min_lr > 0 && lr_schedule == LrSchedule::Kind::constant)
    throw ConfigError(fmt::format(
        "min_lr: expected 0 for a constant learning rate, found {}; leave one out", min_lr));
  const std::uint64_t each = sentences_a_step();
  const std::uint64_t needed = sentences / each + (sentences % each != 0 ? 1 : 0);
  if (sentences != 0 && steps != needed)
    throw ConfigError(fmt::format("steps: expected {} for {} sentences in batches of {}, found {}",
                                  needed, sentences, each, steps));
}

namespace {
std::vector<ParameterBlock> blocks_of(const ParameterLayout& layout,
                                      const std::vector<std::string>& names) {
  std::vector<ParameterBlock> blocks;
  for (const std::string& name : names) {
    const ParameterSpec* const p = layout.find(name);
    if (p == nullptr) throw ConfigError("frozen: expected a parameter's name, found " + name);
    blocks.push_back(p->in_memory());
  }
  return blocks;
}
}  // namespace

template <class T>
Trainer<T>::Trainer(Gpt<T>& model, const Tokenizer& tokenizer, const Corpus& corpus,
                    const TrainConfig& config)
    : model_(model),
      tokenizer_(tokenizer),
      corpus_(corpus),
      config_(config),
      optimizer_(model.tape(), model.layout().slab_size(), config.optimizer_config(),
                 blocks_of(model.layout(), config.frozen)),
      schedule_(config.schedule()) {
  config_.validate();
  if (tokenizer.size() != model.config().vocab_size)
    throw ConfigError(fmt::format("vocab_size: expected the tokenizer's {}, found {}",
                                  tokenizer.size(), model.config().vocab_size));
  const std::size_t most = model.config().block_size + 1;  // tokens, BOS at the front
  starts_.push_back(0);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const auto sentence = tokenizer.encode_line(corpus, i);
    if (sentence.size() > most && !corpus.goes_on(i)) {
      if (cut_.count++ == 0 || corpus.comes_before(i, cut_.first)) cut_.first = i;
      cut_.first_line = corpus.line_number(cut_.first);
    }
    const std::size_t kept = std::min(most, sentence.size());
    tokens_.insert(tokens_.end(), sentence.begin(),
                   sentence.begin() + static_cast<std::ptrdiff_t>(kept));
    starts_.push_back(tokens_.size());
  }
  reserve_tape();
  const std::size_t threads = config.threads ? config.threads : threads_that_pay();
  if (threads > 1) {
    threads_ = std::make_unique<kernels::Threads>(threads);
    model.tape().set_threads(threads_.get());
  }
}

// The tape's memory is made once, for the largest of the batches, so that no step pays for another
// that was smaller.
template <class T>
void Trainer<T>::reserve_tape() {
  const std::size_t sentences = starts_.size() - 1;
  const auto rows_of = [&](std::size_t i) {
    return static_cast<std::size_t>(starts_[i + 1] - starts_[i] - 1);
  };
  std::size_t longest = 0;
  for (std::size_t i = 0; i < sentences; ++i) longest = std::max(longest, rows_of(i));
  // A batch begins with any sentence, goes on from the first after the last, and may hold all of
  // them several times.
  const std::size_t all = starts_.back() - sentences, part = config_.batch_size % sentences;
  std::size_t rows = 0, most = 0;
  for (std::size_t i = 0; i < part; ++i) rows += rows_of(i);
  for (std::size_t i = 0; i < sentences; ++i) {
    most = std::max(most, rows);
    rows += rows_of((i + part) % sentences) - rows_of(i);
  }
  Tape<T>& tape = model_.tape();
  const std::size_t scalars = model_.scalars_of_step(most + config_.batch_size / sentences * all,
                                                     longest, config_.dropout > 0);
  // More than a tape can number: the step that needs so much says it.
  if (scalars < kNoNode - tape.size()) tape.reserve(scalars);
}

template <class T>
Trainer<T>::~Trainer() {
  if (threads_) model_.tape().set_threads(nullptr);
  model_.set_dropout({});
}

template <class T>
std::size_t Trainer<T>::threads_that_pay() const {
  // Multiply-adds a step: eight sentences of the default model. There a free core makes a step 1.4
  // times as fast, and one that is busy costs a sixth; below, meetings cost more than is gained.
  constexpr std::size_t kLeastWork = 8'000'000;
  const std::size_t positions = tokens_.size() / corpus_.size() * config_.batch_size;
  return positions * 3 * model_.layout().slab_size() >= kLeastWork ? kernels::allowed_cores() : 1;
}

template <class T>
void Trainer<T>::resume(State state) {
  if (state.step > config_.steps)
    throw ConfigError(fmt::format("steps: expected at least the {} that are done, found {}",
                                  state.step, config_.steps));
  optimizer_.restore(std::move(state.optimizer));
  step_ = state.step;
  trained_tokens_ = state.tokens;
}

template <class T>
void Trainer<T>::fill_batch(std::uint64_t first, std::uint64_t count, std::uint64_t of_step) {
  batch_.clear();
  for (std::uint64_t j = first; j < first + count; ++j) {
    const std::size_t i = index(j);
    batch_.add(std::span(tokens_).subspan(starts_[i], starts_[i + 1] - starts_[i]),
               model_.config().block_size);
  }
  batch_.set_weights(of_step);
  model_.set_dropout({config_.dropout, config_.seed, step_, first});
}

template <class T>
StepStats Trainer<T>::step(double learning_rate) {
  if (done())
    throw ConfigError(fmt::format(
        "steps: expected at most {}, and they are done; make a trainer with more", config_.steps));
  std::uint64_t sentences = config_.sentences_a_step();
  if (config_.sentences != 0)
    sentences = std::min(sentences, config_.sentences - step_ * config_.sentences_a_step());
  if (look_) {
    fill_batch(0, sentences, sentences);
    look_(batch_);
  }
  Tape<T>& tape = model_.tape();
  tape.zero_grad();
  double mean = 0;  // in double: a float's sum over a large batch would show in the log
  for (std::uint64_t first = 0; first < sentences; first += config_.batch_size) {
    const std::uint64_t count = std::min<std::uint64_t>(config_.batch_size, sentences - first);
    fill_batch(first, count, sentences);
    const StepScope<T> scope(tape);
    const auto loss = model_.loss(batch_);
    for (std::size_t n = 0; n < batch_.rows(); ++n)
      mean += batch_.weights[n] * static_cast<double>(loss.rows.data(n, 0));
    if (!std::isfinite(mean))
      throw NumericError(fmt::format(
          "step {}: expected a finite loss, found {} in the batch that begins with {} of {}; "
          "try a smaller learning rate",
          step_ + 1,
          std::isnan(mean) ? std::nan("") : mean,  // not "-nan": a NaN's sign says nothing
          corpus_.place(index(first)), corpus_.name()));
    // The sums of the parts' gradients go on where they were, a chain over all rows.
    if (first + count < sentences)
      loss.mean.backward();
    else
      optimizer_.backward_step(loss.mean, learning_rate, config_.keep_gradients);
    trained_tokens_ += batch_.rows();
  }
  ++step_;
  return {step_, mean, learning_rate, trained_tokens_};
}

template <class T>
void Trainer<T>::run(const std::function<void(const StepStats&)>& on_step,
                     const std::function<bool()>& stop) {
  while (!done() && !(stop && stop())) {
    const StepStats stats = step();
    if (on_step) on_step(stats);
  }
}

template <class T>
std::string Trainer<T>::provenance(const std::optional<Validated>& best) const {
  JsonWriter json;
  json.begin_object()
      .member("seed", config_.seed)
      .member("steps", best ? best->step : step_)
      .member("batch_size", config_.sentences_a_step())
      .member("learning_rate", config_.learning_rate)
      .member("lr_schedule", LrSchedule::name(config_.lr_schedule));
  if (config_.warmup_steps > 0) json.member("warmup_steps", config_.warmup_steps);
  if (config_.min_lr > 0) json.member("min_lr", config_.min_lr);
  json.member("optimizer", name_of(config_.optimizer));
  if (config_.optimizer == OptimizerKind::sgd)
    json.member("momentum", config_.momentum);
  else
    json.member("beta1", config_.beta1)
        .member("beta2", config_.beta2)
        .member("epsilon", config_.epsilon);
  if (config_.weight_decay > 0) json.member("weight_decay", config_.weight_decay);
  if (config_.grad_clip > 0) json.member("grad_clip", config_.grad_clip);
  if (config_.dropout > 0) json.member("dropout", config_.dropout);
  json.member("sentences", corpus_.size());
  if (best) json.member("val_loss", best->loss);
  if (!config_.parent.empty()) json.member("parent", config_.parent);
  if (!config_.frozen.empty()) json.key("frozen").values(config_.frozen);
  return json.end_object().take();
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace glassbox
