#include "cli/commands/training_options.h"

#include <fmt/core.h>

#include <limits>

#include "base/error.h"
#include "base/file.h"

namespace glassbox::cli {

namespace {

std::uint64_t steps_of(const TrainingOptions& options, std::size_t sentences) {
  if (!options.epochs) return options.steps.value_or(options.default_steps);
  const std::uint64_t epochs = *options.epochs, each = options.adam.sentences_a_step();
  if (epochs > std::numeric_limits<std::uint64_t>::max() / 2 / sentences) {
    throw UsageError(
        fmt::format("--epochs: expected fewer passes over {} sentences, found {}; use --steps",
                    sentences, epochs));
  }
  return (epochs * sentences + each - 1) / each;
}

}  // namespace

void TrainingOptions::visit(OptionTable& table, const char* out_help, const char* steps_help) {
  table.group("Files");
  table.file(
      out, "out",
      {.letter = 'o', .value = "FILE", .help = out_help, .per_run = true, .not_with = "find-lr"});
  table.file(log_file, "log-file",
             {.value = "FILE",
              .help = "log of the run: CSV if FILE ends in .csv, else JSON lines; columns step, "
                      "loss, lr, tokens",
              .per_run = true,
              .not_with = "find-lr"});
  table.integer(log_every, "log-every",
                {.value = "N",
                 .range = at_least(1),
                 .help = "log every Nth step, and the last",
                 .per_run = true,
                 .only_with = "log-file"});
  table.integer(inspect_every, "inspect-every",
                {.value = "N",
                 .range = at_least(1),
                 .help = "for the report, every Nth step: gradient norms and update ratios of each "
                         "part of the model, into the log",
                 .per_run = true});
  table.integer(sample_every, "sample-every",
                {.value = "N",
                 .range = at_least(1),
                 .help = "for the report, every Nth step: sentences from the same random numbers, "
                         "into the log",
                 .per_run = true});
  table.integer(save_every, "save-every",
                {.value = "N",
                 .range = at_least(1),
                 .help = "every Nth step a checkpoint beside --out: from cats.safetensors "
                         "cats.step-00000100.safetensors",
                 .per_run = true,
                 .not_with = "find-lr"});
  table.integer(
      keep, "keep",
      {.value = "K",
       .range = at_least(1),
       .help = "checkpoints to keep of those that this run writes; older ones are removed",
       .per_run = true});
  table.file(resume, "resume",
             {.value = "FILE",
              .help = "go on from this checkpoint, to the very bits of a run without a break: give "
                      "the same text again; what shaped the run is set as it was",
              .per_run = true,
              .not_with = "find-lr"});
  table.group("Training");
  table.integer(steps, "steps", {.value = "N", .help = steps_help, .not_with = "find-lr"})
      .default_value = std::to_string(default_steps);
  table.integer(epochs, "epochs",
                {.value = "N",
                 .range = at_least(1),
                 .help = "passes over the corpus, instead of --steps; the last batch may be "
                         "shorter",
                 .not_with = "find-lr"});
  table.integer(adam.batch_size, "batch-size",
                {.value = "B",
                 .range = between(1, 16384),
                 .help = "sentences a step; the loss is the mean over them of each one's mean"});
  table.integer(adam.grad_accum, "grad-accum",
                {.value = "A",
                 .range = between(1, 16384),
                 .help = "batches a step: the same bits as A times the --batch-size, in the memory "
                         "of one batch"});
  table.number(adam.learning_rate, "learning-rate",
               {.alias = "lr",
                .value = "X",
                .range = above(0),
                .help = "the largest learning rate",
                .not_with = "find-lr"});
  table.choice(adam.lr_schedule, "lr-schedule",
               {.value = "linear|cosine|constant",
                .help = "linear falls to 0 over the run: learning rate * (1 - step / steps), step "
                        "from 0; cosine falls slowly, fast, slowly",
                .not_with = "find-lr"});
  table.integer(adam.warmup_steps, "warmup-steps",
                {.value = "N",
                 .range = at_least(0),
                 .help = "steps in which the learning rate rises to its full height first",
                 .not_with = "find-lr"});
  table.number(adam.min_lr, "min-lr",
               {.value = "X",
                .range = at_least(0),
                .help = "where linear and cosine end, instead of at 0",
                .not_with = "find-lr lr-schedule=constant"});
  table.choice(adam.optimizer, "optimizer",
               {.value = "adam|adamw|sgd",
                .help = "what turns gradients into steps; adamw is adam with a weight decay that "
                        "the gradients don't scale, sgd plain gradient descent"});
  table.number(adam.beta1, "beta1",
               {.value = "X",
                .range = below(1),
                .help = "Adam's decay of the mean gradient",
                .not_with = "optimizer=sgd"});
  table.number(adam.beta2, "beta2",
               {.value = "X",
                .range = below(1),
                .help = "Adam's decay of the mean squared gradient",
                .not_with = "optimizer=sgd"});
  table.number(adam.epsilon, "adam-epsilon",
               {.value = "X",
                .range = above(0),
                .help = "Adam's term against division by 0",
                .not_with = "optimizer=sgd"});
  table.number(adam.momentum, "momentum",
               {.value = "X",
                .range = below(1),
                .help = "of sgd: how much of the last step goes on in the next; 0.9 is usual",
                .not_with = "optimizer=adam optimizer=adamw"});
  table.number(adam.weight_decay, "weight-decay",
               {.value = "X",
                .range = at_least(0),
                .help = "draws every weight towards 0: adamw by learning rate * X of itself a "
                        "step, adam and sgd by X of itself in its gradient"});
  table.number(adam.grad_clip, "grad-clip",
               {.value = "X",
                .range = at_least(0),
                .help = "scales the gradient of all parameters down to this norm where it is "
                        "larger; 1 is usual, 0 is off"});
  table.number(adam.dropout, "dropout",
               {.value = "P",
                .range = below(1),
                .help = "in training each number that attention and perceptron add to the stream, "
                        "and the stream's beginning, is 0 with this chance; 0.1 is usual, against "
                        "learning by heart"});
  table.flag(find_lr, "find-lr",
             {.help = "train nothing: print the loss at learning rates from 1e-5 on in one short "
                      "run, and a rate to begin with; no file is written",
              .per_run = true});
  table.flag(detect_anomaly, "detect-anomaly",
             {.help = "look at every step's scalars first: the first that is NaN or infinite, "
                      "forward or backward, is named with its operation, operands and sentence; "
                      "takes more than twice the time",
              .per_run = true,
              .not_with = "find-lr"});
  table.group("Validation");
  table.number(val_fraction, "val-fraction",
               {.value = "F",
                .range = below(1),
                .help = "hold out so much of the lines, the last of the shuffled order: the run is "
                        "measured on them and the best model is the one that is written",
                .not_with = "find-lr"});
  table.file(val, "val",
             {.value = "FILE",
              .help = "the same with a text of its own",
              .per_run = true,
              .not_with = "find-lr"});
  table.integer(eval_every, "eval-every",
                {.value = "N",
                 .range = at_least(1),
                 .help = "measure every Nth step, and after the last; without it ten times a run"});
  table.integer(patience, "patience",
                {.value = "N",
                 .range = at_least(1),
                 .help = "end the run when N measurements in a row have found no better model"});
}

void TrainingOptions::visit_machine(OptionTable& table) {
  table.group("Machine");
  seed.visit(table, "the same seed and the same file give the same bits");
  threads.visit(table);
}

std::optional<AnyCheckpoint> read_resumed(const char* command, TrainingOptions& options,
                                          OptionTable& table) {
  if (!options.steps && !options.epochs && !options.resume) options.steps = options.default_steps;
  if (!options.resume) return {};
  AnyCheckpoint checkpoint = read_checkpoint(*options.resume);
  const RunRecord& record =
      std::visit([](const auto& c) -> const RunRecord& { return c.record; }, checkpoint);
  if (record.command != command)
    throw FormatError(
        fmt::format("{}: expected a checkpoint of {}, found one of {}; resume it with "
                    "that command",
                    *options.resume, command, record.command));
  table.restore(record.settings, *options.resume);
  const std::string beside = model_path_of(*options.resume);
  if (!table.is_given("out") && !beside.empty()) options.out = beside;
  return checkpoint;
}

void check_options(const TrainingOptions& options, const std::vector<std::string>& corpus,
                   std::vector<InputFile> inputs) {
  for (const std::string& file : text_files(corpus)) inputs.push_back({"CORPUS", file});
  if (options.steps && options.epochs) {
    throw UsageError("--epochs: expected --steps or --epochs, found both; leave one out");
  }
  if (options.val && options.val_fraction > 0)
    throw UsageError("--val: expected --val-fraction or --val, found both; leave one out");
  for (const auto& [given, option] :
       {std::pair(options.eval_every, "eval-every"), std::pair(options.patience, "patience")})
    if (given && !options.validates() && !options.resume)  // a resumed run is asked for its text
      throw UsageError(
          fmt::format("--{}: expected a text to measure on, found none; write for instance "
                      "--val-fraction 0.1",
                      option));
  const std::string& out = options.out;
  const std::string log = options.log_file.value_or("");
  refuse_overwriting("out", out, inputs);
  const InputFile own[] = {{"--resume", options.resume.value_or("")},
                           {"--val", options.val.value_or("")}};
  refuse_overwriting("out", out, {own[0], own[1]});
  if (!log.empty()) refuse_overwriting("log-file", log, inputs);
  if (!log.empty()) refuse_overwriting("log-file", log, {own[0], own[1]});
  if (!log.empty() && (same_file(log, out) || same_file(log, temporary_of(out)))) {
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
  if (options.save_every) check_writable(checkpoint_path(out, *options.save_every));
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

}  // namespace glassbox::cli
