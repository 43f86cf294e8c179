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

std::uint64_t steps_of(const TrainingOptions& options, std::size_t sentences) {
  if (!options.epochs) return options.steps.value_or(options.default_steps);
  const std::uint64_t epochs = *options.epochs, batch_size = options.adam.batch_size;
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
  Watch(const TrainingOptions& options, Gpt<T>& model, const Tokenizer& tokenizer,
        const Corpus& corpus, const TrainConfig& config, TrainLog* log)
      : model_(model),
        tokenizer_(tokenizer),
        corpus_(corpus),
        config_(config),
        log_(log),
        detect_(options.detect_anomaly),
        inspect_every_(options.inspect_every.value_or(0)),
        sample_every_(options.sample_every.value_or(0)) {
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
    JsonWriter json;
    json.begin_object();
    for (const PlaceNorm& place : places) json.member(place.place, place.norm);
    return json.end_object().take();
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
  std::uint64_t inspect_every_, sample_every_, step_ = 0;
  std::vector<PlaceNorm> norms_;  // of the step to come
  std::vector<T> weights_;        // before it
};

// Trains until the end or a signal.
template <class T>
Summary run_steps(Trainer<T>& trainer, TrainLog* log, std::uint64_t log_every, Watch<T>& watch,
                  Progress& progress) {
  Summary run;
  const auto after_step = [&](const StepStats& stats) {
    run.add(stats);
    if (log != nullptr && (stats.step % log_every == 0 || trainer.done())) log->write(stats);
    watch.after();
    progress.step(stats);
  };
  try {
    trainer.run(after_step, [] { return g_signal != 0; });
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
  progress.leave();
  return run;
}

// How often the run sees each line.
double passes(const TrainConfig& config, const Corpus& corpus) {
  const double lines = static_cast<double>(config.steps) * static_cast<double>(config.batch_size);
  return lines / static_cast<double>(corpus.size());
}

template <class T>
void tell_start(const Gpt<T>& model, const Tokenizer& tokenizer, const Corpus& corpus,
                const TrainConfig& config) {
  std::size_t tokens = 0, parameters = 0;
  for (std::size_t i = 0; i < corpus.size(); ++i)
    for (std::size_t at = 0; !tokenizer.kind().next(corpus[i], at).empty();) ++tokens;
  for (const ParameterSpec& p : model.layout().parameters()) parameters += p.size();
  print_status(
      fmt::format("{}: {} line{}, {} {}s; vocabulary of {} tokens, model of {} parameters; "
                  "{:.3g} passes",
                  corpus.name(), corpus.size(), corpus.size() == 1 ? "" : "s", tokens,
                  tokenizer.kind().name, tokenizer.size(), parameters, passes(config, corpus)));
}

// What to do about a run that could do better.
void advise(const Summary& run, double guess, double passes) {
  constexpr double kEnough = 0.5;  // of the text: to have seen less is seldom meant
  if (run.recent_loss() > guess) {
    print_status("that is worse than a guess: try more --steps or another --learning-rate");
  } else if (passes < kEnough) {
    print_status(
        fmt::format("the run saw {:.0f}% of the lines: more --steps or a larger "
                    "--batch-size see more",
                    100 * passes));
  }
}

}  // namespace

void TrainingOptions::visit(OptionTable& table, const char* out_help, const char* steps_help) {
  table.group("Files");
  table.file(out, "out", {.letter = 'o', .value = "FILE", .help = out_help});
  table.file(log_file, "log-file",
             {.value = "FILE",
              .help = "log of the run: CSV if FILE ends in .csv, else JSON lines; columns step, "
                      "loss, lr, tokens"});
  table.integer(log_every, "log-every",
                {.value = "N", .range = at_least(1), .help = "log every Nth step, and the last"});
  table.integer(inspect_every, "inspect-every",
                {.value = "N",
                 .range = at_least(1),
                 .help = "for the report, every Nth step: gradient norms and update ratios of each "
                         "part of the model, into the log"});
  table.integer(sample_every, "sample-every",
                {.value = "N",
                 .range = at_least(1),
                 .help = "for the report, every Nth step: sentences from the same random numbers, "
                         "into the log"});
  table.group("Training");
  table.integer(steps, "steps", {.value = "N", .help = steps_help}).default_value =
      std::to_string(default_steps);
  table.integer(epochs, "epochs",
                {.value = "N",
                 .range = at_least(1),
                 .help = "passes over the corpus, instead of --steps; the last batch may be "
                         "shorter"});
  table.integer(adam.batch_size, "batch-size",
                {.value = "B",
                 .range = between(1, 16384),
                 .help = "sentences a step; the loss is the mean over them of each one's mean"});
  table.number(
      adam.learning_rate, "learning-rate",
      {.alias = "lr", .value = "X", .range = above(0), .help = "learning rate of the first step"});
  table.choice(adam.lr_schedule, "lr-schedule",
               {.value = "linear|constant",
                .help = "linear falls to 0 over the run: learning rate * (1 - step / steps), step "
                        "from 0"});
  table.number(adam.beta1, "beta1",
               {.value = "X", .range = below(1), .help = "Adam's decay of the mean gradient"});
  table.number(
      adam.beta2, "beta2",
      {.value = "X", .range = below(1), .help = "Adam's decay of the mean squared gradient"});
  table.number(adam.epsilon, "adam-epsilon",
               {.value = "X", .range = above(0), .help = "Adam's term against division by 0"});
  table.flag(detect_anomaly, "detect-anomaly",
             {.help = "look at every step's scalars first: the first that is NaN or infinite, "
                      "forward or backward, is named with its operation, operands and sentence; "
                      "takes more than twice the time"});
}

void TrainingOptions::visit_machine(OptionTable& table) {
  table.group("Machine");
  seed.visit(table, "the same seed and the same file give the same bits");
  threads.visit(table);
}

void check_options(const TrainingOptions& options, std::initializer_list<InputFile> inputs) {
  if (options.steps && options.epochs) {
    throw UsageError("--epochs: expected --steps or --epochs, found both; leave one out");
  }
  const std::string& out = options.out;
  const std::string log = options.log_file.value_or("");
  refuse_overwriting("out", out, inputs);
  if (!log.empty()) refuse_overwriting("log-file", log, inputs);
  if (!log.empty() && (same_file(log, out) || same_file(log, out + ".tmp"))) {
    throw UsageError(fmt::format(
        "--log-file: expected another file than --out, found {}; it would be lost", log));
  }
  for (const auto& [given, option] : {std::pair(options.inspect_every, "inspect-every"),
                                      std::pair(options.sample_every, "sample-every")})
    if (given && (log.empty() || log.ends_with(".csv")))
      throw UsageError(
          fmt::format("--{0}: expected a --log-file of JSON lines, found {1}; write for instance "
                      "--log-file run.jsonl",
                      option, log.empty() ? "none" : log));
  check_writable(out);
}

TrainConfig train_config(const TrainingOptions& options, const Corpus& corpus) {
  TrainConfig config = options.adam;
  config.threads = options.threads.threads.value_or(0);
  config.steps = steps_of(options, corpus.size());
  if (options.epochs) config.sentences = *options.epochs * corpus.size();
  config.seed = options.seed.seed;
  try {
    config.validate();
  } catch (const ConfigError& error) {  // the flags are each in range, but don't go together
    throw UsageError(error.what());
  }
  return config;
}

template <class T>
int run_training(const TrainingOptions& options, Gpt<T>& model, const Tokenizer& tokenizer,
                 const Corpus& corpus, const TrainConfig& config,
                 const std::function<void(WeightsView<T>)>& at_the_end) {
  const std::string& out = options.out;
  Trainer<T> trainer(model, tokenizer, corpus, config);
  std::optional<TrainLog> log;
  if (options.log_file) log.emplace(*options.log_file);
  if (const CutSentences& cut = trainer.cut_sentences(); cut.count > 0) {
    warn_of_cut_lines(cut.count, model.config().block_size - 1, corpus.name(), cut.first_line);
  }
  tell_start(model, tokenizer, corpus, config);
  Watch<T> watch(options, model, tokenizer, corpus, config, log ? &*log : nullptr);
  if (watch.any()) trainer.before_each_step([&](const Batch& batch) { watch.before(batch); });
  const SignalScope signals;
  Progress progress(config.steps);
  const Summary run = run_steps(trainer, log ? &*log : nullptr, options.log_every, watch, progress);
  write_model(out, model.weights(), tokenizer, trainer.provenance());

  if (!trainer.done()) {
    complain(fmt::format("interrupted by {} after step {} of {}; the model as it then was is in {}",
                         g_signal == SIGINT ? "SIGINT" : "SIGTERM", run.last.step, config.steps,
                         out));
    return 128 + g_signal;
  }
  print_status(fmt::format("trained {} step{} in {:.2f} s", config.steps,
                           config.steps == 1 ? "" : "s", progress.seconds()));
  const double guess = std::log(static_cast<double>(tokenizer.size()));
  print_status(
      fmt::format("a uniform guess among {} tokens costs {:.4f}", tokenizer.size(), guess));
  if (config.steps > 0) {
    print_status(fmt::format("first loss {:.4f}", run.first.loss));
    print_status(fmt::format(
        "last loss {:.4f}; mean of the last {} {:.4f}: a chance of {:.1f}% a token, in the "
        "geometric mean",
        run.last.loss, run.recent.size(), run.recent_loss(), 100 * std::exp(-run.recent_loss())));
    advise(run, guess, passes(config, corpus));
  }
  if (at_the_end) at_the_end(model.weights());
  print_status(fmt::format("wrote {}", out));
  return 0;
}

template int run_training(const TrainingOptions&, Gpt<float>&, const Tokenizer&, const Corpus&,
                          const TrainConfig&, const std::function<void(WeightsView<float>)>&);
template int run_training(const TrainingOptions&, Gpt<double>&, const Tokenizer&, const Corpus&,
                          const TrainConfig&, const std::function<void(WeightsView<double>)>&);

}  // namespace glassbox::cli
