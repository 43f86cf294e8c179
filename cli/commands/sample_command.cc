// glassbox sample MODEL
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text_file.h"
#include "base/utf8.h"
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
  std::vector<std::string> stop;
  std::optional<std::size_t> logprobs;
  bool json = false, stream = false;
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
                   .help = "tokens after the prompt; without it, to the end of the model's block. "
                           "Beyond the block the window slides by half of it"});
    table.text(
        stop, "stop",
        {.value = "TEXT",
         .help = "end a sentence before TEXT, wherever it comes up behind the prompt; may be "
                 "given several times"});
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
    table.integer(logprobs, "logprobs",
                  {.value = "K",
                   .range = at_least(1),
                   .help = "with each token the K likeliest ones in its place, as top_logprobs",
                   .only_with = "json"});
    table.flag(stream, "stream",
               {.help = "write each token as soon as it is drawn; the text is the same",
                .not_with = "json threads"});
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
  CorpusOptions reading = tokenizer.reading();
  reading.split = Split::line;
  const Corpus corpus =
      file == "-" ? Corpus::from_text(read_standard_input_text(), "standard input", reading)
                  : Corpus::read(file, reading);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    add(corpus[i], corpus.where(i));
  }
  return prompts;
}

template <class T>
void write_likeliest(JsonWriter& json, const Tokenizer& tokenizer, std::span<const T> logits,
                     std::size_t count) {
  json.begin_array();
  for (const TokenId id : likeliest(logits, count)) {
    json.begin_object().member("token", tokenizer.word(id)).member("id", id);
    json.member("logprob", log_probability(logits, id)).end_object();
  }
  json.end_array();
}

template <class T>
std::string as_json(const SampleOptions& options, Decoder<T>& model, GeneratedSentence sentence,
                    const StopTexts& stop) {
  JsonWriter json;
  json.begin_object().member("text", repaired_utf8(stop.cut(sentence)));
  json.key("tokens").values(sentence.tokens);
  std::vector<double> scores;
  JsonWriter places;
  places.begin_array();
  for_each_logits<T>(model, sentence.tokens, [&](std::size_t i, std::span<const T> logits) {
    scores.push_back(log_probability(logits, sentence.tokens[i]));
    if (options.logprobs) write_likeliest(places, model.tokenizer(), logits, *options.logprobs);
  });
  json.key("logprobs").values(scores);
  if (options.logprobs) json.key("top_logprobs").raw(places.end_array().take());
  json.member("finish_reason", sentence.stopped ? "stop" : "length");
  return json.member("seed", options.seed.seed).end_object().take();
}

template <class T>
void stream(const SampleOptions& options, Decoder<T>& model, std::span<const TokenId> prompt,
            const StopTexts& stop) {
  const Tokenizer& tokenizer = model.tokenizer();
  Sampler sampler(options.sampler);
  for (std::uint64_t i = 0; i < options.num_samples; ++i) {
    std::size_t written = 0;
    const auto write = [&](std::string_view text, std::size_t end) {
      if (end <= written) return;
      print(text.substr(written, end - written));
      finish_output();
      written = end;
    };
    const std::string beginning = tokenizer.decode({prompt.begin(), prompt.end()});
    write(beginning, stop.certain(beginning));
    GeneratedSentence sentence =
        generate_tokens(model, sampler, prompt, options.max_tokens.value_or(0),
                        UniformStream(options.seed.seed, i), [&](std::span<const TokenId> tokens) {
                          if (stop.found(tokens)) return false;
                          const std::string text = tokenizer.decode({tokens.begin(), tokens.end()});
                          write(text, stop.certain(text));
                          return true;
                        });
    const std::string text = stop.cut(sentence);
    write(text, text.size());
    print("\n");
  }
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

  const std::uint64_t parts = (samples + kPart - 1) / kPart;
  kernels::Threads threads(
      options.threads.threads.value_or(std::min<std::uint64_t>(kernels::allowed_cores(), parts)));
  std::vector<Decoder<T>> models;
  for (std::size_t i = 0; i < threads.size(); ++i) models.push_back(model.another());
  std::vector<std::string> texts(threads.size());
  for (const std::vector<TokenId>& prompt : prompts) {
    const StopTexts stop(model.tokenizer(), options.stop, prompt);
    if (options.stream) {
      stream(options, model, prompt, stop);
      continue;
    }
    TokenCallback goes_on;
    if (!stop.empty())
      goes_on = [&](std::span<const TokenId> tokens) { return !stop.found(tokens); };
    std::vector<std::optional<Generator<T>>> generators(threads.size());
    for (std::uint64_t done = 0; done < parts; done += threads.size()) {
      threads.parallel_for(
          std::min<std::uint64_t>(threads.size(), parts - done), [&](std::size_t i) {
            const std::uint64_t first = (done + i) * kPart;
            std::string& text = texts[i];
            text.clear();
            if (!generators[i])
              generators[i].emplace(models[i], config, prompt, max_tokens, seed, kSharedBytes,
                                    goes_on);
            for (GeneratedSentence& sentence :
                 generators[i]->samples(first, std::min(kPart, samples - first))) {
              text += options.json ? as_json(options, models[i], std::move(sentence), stop)
                                   : stop.cut(sentence);
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
