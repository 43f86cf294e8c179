#include "cli/options.h"

namespace glassbox::cli {

namespace {

constexpr unsigned kTrain = 1, kSample = 2, kEval = 4, kHelp = 8, kMan = 16, kCompletion = 32;
constexpr unsigned kComputing = kTrain | kSample | kEval;
constexpr unsigned kAll = kComputing | kHelp | kMan | kCompletion;

constexpr Range kNone{};
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range above(double low) { return {.low = low, .above_low = true}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }
constexpr Range below(double high) { return {.high = high, .below_high = true}; }

using enum Type;

constexpr Option kOptions[] = {
    // Files
    {"out", "", 'o', file, "FILE", "model.safetensors", kNone,
     "the model file to write: weights, shape, vocabulary, all that sample needs", "Files", kTrain},
    {"log-file", "", 0, file, "FILE", "", kNone,
     "log of the run: CSV if FILE ends in .csv, else JSON lines; columns step, loss, lr, tokens",
     "Files", kTrain},
    {"log-every", "", 0, integer, "N", "1", at_least(1), "log every Nth step", "Files", kTrain},

    // Length of the run
    {"steps", "", 0, integer, "N", "5000", at_least(0),
     "optimiser steps; 0 writes the untrained model", "Training", kTrain},
    {"epochs", "", 0, integer, "N", "", at_least(1), "passes over the corpus, instead of --steps",
     "Training", kTrain},
    {"batch-size", "", 0, integer, "B", "1", between(1, 1e6),
     "sentences a step; the loss is the mean over them of each one's mean", "Training", kTrain},
    {"learning-rate", "lr", 0, number, "X", "0.01", above(0), "learning rate of the first step",
     "Training", kTrain},
    {"lr-schedule", "", 0, choice, "linear|constant", "linear", kNone,
     "linear falls to 0 over the run: learning rate * (1 - step / steps), step from 0", "Training",
     kTrain},
    {"beta1", "", 0, number, "X", "0.85", below(1), "Adam's decay of the mean gradient", "Training",
     kTrain},
    {"beta2", "", 0, number, "X", "0.99", below(1), "Adam's decay of the mean squared gradient",
     "Training", kTrain},
    {"adam-epsilon", "", 0, number, "X", "1e-8", above(0), "Adam's term against division by 0",
     "Training", kTrain},

    // Shape
    {"n-layer", "", 0, integer, "N", "2", between(1, 1e6), "layers", "Model", kTrain},
    {"n-embd", "", 0, integer, "N", "32", between(1, 1e6),
     "width of a token's vector; a multiple of --n-head", "Model", kTrain},
    {"n-head", "", 0, integer, "N", "4", between(1, 1e6), "attention heads a layer", "Model",
     kTrain},
    {"block-size", "", 0, integer, "N", "16", between(1, 1e6),
     "positions a sentence may have, its beginning counted; a longer one is cut", "Model", kTrain},
    {"precision", "", 0, choice, "float|double", "float", kNone,
     "of the arithmetic and of the file", "Model", kTrain},
    {"no-lowercase", "", 0, flag, "", "", kNone, "keep capital letters apart from small ones",
     "Model", kTrain},

    // What is asked of a trained model
    {"prompt", "", 'p', text, "TEXT", "", kNone, "begin the sentence with these words", "Sampling",
     kSample},
    {"prompt-file", "", 'f', file, "FILE", "", kNone,
     "one prompt a line, blank lines skipped; - is standard input", "Sampling", kSample},
    {"num-samples", "", 0, integer, "N", "20", at_least(1),
     "sentences for each prompt, one a line; an empty sentence is an empty line", "Sampling",
     kSample},
    {"max-tokens", "", 'n', integer, "N", "", at_least(1),
     "tokens after the prompt; without it, to the end of the model's block", "Sampling", kSample},
    {"temperature", "temp", 0, number, "X", "0.8", at_least(0),
     "below 1 keeps to the likely, above 1 dares more; 0 always takes the likeliest word",
     "Sampling", kSample},
    {"top-k", "", 0, integer, "K", "0", at_least(0),
     "draw from the K likeliest words; ties go to the lowest id; 0 is off", "Sampling", kSample},
    {"top-p", "", 0, number, "P", "1", between(0, 1),
     "draw from the fewest likeliest words whose probabilities sum to at least P; 1 is off",
     "Sampling", kSample},
    {"per-line", "", 0, flag, "", "", kNone,
     "a row a line of the text as well: line, loss, tokens; the totals then go to standard error",
     "Output", kEval},
    {"json", "", 0, flag, "", "", kNone,
     "an object a sentence: text, tokens (ids), logprobs (ln of what the model gives each token, "
     "before "
     "temperature and filters), finish_reason (stop or length), seed",
     "Output", kSample},
    {"json", "", 0, flag, "", "", kNone,
     "one object: loss, perplexity, tokens; with --per-line the rows too, as lines", "Output",
     kEval},

    // Every command that computes
    {"batch-size", "", 0, integer, "B", "1", between(1, 1e6),
     "lines at a time; the result does not depend on it", "Machine", kEval},
    {"seed", "", 0, integer, "S", "42", between(0, 4294967295.0),
     "the same seed and the same file give the same bits", "Machine", kTrain},
    {"seed", "", 0, integer, "S", "42", between(0, 4294967295.0),
     "sentence i of a prompt depends on S, i and the prompt alone", "Machine", kSample},
    {"threads", "", 0, integer, "N", "", between(1, 1024),
     "threads to compute with; without it, as many as pay. Results do not depend on it", "Machine",
     kComputing},
    {"help", "", 'h', flag, "", "", kNone, "show this help", "Help", kAll},
};

constexpr Operand kTrainOperands[] = {{"CORPUS", "text file, UTF-8, one sentence a line"}};
constexpr Operand kSampleOperands[] = {{"MODEL", "model file, as train writes it"}};
constexpr Operand kEvalOperands[] = {{"MODEL", "model file, as train writes it"},
                                     {"TEXT", "text file, UTF-8, one sentence a line"}};
constexpr Operand kHelpOperands[] = {{"[COMMAND]", "the command to explain"}};
constexpr Operand kManOperands[] = {{"[COMMAND]", "the command to describe"}};
constexpr Operand kCompletionOperands[] = {{"SHELL", "bash, zsh or fish"}};

constexpr const char* kTrainExamples[] = {
    "glassbox train data/first_grade.txt --out cats.safetensors",
    "glassbox train poems.txt --epochs 3 --batch-size 16 --n-embd 64 --log-file run.csv",
};
constexpr const char* kSampleExamples[] = {
    "glassbox sample cats.safetensors --num-samples 5 --prompt 'the cat'",
    "glassbox sample cats.safetensors --temp 0 --prompt-file beginnings.txt --json",
};
constexpr const char* kEvalExamples[] = {
    "glassbox eval cats.safetensors data/first_grade.txt",
    "glassbox eval cats.safetensors poems.txt --per-line > losses.csv",
};
constexpr const char* kHelpExamples[] = {"glassbox help train", "glassbox sample --help"};
constexpr const char* kManExamples[] = {"glassbox man sample | man -l -",
                                        "glassbox man train > glassbox-train.1"};
constexpr const char* kCompletionExamples[] = {
    "source <(glassbox completion bash)",
    "glassbox completion fish > ~/.config/fish/completions/glassbox.fish",
};

constexpr Command kCommands[] = {
    {"train", kTrain, "train a model on a text file",
     "Reads a text, builds the vocabulary from its words, trains a model and writes it to one "
     "file. The "
     "lines are shuffled once by the seed; step i takes the next sentences in that order, around "
     "and "
     "around. SIGINT and SIGTERM finish the step, write the model as it then is and say so. "
     "Nothing is "
     "printed to standard output.",
     kTrainOperands, kTrainExamples, train_command},
    {"sample", kSample, "let a model write sentences",
     "Writes sentences to standard output, one a line. A prompt's words stand at the beginning of "
     "its "
     "sentences. The logits are divided by the temperature, then top-k and top-p each cut what the "
     "one "
     "before left, scaled to sum 1, and one uniform number draws the word.",
     kSampleOperands, kSampleExamples, sample_command},
    {"eval", kEval, "measure a model on a text",
     "Prints the mean loss in nats a token (words and ends of sentences), the perplexity and the "
     "number "
     "of tokens. Each line is cut to the model's block as in training.",
     kEvalOperands, kEvalExamples, eval_command},
    {"help", kHelp, "explain a command",
     "Shows every option of a command with its default and range, or lists the commands.",
     kHelpOperands, kHelpExamples, help_command},
    {"man", kMan, "write a manual page",
     "Writes the manual page of a command, or of the program, to standard output.", kManOperands,
     kManExamples, man_command},
    {"completion", kCompletion, "write a shell's completions",
     "Writes completions of commands, options, listed values and file names for bash, zsh or fish.",
     kCompletionOperands, kCompletionExamples, completion_command},
};

}  // namespace

std::span<const Option> options() { return kOptions; }
std::span<const Command> commands() { return kCommands; }

}  // namespace glassbox::cli
