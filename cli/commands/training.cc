// See training.h.
#include "cli/commands/training.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <filesystem>
#include <numeric>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "cli/commands/find_lr.h"
#include "cli/commands/training_watch.h"
#include "cli/commands/validation.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "model/model_file.h"
#include "train/train_log.h"

namespace glassbox::cli {

namespace {

constexpr std::size_t kRecent = 100;  // steps: one alone says little where a batch is one sentence

// What is told of a run when it is over. The step of `first` and `last` is 0 if there was none.
struct Summary {
  StepStats first{}, last{};
  std::vector<double> recent;  // the last kRecent losses, in no order

  void add(const StepStats& stats) {
    last = stats;
    if (recent.empty()) first = stats;
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

// The checkpoints that this run writes beside its model file.
template <class T>
class Checkpoints {
 public:
  Checkpoints(const TrainingOptions& options, const RunRecord& record)
      : out_(options.out),
        every_(options.save_every.value_or(0)),
        keep_(options.keep),
        record_(record) {}

  bool due(std::uint64_t step) const { return every_ > 0 && step % every_ == 0; }
  // The path of the last one, or "".
  std::string last() const { return written_.empty() ? "" : written_.back(); }
  // Writes one, if this step has none yet, then removes the oldest of the run's own that are too
  // many. Returns its path.
  std::string write(Trainer<T>& trainer, const BestModel<T>* best) {
    const std::string path = checkpoint_path(out_, trainer.steps_done());
    if (last() == path) return path;
    write_checkpoint(path, trainer, record_, best);
    written_.push_back(path);
    for (; written_.size() > keep_; written_.pop_front()) {
      std::error_code none;
      std::filesystem::remove(written_.front(), none);
    }
    return path;
  }

 private:
  const std::string& out_;
  std::uint64_t every_;
  std::size_t keep_;
  const RunRecord& record_;
  std::deque<std::string> written_;
};

// Steps until the end, a signal or the end of all patience, with all that is written meanwhile.
template <class T>
class Run {
 public:
  Run(const Training<T>& training, Trainer<T>& trainer, TrainLog* log)
      : trainer_(trainer),
        log_(log),
        log_every_(training.options.log_every),
        watch_(training.options, training.model, training.tokenizer, training.corpus,
               training.config, log, trainer.steps_done()),
        checkpoints_(training.options, training.record),
        progress_(training.config.steps, trainer.steps_done()) {
    const BestModel<T>* best = nullptr;
    if (training.resumed != nullptr && training.resumed->best) best = &*training.resumed->best;
    if (training.held_out != nullptr) {
      validation_.emplace(training.options, training.config.steps, *training.held_out,
                          training.tokenizer, training.model.config().block_size, best);
      print_status(fmt::format("held out of {}: {} line{}, {} tokens", training.held_out->name(),
                               training.held_out->size(), training.held_out->size() == 1 ? "" : "s",
                               validation_->tokens()));
    }
    if (watch_.any()) trainer.before_each_step([&](const Batch& batch) { watch_.before(batch); });
  }

  Summary steps() {
    Summary run;
    try {
      trainer_.run(
          [&](const StepStats& stats) {
            run.add(stats);
            write_log(stats, validate(stats.step));
            progress_.step(stats);
            if (checkpoints_.due(stats.step)) save();
          },
          [&] { return Interrupts::signal() != 0 || has_stopped(); });
    } catch (const NumericError& error) {
      progress_.leave();
      log_failed_step(run.last);
      if (checkpoints_.last().empty()) throw;
      throw NumericError(
          fmt::format("{}; the last checkpoint is {}", error.what(), checkpoints_.last()));
    } catch (...) {
      progress_.leave();
      throw;
    }
    Interrupts::no_more_steps();
    progress_.leave();
    return run;
  }
  // Writes a checkpoint and returns its path.
  std::string save() { return checkpoints_.write(trainer_, best()); }
  // --patience has ended the run.
  bool has_stopped() const { return validation_ && validation_->has_stopped(); }
  const std::optional<Validation<T>>& validation() const { return validation_; }
  const BestModel<T>* best() const { return validation_ ? validation_->best() : nullptr; }
  double seconds() const { return progress_.seconds(); }

 private:
  std::optional<double> validate(std::uint64_t step) {
    if (!validation_ || !(validation_->due(step) || trainer_.done())) return {};
    const double loss = validation_->measure(step, trainer_.weights());
    progress_.validated(loss);
    return loss;
  }
  void write_log(const StepStats& stats, std::optional<double> val_loss) try {
    if (log_ != nullptr && (stats.step % log_every_ == 0 || trainer_.done() || val_loss))
      log_->write(stats, val_loss);
    watch_.after();
  } catch (const FileError& error) {  // the run ends, but not without what it has learnt
    progress_.leave();
    std::string saved;
    try {
      saved = fmt::format("the run is saved as {}, for --resume", save());
    } catch (const Error& second) {
      saved = fmt::format("nor can the run be saved: {}", second.what());
    }
    throw FileError(fmt::format("{}; {}", error.what(), saved));
  }
  // The line of the step that failed is kept: a log that just stops would hide what happened.
  void log_failed_step(const StepStats& last) {
    if (log_ == nullptr) return;
    const std::uint64_t done = trainer_.steps_done();
    log_->write({done + 1, std::nan(""), trainer_.config().schedule().at(done), last.tokens});
  }

  Trainer<T>& trainer_;
  TrainLog* log_;
  std::uint64_t log_every_;
  Watch<T> watch_;
  Checkpoints<T> checkpoints_;
  std::optional<Validation<T>> validation_;
  Progress progress_;
};

// How often the run sees each line.
double passes(const TrainConfig& config, const Corpus& corpus) {
  const double lines =
      static_cast<double>(config.steps) * static_cast<double>(config.sentences_a_step());
  return lines / static_cast<double>(corpus.size());
}

// What to type where the choices are bad for the text, or "". `lengths` are the lines' tokens.
std::string advice_on(const GptConfig& shape, const Tokenizer& tokenizer, const Corpus& corpus,
                      std::vector<std::size_t> lengths) {
  constexpr std::size_t kMany = 10;               // a line in so many is cut
  constexpr std::size_t kFew = 3;                 // tokens of the text for each of the vocabulary
  constexpr std::size_t kLeast = 300;             // tokens: less text is a trial
  const std::size_t most = shape.block_size - 1;  // tokens of a line that is learnt with its end
  const std::size_t tokens = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  if (corpus.options().split != Split::window) {
    const auto cut = static_cast<std::size_t>(
        std::ranges::count_if(lengths, [&](std::size_t length) { return length > most; }));
    if (corpus.size() == 1 && cut == 1)
      return fmt::format(
          "the text is one line, of which {} are learnt: --split sentence or --split window cuts "
          "it into more",
          counted(most, tokenizer.kind().unit));
    if (cut * kMany > corpus.size()) {
      const auto enough = lengths.end() - static_cast<std::ptrdiff_t>(lengths.size() / kMany) - 1;
      std::ranges::nth_element(lengths, enough);
      return fmt::format(
          "{:.0f}% of the {}s are longer than the block and lose their ends: --block-size {} holds "
          "nine in ten, --split window loses nothing",
          100 * static_cast<double>(cut) / static_cast<double>(corpus.size()),
          name_of(corpus.options().split), std::bit_ceil(*enough + 1));
    }
  }
  if (!tokenizer.kind().exact && tokens >= kLeast && tokenizer.size() * kFew > tokens)
    return fmt::format(
        "the vocabulary has {} tokens for {} of the text, so most are too rare to learn: "
        "--tokenizer bpe --block-size {} makes them of pieces, --min-count 2 leaves the rarest "
        "out",
        tokenizer.size(), tokens, std::bit_ceil(2 * shape.block_size));
  return "";
}

template <class T>
void tell_start(const Gpt<T>& model, const Tokenizer& tokenizer, const Corpus& corpus,
                const TrainConfig& config) {
  std::size_t tokens = 0, parameters = 0;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    lengths.push_back(tokenizer.encode(corpus[i]).size());
    tokens += lengths.back();
  }
  for (const ParameterSpec& p : model.layout().parameters()) parameters += p.size();
  print_status(
      fmt::format("{}: {}, {}; vocabulary of {} tokens, model of {} parameters; "
                  "{:.3g} passes",
                  corpus.name(), counted(corpus.size(), name_of(corpus.options().split)),
                  counted(tokens, tokenizer.kind().unit), tokenizer.size(), parameters,
                  passes(config, corpus)));
  if (const std::string advice = advice_on(model.config(), tokenizer, corpus, std::move(lengths));
      !advice.empty())
    print_status(advice);
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

// A new run does not empty the log of an old one, which gets another name: from run.csv run.1.csv.
void keep_old_log(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0) return;
  const fs::path log = fs::is_symlink(path) ? fs::canonical(path) : fs::path(path);  // a link stays
  fs::path kept = log;
  for (std::size_t n = 1; fs::exists(kept, error); ++n)
    kept.replace_filename(log.stem().string() + fmt::format(".{}", n) + log.extension().string());
  fs::rename(log, kept, error);
  if (error)
    throw FileError(
        fmt::format("{}: the log of an earlier run can't be renamed: {}; choose "
                    "another file",
                    path, error.message()));
  print_status(fmt::format("{}: the log of an earlier run is now {}", path, kept.string()));
}

// Throws FormatError if that is not the text that the run was begun with.
void check_text(const RunRecord& begun, const RunRecord& given, const std::string& checkpoint,
                const std::string& text) {
  if (begun.text != given.text)
    throw FormatError(fmt::format(
        "{}: expected the text with which {} was begun (fingerprint {}), found another ({}); give "
        "the same text, or train on with glassbox finetune",
        text, checkpoint, begun.text, given.text));
  if (begun.held_out != given.held_out)
    throw UsageError(fmt::format("--val: expected {} with which {} was begun, found {}",
                                 begun.held_out.empty() ? "none," : "the text", checkpoint,
                                 given.held_out.empty()   ? "none; give it again"
                                 : begun.held_out.empty() ? "one; leave it out"
                                                          : "another; give the same again"));
}

}  // namespace

template <class T>
int run_training(const Training<T>& training) {
  const auto& [options, model, tokenizer, corpus, held_out, config, record, resumed, at_the_end] =
      training;
  if (options.find_lr) return find_learning_rate(training);
  const std::string& out = options.out;
  if (resumed != nullptr) check_text(resumed->record, record, *options.resume, corpus.name());
  Trainer<T> trainer(model, tokenizer, corpus, config);
  if (resumed != nullptr) trainer.resume(resumed->state);
  const std::uint64_t begun = trainer.steps_done();
  std::optional<TrainLog> log;
  if (options.log_file) {
    TrainLogConfig columns{.val_loss = held_out != nullptr};
    if (resumed != nullptr) {
      columns.steps_done = begun;
    } else {
      keep_old_log(*options.log_file);
    }
    log.emplace(*options.log_file, columns);
  }
  if (const CutSentences& cut = trainer.cut_sentences(); cut.count > 0) {
    warn_of_cut_lines(cut.count, model.config().block_size - 1, corpus.name(),
                      corpus.place(cut.first), tokenizer.kind().unit);
  }
  tell_start(model, tokenizer, corpus, config);
  if (resumed == nullptr && std::filesystem::is_regular_file(out))
    print_status(fmt::format("{}: there is one already, which will be replaced", out));
  if (resumed != nullptr)
    print_status(fmt::format("{}: {} of {} steps are done", *options.resume, begun, config.steps));

  const Interrupts interrupts;
  Run<T> run(training, trainer, log ? &*log : nullptr);
  const Summary summary = run.steps();
  const BestModel<T>* const best = run.best();
  const WeightsView<T> result = best != nullptr ? best->weights.view() : model.weights();
  write_model(out, result, tokenizer,
              best != nullptr ? trainer.provenance(best->measured) : trainer.provenance());

  if (!trainer.done() && !run.has_stopped()) {
    const std::string saved = run.save();
    const std::string which = best != nullptr ? fmt::format(
                                                    "the best model so far, that of step "
                                                    "{},",
                                                    best->measured.step)
                                              : "the model as it then was";
    complain(
        fmt::format("interrupted by {} after step {} of {}; {} is in {}; to go on, add "
                    "--resume {}",
                    Interrupts::name(), trainer.steps_done(), config.steps, which, out, saved));
    return 128 + Interrupts::signal();
  }
  const std::uint64_t made = trainer.steps_done() - begun;
  print_status(fmt::format("trained {} in {:.2f} s", counted(made, "step"), run.seconds()));
  const double guess = std::log(static_cast<double>(tokenizer.size()));
  print_status(
      fmt::format("a uniform guess among {} tokens costs {:.4f}", tokenizer.size(), guess));
  if (made > 0) {
    print_status(begun == 0 ? fmt::format("first loss {:.4f}", summary.first.loss)
                            : fmt::format("loss of step {} {:.4f}", begun + 1, summary.first.loss));
    const double percent = 100 * std::exp(-summary.recent_loss());
    print_status(
        fmt::format("last loss {:.4f}; mean of the last {} {:.4f}: a chance of {}% a token, in the "
                    "geometric mean",
                    summary.last.loss, summary.recent.size(), summary.recent_loss(),
                    percent < 1 ? fmt::format("{:.2g}", percent) : fmt::format("{:.1f}", percent)));
    advise(summary, guess, passes(config, corpus));
  }
  if (run.has_stopped())
    print_status(
        fmt::format("stopped after step {} of {}: {} measurement{} in a row found no better "
                    "model",
                    trainer.steps_done(), config.steps, run.validation()->patience(),
                    run.validation()->patience() == 1 ? "" : "s"));
  if (best != nullptr)
    print_status(
        fmt::format("validation loss {:.4f}, best after step {}: perplexity {:.1f}, {:.3f} "
                    "bits a character",
                    best->measured.loss, best->measured.step, std::exp(best->measured.loss),
                    run.validation()->bits_a_character(best->measured.loss)));
  if (at_the_end) at_the_end(result);
  print_status(fmt::format("wrote {}", out));
  return 0;
}

template int run_training(const Training<float>&);
template int run_training(const Training<double>&);

}  // namespace glassbox::cli
