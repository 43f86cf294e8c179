// glassbox sample MODEL
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text_file.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "infer/generate.h"
#include "infer/score.h"
#include "kernels/parallel.h"
#include "model/model_file.h"

namespace glassbox::cli {

namespace {

struct SampleOptions {
  std::string model;
  std::optional<std::string> prompt, prompt_file;
  std::uint64_t num_samples = 20;
  std::optional<std::size_t> max_tokens;
  SamplerConfig sampler = {.temperature = 0.8};
  bool json = false;
  SeedOption seed;
  ThreadsOption threads;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", kModelHelp);
    table.group("Sampling");
    table.text(prompt, "prompt",
               {.letter = 'p',
                .value = "TEXT",
                .help = "begin the sentence with these words",
                .may_be_empty = true});
    table.file(prompt_file, "prompt-file",
               {.letter = 'f',
                .value = "FILE",
                .help = "one prompt a line, blank lines skipped; - is standard input"});
    table.integer(num_samples, "num-samples",
                  {.value = "N",
                   .range = between(1, 1e9),
                   .help = "sentences for each prompt, one a line; an empty sentence is an empty "
                           "line"});
    table.integer(max_tokens, "max-tokens",
                  {.letter = 'n',
                   .value = "N",
                   .range = at_least(1),
                   .help = "tokens after the prompt; without it, to the end of the model's block"});
    table.number(sampler.temperature, "temperature",
                 {.alias = "temp",
                  .value = "X",
                  .help = "below 1 keeps to the likely, above 1 dares more; 0 always takes the "
                          "likeliest word"});
    table.integer(sampler.top_k, "top-k",
                  {.value = "K",
                   .help = "draw from the K likeliest words; ties go to the lowest id; 0 is off"});
    table.number(
        sampler.top_p, "top-p",
        {.value = "P",
         .range = between(0, 1),
         .help = "draw from the fewest likeliest words whose probabilities sum to at least "
                 "P; 1 is off"});
    table.number(sampler.min_p, "min-p",
                 {.value = "P",
                  .range = between(0, 1),
                  .help = "draw from the words at least P times as likely as the likeliest; 0 is "
                          "off"});
    table.number(sampler.repetition_penalty, "repetition-penalty",
                 {.value = "X",
                  .range = above(0),
                  .help = "logits of words that the sentence has are divided by X where positive "
                          "and multiplied by it elsewhere: above 1 it repeats itself less; 1 is "
                          "off"});
    table.integer(sampler.repeat_last_n, "repeat-last-n",
                  {.value = "N",
                   .help = "of the sentence, its last N words count as a repetition; 0 is all",
                   .only_with = "repetition-penalty"});
    table.group("Output");
    table.flag(json, "json",
               {.help = "an object a sentence: text, tokens (ids), logprobs (ln of what the model "
                        "gives each token, before temperature and filters), finish_reason (stop or "
                        "length), seed"});
    table.group("Machine");
    seed.visit(table, "sentence i of a prompt depends on S, i and the prompt alone");
    threads.visit(table);
  }
};

// Every prompt as token ids, checked before the first sentence is drawn. Messages name the option
// or the file and its line.
std::vector<std::vector<TokenId>> read_prompts(const SampleOptions& options,
                                               const Tokenizer& tokenizer, std::size_t block_size) {
  std::vector<std::vector<TokenId>> prompts;
  const auto add = [&](std::string_view text, const std::string& where) {
    prompts.push_back(tokenizer.encode(text, where));
    if (const std::size_t tokens = prompts.back().size(); tokens + 1 > block_size) {
      throw ConfigError(
          fmt::format("{}: expected at most {}, so that the model's block of {} has room for "
                      "one more, found {}; shorten it",
                      where, counted(block_size - 1, tokenizer.kind().unit), block_size, tokens));
    }
  };
  if (!options.prompt_file) {
    add(options.prompt.value_or(""), "--prompt");
    return prompts;
  }
  const std::string& file = *options.prompt_file;
  const CorpusOptions reading{.lowercase = tokenizer.lowercase()};
  const Corpus corpus =
      file == "-" ? Corpus::from_text(read_standard_input_text(), "standard input", reading)
                  : Corpus::read(file, reading);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    add(corpus[i], fmt::format("{}: line {}", corpus.name(), corpus.line_number(i)));
  }
  return prompts;
}

template <class T>
std::string as_json(Decoder<T>& model, const GeneratedSentence& sentence, std::uint32_t seed) {
  std::vector<TokenId> sequence{model.tokenizer().bos()};
  sequence.insert(sequence.end(), sentence.tokens.begin(), sentence.tokens.end());
  std::vector<double> scores;
  if (!sentence.tokens.empty())
    scores = log_probabilities(model, std::span<const TokenId>(sequence));
  JsonWriter json;
  json.begin_object().member("text", model.tokenizer().decode(sentence.tokens));
  json.key("tokens").values(sentence.tokens);
  json.key("logprobs").values(scores);
  json.member("finish_reason", sentence.stopped ? "stop" : "length").member("seed", seed);
  return json.end_object().take();
}

// Sentences of one prompt that a thread computes at a time: enough that starting it costs nothing
// beside them, few enough that the first are printed soon.
constexpr std::uint64_t kPart = 8192;

template <class T>
int sample_from(const SampleOptions& options, Decoder<T> model) {
  const auto prompts = read_prompts(options, model.tokenizer(), model.config().block_size);
  const SamplerConfig& config = options.sampler;
  config.validate();
  const auto seed = options.seed.seed;
  const std::uint64_t samples = options.num_samples;
  const std::size_t max_tokens = options.max_tokens.value_or(0);
  const bool json = options.json;

  const std::uint64_t parts = (samples + kPart - 1) / kPart;
  kernels::Threads threads(
      options.threads.threads.value_or(std::min<std::uint64_t>(kernels::allowed_cores(), parts)));
  std::vector<Decoder<T>> models;
  for (std::size_t i = 0; i < threads.size(); ++i) models.push_back(model.another());
  std::vector<std::string> texts(threads.size());
  for (const std::vector<TokenId>& prompt : prompts) {
    std::vector<std::optional<Generator<T>>> generators(threads.size());
    for (std::uint64_t done = 0; done < parts; done += threads.size()) {
      threads.parallel_for(std::min<std::uint64_t>(threads.size(), parts - done),
                           [&](std::size_t i) {
                             const std::uint64_t first = (done + i) * kPart;
                             std::string& text = texts[i];
                             text.clear();
                             if (!generators[i])
                               generators[i].emplace(models[i], config, prompt, max_tokens, seed);
                             for (const GeneratedSentence& sentence :
                                  generators[i]->samples(first, std::min(kPart, samples - first))) {
                               if (json)
                                 text += as_json(models[i], sentence, seed);
                               else
                                 text += model.tokenizer().decode(sentence.tokens);
                               text += '\n';
                             }
                           });
      for (std::size_t i = 0; i < threads.size() && done + i < parts; ++i) print(texts[i]);
    }
  }
  return 0;
}

int sample(const SampleOptions& options) {
  if (options.prompt && options.prompt_file) {
    throw UsageError(
        "--prompt-file: expected --prompt or --prompt-file, found both; leave one out");
  }
  return std::visit([&](auto&& model) { return sample_from(options, Decoder(std::move(model))); },
                    read_model(options.model));
}

}  // namespace

const Command sample_command = make_command<sample>(
    "sample", "let a model write sentences",
    "Writes sentences to standard output, one a line. A prompt's words stand at the beginning of "
    "its sentences. The logits are divided by the temperature, then top-k and top-p each cut what "
    "the one before left, scaled to sum 1, and one uniform number draws the word.",
    {"glassbox sample cats.safetensors --num-samples 5 --prompt 'the cat'",
     "glassbox sample cats.safetensors --temp 0 --prompt-file beginnings.txt --json"});

}  // namespace glassbox::cli
