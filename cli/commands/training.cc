// See training.h.
#include "cli/commands/training.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "infer/generate.h"
#include "inspect/anomaly.h"
#include "inspect/gradients.h"
#include "model/model_file.h"
#include "train/train_log.h"

namespace glassbox::cli {

namespace {

// The signal that asked for an end, or 0.
volatile std::sig_atomic_t g_signal = 0;

// SIGINT and SIGTERM set g_signal while it lives: the step is finished, then the model is saved.
class SignalScope {
 public:
  SignalScope() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { g_signal = signal; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
  }
  ~SignalScope() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  struct sigaction interrupt_, terminate_;
};

std::uint64_t steps_of(const Arguments& arguments, std::size_t sentences, std::size_t batch_size) {
  if (!arguments.given("epochs")) return arguments.integer("steps");
  const std::uint64_t epochs = arguments.integer("epochs");
  if (epochs > std::numeric_limits<std::uint64_t>::max() / 2 / sentences) {
    throw UsageError(
        fmt::format("--epochs: expected fewer passes over {} sentences, found {}; use --steps",
                    sentences, epochs));
  }
  return (epochs * sentences + batch_size - 1) / batch_size;
}

constexpr std::size_t kRecent = 100;  // steps: one alone says little where a batch is one sentence

// What is told of a run when it is over. The step of `first` and `last` is 0 if there was none.
struct Summary {
  StepStats first{}, last{};
  std::vector<double> recent;  // the last kRecent losses, in no order

  void add(const StepStats& stats) {
    last = stats;
    if (stats.step == 1) first = stats;
    if (recent.size() < kRecent) {
      recent.push_back(stats.loss);
    } else {
      recent[stats.step % kRecent] = stats.loss;
    }
  }
  double recent_loss() const {
    return std::accumulate(recent.begin(), recent.end(), 0.0) / static_cast<double>(recent.size());
  }
};

// What --detect-anomaly, --inspect-every and --sample-every look at, before and after a step. The
// run does not depend on it.
template <class T>
class Watch {
 public:
  Watch(const Arguments& arguments, Gpt<T>& model, const Tokenizer& tokenizer, const Corpus& corpus,
        const TrainConfig& config, TrainLog* log)
      : model_(model),
        tokenizer_(tokenizer),
        corpus_(corpus),
        config_(config),
        log_(log),
        detect_(arguments.given("detect-anomaly")) {
    if (arguments.given("inspect-every")) inspect_every_ = arguments.integer("inspect-every");
    if (arguments.given("sample-every")) sample_every_ = arguments.integer("sample-every");
    if (detect_) model.name_tokens(&tokenizer);
  }
  bool any() const { return detect_ || inspect_every_ > 0 || sample_every_ > 0; }

  void before(const Batch& batch) {
    ++step_;
    if (detect_) detect(batch);
    if (!due(inspect_every_)) return;
    norms_ = gradient_norms(model_, batch);
    const T* weights = model_.weights().data;
    weights_.assign(weights, weights + model_.layout().slab_size());
  }
  void after() {
    if (due(inspect_every_)) {
      const auto ratios = update_ratios(model_.layout(), weights_.data(), model_.weights().data);
      log_->write_event(step_,
                        fmt::format(R"("event":"inspect","grad_norms":{},"update_ratios":{})",
                                    as_json(norms_), as_json(ratios)));
    }
    if (due(sample_every_)) write_samples();
  }

 private:
  static constexpr std::size_t kSamples = 3;

  bool due(std::uint64_t every) const { return every > 0 && step_ % every == 0; }
  static std::string as_json(const std::vector<PlaceNorm>& places) {
    std::string text;
    for (const PlaceNorm& place : places)
      text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_quote(place.place),
                          json_number(place.norm));
    return '{' + text + '}';
  }
  void detect(const Batch& batch) {
    const auto anomaly = find_anomaly(model_, batch);
    if (!anomaly) return;
    std::string where;
    if (anomaly->sentence) {
      const std::size_t line =
          ((step_ - 1) * config_.batch_size + *anomaly->sentence) % corpus_.size();
      where = fmt::format(", in line {} of {}: {}", corpus_.line_number(line), corpus_.name(),
                          json_quote(corpus_[line]));
    }
    throw NumericError(fmt::format("step {}: {}{}", step_, anomaly->text(), where));
  }
  // The same coins each time, so that what changes is the model.
  void write_samples() {
    Decoder<T> decoder(model_.weights(), tokenizer_);
    Sampler sampler({.temperature = 0.8});
    std::string sentences;
    for (std::size_t i = 0; i < kSamples; ++i) {
      const auto written = generate_tokens(decoder, sampler, std::span<const TokenId>(), 0,
                                           UniformStream(config_.seed, i));
      sentences += (i == 0 ? "" : ",") + json_quote(tokenizer_.decode(written.tokens));
    }
    log_->write_event(step_, fmt::format(R"("event":"samples","sentences":[{}])", sentences));
  }

  Gpt<T>& model_;
  const Tokenizer& tokenizer_;
  const Corpus& corpus_;
  const TrainConfig& config_;
  TrainLog* log_;
  bool detect_;
  std::uint64_t inspect_every_ = 0, sample_every_ = 0, step_ = 0;
  std::vector<PlaceNorm> norms_;  // of the step to come
  std::vector<T> weights_;        // before it
};

// Trains until the end or a signal.
template <class T>
Summary run_steps(Trainer<T>& trainer, TrainLog* log, std::uint64_t log_every, Watch<T>& watch,
                  Progress& progress) {
  Summary run;
  while (!trainer.done() && g_signal == 0) {
    try {
      run.add(trainer.step());
    } catch (const NumericError&) {
      progress.leave();
      const TrainConfig& config = trainer.config();
      const LrSchedule schedule{config.lr_schedule, config.learning_rate, config.steps};
      const std::uint64_t before = run.last.step;
      // The line of the step that failed is kept: a log that just stops would hide what happened.
      if (log != nullptr) {
        log->write({before + 1, std::nan(""), schedule.at(before), run.last.tokens});
      }
      throw;
    }
    if (log != nullptr && run.last.step % log_every == 0) log->write(run.last);
    watch.after();
    progress.step(run.last);
  }
  progress.leave();
  return run;
}

}  // namespace

void check_arguments(const Arguments& arguments, std::initializer_list<InputFile> inputs) {
  if (arguments.given("steps") && arguments.given("epochs")) {
    throw UsageError("--epochs: expected --steps or --epochs, found both; leave one out");
  }
  const std::string& out = arguments.text("out");
  const std::string& log = arguments.text("log-file");
  refuse_overwriting("out", out, inputs);
  if (!log.empty()) refuse_overwriting("log-file", log, inputs);
  if (!log.empty() && (same_file(log, out) || same_file(log, out + ".tmp"))) {
    throw UsageError(fmt::format(
        "--log-file: expected another file than --out, found {}; it would be lost", log));
  }
  for (const char* option : {"inspect-every", "sample-every"})
    if (arguments.given(option) && (log.empty() || log.ends_with(".csv")))
      throw UsageError(
          fmt::format("--{0}: expected a --log-file of JSON lines, found {1}; write for instance "
                      "--log-file run.jsonl",
                      option, log.empty() ? "none" : log));
  check_writable(out);
}

TrainConfig train_config(const Arguments& arguments, const Corpus& corpus) {
  TrainConfig config;
  config.batch_size = arguments.integer("batch-size");
  if (arguments.given("threads")) config.threads = arguments.integer("threads");
  config.steps = steps_of(arguments, corpus.size(), config.batch_size);
  if (arguments.given("epochs")) config.sentences = arguments.integer("epochs") * corpus.size();
  config.learning_rate = arguments.number("learning-rate");
  config.lr_schedule = arguments.text("lr-schedule") == "constant" ? LrSchedule::Kind::constant
                                                                   : LrSchedule::Kind::linear;
  config.beta1 = arguments.number("beta1");
  config.beta2 = arguments.number("beta2");
  config.epsilon = arguments.number("adam-epsilon");
  config.seed = static_cast<std::uint32_t>(arguments.integer("seed"));
  try {
    config.validate();
  } catch (const ConfigError& error) {  // the flags are each in range, but don't go together
    throw UsageError(error.what());
  }
  return config;
}

template <class T>
int run_training(const Arguments& arguments, Gpt<T>& model, const Tokenizer& tokenizer,
                 const Corpus& corpus, const TrainConfig& config,
                 const std::function<void(WeightsView<T>)>& at_the_end) {
  const std::string& out = arguments.text("out");
  Trainer<T> trainer(model, tokenizer, corpus, config);
  std::optional<TrainLog> log;
  if (arguments.given("log-file")) log.emplace(arguments.text("log-file"));
  if (const CutSentences& cut = trainer.cut_sentences(); cut.count > 0) {
    warn_of_cut_lines(cut.count, model.config().block_size - 1, corpus.name(), cut.first_line);
  }
  Watch<T> watch(arguments, model, tokenizer, corpus, config, log ? &*log : nullptr);
  if (watch.any()) trainer.before_each_step([&](const Batch& batch) { watch.before(batch); });
  const SignalScope signals;
  Progress progress(config.steps);
  const Summary run =
      run_steps(trainer, log ? &*log : nullptr, arguments.integer("log-every"), watch, progress);
  write_model(out, model.weights(), tokenizer, trainer.provenance());

  if (!trainer.done()) {
    complain(fmt::format("interrupted by {} after step {} of {}; the model as it then was is in {}",
                         g_signal == SIGINT ? "SIGINT" : "SIGTERM", run.last.step, config.steps,
                         out));
    return 128 + g_signal;
  }
  print_status(fmt::format("trained {} steps in {:.2f} s", config.steps, progress.seconds()));
  print_status(fmt::format("random guess {:.4f} = ln({} words and ends)",
                           std::log(static_cast<double>(tokenizer.size())), tokenizer.size()));
  if (config.steps > 0) {
    print_status(fmt::format("first loss {:.4f}", run.first.loss));
    print_status(fmt::format(
        "last loss {:.4f}; mean of the last {} {:.4f}: {:.1f}% on the right word", run.last.loss,
        run.recent.size(), run.recent_loss(), 100 * std::exp(-run.recent_loss())));
  }
  if (at_the_end) at_the_end(model.weights());
  print_status(fmt::format("wrote {}", out));
  return 0;
}

template int run_training(const Arguments&, Gpt<float>&, const Tokenizer&, const Corpus&,
                          const TrainConfig&, const std::function<void(WeightsView<float>)>&);
template int run_training(const Arguments&, Gpt<double>&, const Tokenizer&, const Corpus&,
                          const TrainConfig&, const std::function<void(WeightsView<double>)>&);

}  // namespace glassbox::cli
