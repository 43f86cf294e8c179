#include "cli/options/options.h"

namespace glassbox::cli {

namespace {

constexpr unsigned kTrain = 1, kSample = 2, kEval = 4, kHelp = 8, kMan = 16, kCompletion = 32;
constexpr unsigned kNext = 1 << 6, kParams = 1 << 7, kGradients = 1 << 8, kGradcheck = 1 << 9,
                   kValue = 1 << 10, kGraph = 1 << 11, kAttention = 1 << 12, kTrace = 1 << 13,
                   kCache = 1 << 14, kNeighbours = 1 << 15, kPlot = 1 << 16, kReport = 1 << 17;
constexpr unsigned kFinetune = 1 << 20, kTraining = kTrain | kFinetune;
constexpr unsigned kComputing = kTraining | kSample | kEval;
constexpr unsigned kAll = ~0u;

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
    {"out", "", 'o', file, "FILE", "finetuned.safetensors", kNone,
     "the model file to write; MODEL itself is refused", "Files", kFinetune},
    {"log-file", "", 0, file, "FILE", "", kNone,
     "log of the run: CSV if FILE ends in .csv, else JSON lines; columns step, loss, lr, tokens",
     "Files", kTraining},
    {"log-every", "", 0, integer, "N", "1", at_least(1), "log every Nth step", "Files", kTraining},
    {"inspect-every", "", 0, integer, "N", "", at_least(1),
     "for the report, every Nth step: gradient norms and update ratios of each part of the model, "
     "into the log",
     "Files", kTraining},
    {"sample-every", "", 0, integer, "N", "", at_least(1),
     "for the report, every Nth step: sentences from the same random numbers, into the log",
     "Files", kTraining},

    // Length of the run
    {"steps", "", 0, integer, "N", "5000", at_least(0),
     "optimiser steps; 0 writes the untrained model", "Training", kTrain},
    {"steps", "", 0, integer, "N", "1000", at_least(0), "optimiser steps", "Training", kFinetune},
    {"epochs", "", 0, integer, "N", "", at_least(1),
     "passes over the corpus, instead of --steps; the last batch may be shorter", "Training",
     kTraining},
    {"batch-size", "", 0, integer, "B", "1", between(1, 16384),
     "sentences a step; the loss is the mean over them of each one's mean", "Training", kTraining},
    {"learning-rate", "lr", 0, number, "X", "0.01", above(0), "learning rate of the first step",
     "Training", kTrain},
    {"learning-rate", "lr", 0, number, "X", "0.001", above(0), "learning rate of the first step",
     "Training", kFinetune},
    {"lr-schedule", "", 0, choice, "linear|constant", "linear", kNone,
     "linear falls to 0 over the run: learning rate * (1 - step / steps), step from 0", "Training",
     kTraining},
    {"beta1", "", 0, number, "X", "0.85", below(1), "Adam's decay of the mean gradient", "Training",
     kTraining},
    {"beta2", "", 0, number, "X", "0.99", below(1), "Adam's decay of the mean squared gradient",
     "Training", kTraining},
    {"adam-epsilon", "", 0, number, "X", "1e-8", above(0), "Adam's term against division by 0",
     "Training", kTraining},

    {"detect-anomaly", "", 0, flag, "", "", kNone,
     "look at every step's scalars first: the first that is NaN or infinite, forward or backward, "
     "is named with its "
     "operation, operands and sentence; takes more than twice the time",
     "Training", kTraining},

    // A model that learns more
    {"extend-vocab", "", 0, flag, "", "", kNone,
     "add words that the model does not know, behind its old ones, with rows drawn by --seed",
     "Fine-tuning", kFinetune},
    {"unk", "", 0, flag, "", "", kNone,
     "read words that the model does not know as <unk>, and from then on in prompts as well",
     "Fine-tuning", kFinetune},
    {"freeze", "", 0, text, "PATTERN", "", kNone,
     "parameters that stay as they are, by name; * stands for any letters, commas part several, "
     "and the option may be "
     "repeated: 'layers.0.*,token_embedding'",
     "Fine-tuning", kFinetune},
    {"retain", "", 0, file, "FILE", "", kNone,
     "tell the loss on this text before and after: what was forgotten", "Fine-tuning", kFinetune},

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
    {"num-samples", "", 0, integer, "N", "20", between(1, 1e9),
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

    // Looking inside
    {"top", "", 0, integer, "N", "10", at_least(1), "how many to show", "Output",
     kNext | kParams | kGradients | kNeighbours},
    {"top", "", 0, integer, "N", "5", at_least(1), "how many words to show after each layer",
     "Output", kTrace},
    {"worst", "", 0, integer, "N", "5", at_least(1), "how many of the worst to show", "Output",
     kGradcheck},
    {"nudge", "", 0, number, "X", "0.01", above(0),
     "move each shown entry by X, and show the loss's change as predicted and as measured",
     "Output", kGradients},
    {"csv", "", 0, flag, "", "", kNone,
     "every entry as comma-separated values: name, row, column, value", "Output",
     kParams | kGradients},
    {"sample", "", 0, integer, "N", "", at_least(1),
     "check N parameters drawn by --seed; without it all, or 2000 of more than 200000", "Check",
     kGradcheck},
    {"seed", "", 0, integer, "S", "42", between(0, 4294967295.0), "which ones --sample draws",
     "Check", kGradcheck},
    {"expand", "", 0, flag, "", "", kNone,
     "show the single operations behind it: products, partial sums, exponentials", "Output",
     kValue},
    {"limit", "", 0, integer, "N", "20", at_least(0), "show N of each list; 0 shows all", "Output",
     kValue},
    {"around", "", 0, text, "NAME", "", kNone, "draw this scalar with what is around it", "Graph",
     kGraph},
    {"depth", "", 0, integer, "D", "1", between(1, 64), "steps from it, to children and to parents",
     "Graph", kGraph},
    {"width", "", 0, integer, "N", "8", at_least(1),
     "neighbours of each scalar, those that the most gradient flows through", "Graph", kGraph},
    {"expr", "", 0, text, "FORMULA", "", kNone,
     "draw a formula instead, its numbers behind it: a=2 b=-3", "Graph", kGraph},
    {"tape", "", 0, flag, "", "", kNone, "the tape as text, in the order in which it was recorded",
     "Graph", kGraph},
    {"format", "", 0, choice, "dot|svg", "dot", kNone, "for Graphviz, or a picture", "Output",
     kGraph},
    {"out", "", 'o', file, "FILE", "", kNone, "write it to FILE", "Output", kGraph},
    {"svg", "", 0, file, "FILE", "", kNone, "write the maps to FILE as a picture", "Output",
     kAttention},
    {"json", "", 0, flag, "", "", kNone, "scores and weights as one object", "Output", kAttention},
    {"json", "", 0, flag, "", "", kNone, "one object: words and probabilities", "Output", kNext},
    {"layer", "", 0, integer, "L", "", at_least(0), "this layer alone", "Output", kAttention},
    {"head", "", 0, integer, "H", "", at_least(0), "this head alone", "Output", kAttention},
    {"layer", "", 0, integer, "L", "0", at_least(0), "the layer whose cache to show", "Output",
     kCache},
    {"head", "", 0, integer, "H", "0", at_least(0), "the head whose columns to show", "Output",
     kCache},
    {"at", "", 0, integer, "T", "", at_least(0),
     "the position to look from, 0 being the sentence's beginning; without it the last", "Output",
     kTrace},
    {"word", "", 0, text, "WORD", "", kNone,
     "the word whose logit to split; without it the likeliest", "Output", kTrace},
    {"out", "", 'o', file, "FILE", "", kNone, "write the curves to FILE as SVG", "Output", kPlot},
    {"ascii", "", 0, flag, "", "", kNone, "draw them in the terminal", "Output", kPlot},
    {"columns", "", 0, integer, "N", "80", between(40, 400), "width of --ascii", "Output", kPlot},
    {"column", "", 0, text, "NAME", "loss", kNone, "what to draw: loss, lr, val_loss, ...",
     "Output", kPlot},
    {"vocab-size", "", 0, integer, "N", "", at_least(1),
     "draw the loss of a random guess among N words", "Output", kPlot},
    {"out", "", 'o', file, "FILE", "report.html", kNone, "the page to write", "Output", kReport},
    {"log-file", "", 0, file, "FILE", "", kNone, "the log of the training, for its curves", "Input",
     kReport},
    {"sentences", "", 0, file, "FILE", "", kNone,
     "sentences to look into, one a line; without it, some that the model writes", "Input",
     kReport},
    {"seed", "", 0, integer, "S", "42", between(0, 4294967295.0),
     "of the sentences that the model writes", "Input", kReport},
    {"color", "", 0, choice, "auto|always|never", "auto", kNone,
     "shade the cells; auto on a terminal without NO_COLOR", "Output", kAttention},

    // Every command that computes
    {"batch-size", "", 0, integer, "B", "1", between(1, 1e6),
     "lines at a time; the result does not depend on it", "Machine", kEval},
    {"seed", "", 0, integer, "S", "42", between(0, 4294967295.0),
     "the same seed and the same file give the same bits", "Machine", kTraining},
    {"seed", "", 0, integer, "S", "42", between(0, 4294967295.0),
     "sentence i of a prompt depends on S, i and the prompt alone", "Machine", kSample},
    {"threads", "", 0, integer, "N", "", between(1, 1024),
     "threads to compute with; without it, as many as pay. Results do not depend on it", "Machine",
     kComputing},
    {"help", "", 'h', flag, "", "", kNone, "show this help", "Help", kAll},
};

constexpr Operand kTrainOperands[] = {{"CORPUS", "text file, UTF-8, one sentence a line"}};
constexpr Operand kFinetuneOperands[] = {{"MODEL", "model file to start from"},
                                         {"CORPUS", "text file, UTF-8, one sentence a line"}};
constexpr Operand kSampleOperands[] = {{"MODEL", "model file, as train writes it"}};
constexpr Operand kEvalOperands[] = {{"MODEL", "model file, as train writes it"},
                                     {"TEXT", "text file, UTF-8, one sentence a line"}};
constexpr Operand kModelOperand = {"MODEL", "model file, as train writes it"};
constexpr Operand kSentenceOperand = {"SENTENCE", "words that the model knows, in one argument"};
constexpr Operand kNextOperands[] = {kModelOperand, {"[TEXT]", "how the sentence begins"}};
constexpr Operand kParamsOperands[] = {
    kModelOperand, {"[NAME]", "a parameter, a row or an entry: output, output[7], output[7][3]"}};
constexpr Operand kGradientsOperands[] = {
    kModelOperand,
    kSentenceOperand,
    {"[NAME]", "a parameter, a row or an entry: output, output[7], output[7][3]"}};
constexpr Operand kSentenceOperands[] = {kModelOperand, kSentenceOperand};
constexpr Operand kNeighboursOperands[] = {kModelOperand, {"WORD", "a word that the model knows"}};
constexpr Operand kValueOperands[] = {
    kModelOperand,
    kSentenceOperand,
    {"NAME", "a scalar: embedding@2[5], layers.0.attention.weights@2[1][0], logits@2[cat], loss"}};
constexpr Operand kPlotOperands[] = {{"LOG...", "logs of runs, as train --log-file writes them"}};
constexpr Operand kReportOperands[] = {kModelOperand};
constexpr Operand kGraphOperands[] = {
    {"[MODEL]", "model file, as train writes it; with --expr NAME=NUMBER"},
    {"[SENTENCE]", "words that the model knows, in one argument"},
    {"[NAME=NUMBER...]", "with --expr: the numbers of its names"}};
constexpr Operand kHelpOperands[] = {{"[COMMAND]", "the command to explain"},
                                     {"[WHAT]", "of inspect: what to inspect"}};
constexpr Operand kManOperands[] = {{"[COMMAND]", "the command to describe"},
                                    {"[WHAT]", "of inspect: what to inspect"}};
constexpr Operand kCompletionOperands[] = {{"SHELL", "bash, zsh or fish"}};

constexpr const char* kTrainExamples[] = {
    "glassbox train data/first_grade.txt --out cats.safetensors",
    "glassbox train poems.txt --epochs 3 --batch-size 16 --n-embd 64 --log-file run.csv",
};
constexpr const char* kFinetuneExamples[] = {
    "glassbox finetune cats.safetensors data/questions.txt --out asks.safetensors",
    "glassbox finetune cats.safetensors poems.txt --extend-vocab --freeze 'layers.0.*'",
};
constexpr const char* kSampleExamples[] = {
    "glassbox sample cats.safetensors --num-samples 5 --prompt 'the cat'",
    "glassbox sample cats.safetensors --temp 0 --prompt-file beginnings.txt --json",
};
constexpr const char* kEvalExamples[] = {
    "glassbox eval cats.safetensors data/first_grade.txt",
    "glassbox eval cats.safetensors poems.txt --per-line > losses.csv",
};
constexpr const char* kNextExamples[] = {"glassbox next cats.safetensors 'the cat'",
                                         "glassbox next cats.safetensors 'the cat' --top 3 --json"};
constexpr const char* kParamsExamples[] = {
    "glassbox inspect params cats.safetensors",
    "glassbox inspect params cats.safetensors 'layers.0.attention.query[7]'"};
constexpr const char* kGradientsExamples[] = {
    "glassbox inspect gradients cats.safetensors 'the cat sat'",
    "glassbox inspect gradients cats.safetensors 'the cat sat' output --csv > gradients.csv"};
constexpr const char* kGradcheckExamples[] = {
    "glassbox inspect gradcheck cats.safetensors 'the cat sat'",
    "glassbox inspect gradcheck cats.safetensors 'the cat sat' --sample 1000"};
constexpr const char* kValueExamples[] = {
    "glassbox inspect value cats.safetensors 'the cat sat' 'logits@2[sat]'",
    "glassbox inspect value cats.safetensors 'the cat sat' 'layers.0.attention.q@2[5]' --expand"};
constexpr const char* kGraphExamples[] = {
    "glassbox inspect graph --expr 'tanh(a*b + c)' a=2 b=-3 c=10 --format svg --out tanh.svg",
    "glassbox inspect graph cats.safetensors 'the cat' --around 'layers.0.attention.q@1[5]' "
    "--depth 2"};
constexpr const char* kAttentionExamples[] = {
    "glassbox inspect attention cats.safetensors 'the cat sat on the mat'",
    "glassbox inspect attention cats.safetensors 'the cat sat' --layer 0 --svg heads.svg"};
constexpr const char* kTraceExamples[] = {
    "glassbox inspect trace cats.safetensors 'the cat' --at 2",
    "glassbox inspect trace cats.safetensors 'the cat sat' --at 2 --word sat"};
constexpr const char* kCacheExamples[] = {
    "glassbox inspect cache cats.safetensors 'the cat eats'",
    "glassbox inspect cache cats.safetensors 'the cat eats' --layer 1 --head 3"};
constexpr const char* kPlotExamples[] = {"glassbox plot run1.csv run2.csv --out loss.svg",
                                         "glassbox plot run.jsonl --ascii --vocab-size 600"};
constexpr const char* kReportExamples[] = {
    "glassbox report cats.safetensors --log-file run.jsonl --out report.html",
    "glassbox report cats.safetensors --sentences mine.txt"};
constexpr const char* kNeighboursExamples[] = {
    "glassbox inspect neighbours cats.safetensors cat",
    "glassbox inspect neighbours cats.safetensors cat --top 3"};
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
    {"finetune", kFinetune, "train a model further on another text",
     "Starts from MODEL's weights and keeps its shape, vocabulary and precision. A word that it "
     "does not know is an "
     "error, unless --extend-vocab or --unk says what becomes of it. MODEL's file is not touched.",
     kFinetuneOperands, kFinetuneExamples, finetune_command},
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
    {"next", kNext, "show what a model would say next",
     "Prints the likeliest next words with their probabilities, as the model gives them: no "
     "temperature, no filter.",
     kNextOperands, kNextExamples, next_command},
    {"inspect params", kParams, "a model's parameters",
     "Prints every parameter with its shape, mean, spread, norm and largest entries; or one "
     "parameter, one row or one entry by name. Rows are outputs and columns inputs, as in the "
     "file.",
     kParamsOperands, kParamsExamples, inspect_params_command},
    {"inspect gradients", kGradients, "the gradients of a sentence's loss",
     "Prints the loss at each position, the gradient's norm by layer and by parameter, and the "
     "entries with "
     "the largest gradients: with what the gradient says that a nudge does to the loss, and what "
     "it does. With a "
     "name: that parameter, row or entry. Computed in double.",
     kGradientsOperands, kGradientsExamples, inspect_gradients_command},
    {"inspect gradcheck", kGradcheck, "gradients against measured slopes",
     "Holds every gradient of the sentence's loss against a numeric derivative in double, and "
     "shows the worst. "
     "Exit status 1 if one is wrong.",
     kSentenceOperands, kGradcheckExamples, inspect_gradcheck_command},
    {"inspect value", kValue, "any scalar of a computation, by name",
     "Prints one scalar of the sentence's computation: its data, its gradient (d loss / d scalar), "
     "its "
     "operation, its children with the local derivatives, its parents. Names: NAME[row][column] is "
     "a parameter, "
     "NAME@position[index] a value; inspect graph MODEL SENTENCE --tape lists them.",
     kValueOperands, kValueExamples, inspect_value_command},
    {"inspect graph", kGraph, "draw a computation",
     "Draws the scalars around one, or a formula, with data, gradients and local derivatives; "
     "without --around "
     "the whole sentence, every run of scalars as one box that counts the operations in it.",
     kGraphOperands, kGraphExamples, inspect_graph_command},
    {"inspect attention", kAttention, "where each head looks",
     "Prints a map for each layer and head: row by row a position, column by column what it looks "
     "back at, each "
     "row of sum 1. The last line says what the marks mean.",
     kSentenceOperands, kAttentionExamples, inspect_attention_command},
    {"inspect trace", kTrace, "a logit, taken apart",
     "Splits the logit of a word exactly into what the embeddings, each head and each MLP added, "
     "and shows what "
     "the model would say after each layer. Computed in double.",
     kSentenceOperands, kTraceExamples, inspect_trace_command},
    {"inspect cache", kCache, "the cache of keys and values as it grows",
     "Feeds the sentence token by token and shows what one head's cache then holds: the keys and "
     "values of all "
     "tokens so far, and the scores and weights that the newest token's query gives them.",
     kSentenceOperands, kCacheExamples, inspect_cache_command},
    {"inspect neighbours", kNeighbours, "words that the model takes for similar",
     "Prints the words whose embeddings point the most the same way, by the cosine between them.",
     kNeighboursOperands, kNeighboursExamples, inspect_neighbours_command},
    {"plot", kPlot, "draw the curves of logs",
     "Draws a column of one or several logs over the steps: the mean of each stretch of steps in a "
     "band from its "
     "least to its greatest.",
     kPlotOperands, kPlotExamples, plot_command},
    {"report", kReport, "a page about a model",
     "Writes one HTML file, complete in itself: the curves of the training, and for some sentences "
     "where each head "
     "looks, what the model would say next, and every logit taken apart; the words in the plane; "
     "the shape and the "
     "fingerprint. It opens from the disk without a network.",
     kReportOperands, kReportExamples, report_command},
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
