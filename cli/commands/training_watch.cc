#include "cli/commands/training_watch.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "infer/generate.h"
#include "inspect/anomaly.h"

namespace glassbox::cli {

namespace {

constexpr std::size_t kSamples = 3;

std::string as_json(const std::vector<PlaceNorm>& places) {
  JsonWriter json;
  json.begin_object();
  for (const PlaceNorm& place : places) json.member(place.place, place.norm);
  return json.end_object().take();
}

}  // namespace

template <class T>
Watch<T>::Watch(const TrainingOptions& options, Gpt<T>& model, const Tokenizer& tokenizer,
                const Corpus& corpus, const TrainConfig& config, TrainLog* log, std::uint64_t step)
    : model_(model),
      tokenizer_(tokenizer),
      corpus_(corpus),
      config_(config),
      log_(log),
      detect_(options.detect_anomaly),
      inspect_every_(options.inspect_every.value_or(0)),
      sample_every_(options.sample_every.value_or(0)),
      step_(step) {
  if (detect_) model.name_tokens(&tokenizer);
}

template <class T>
void Watch<T>::before(const Batch& batch) {
  ++step_;
  if (detect_) detect(batch);
  if (!due(inspect_every_)) return;
  norms_ = gradient_norms(model_, batch);
  const T* weights = model_.weights().data;
  weights_.assign(weights, weights + model_.layout().slab_size());
}

template <class T>
void Watch<T>::after() {
  if (due(inspect_every_)) {
    const auto ratios = update_ratios(model_.layout(), weights_.data(), model_.weights().data);
    log_->write_event(step_, fmt::format(R"("event":"inspect","grad_norms":{},"update_ratios":{})",
                                         as_json(norms_), as_json(ratios)));
  }
  if (due(sample_every_)) write_samples();
}

template <class T>
void Watch<T>::detect(const Batch& batch) {
  const auto anomaly = find_anomaly(model_, batch);
  if (!anomaly) return;
  std::string where;
  if (anomaly->sentence) {
    const std::size_t line =
        ((step_ - 1) * config_.sentences_a_step() + *anomaly->sentence) % corpus_.size();
    where = fmt::format(", in line {} of {}: {}", corpus_.line_number(line), corpus_.name(),
                        json_quote(corpus_[line]));
  }
  throw NumericError(fmt::format("step {}: {}{}", step_, anomaly->text(), where));
}

// The same coins each time, so that what changes is the model.
template <class T>
void Watch<T>::write_samples() {
  Decoder<T> decoder(model_.weights(), tokenizer_);
  Sampler sampler({.temperature = 0.8});
  std::string sentences;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const auto written = generate_tokens(decoder, sampler, std::span<const TokenId>(), 0,
                                         UniformStream(config_.seed, i));
    sentences += (i == 0 ? "" : ",") + json_quote(repaired_utf8(tokenizer_.decode(written.tokens)));
  }
  log_->write_event(step_, fmt::format(R"("event":"samples","sentences":[{}])", sentences));
}

template class Watch<float>;
template class Watch<double>;

}  // namespace glassbox::cli
