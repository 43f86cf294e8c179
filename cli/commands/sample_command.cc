// glassbox sample MODEL
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/view/text.h"
#include "infer/generate.h"
#include "infer/score.h"
#include "kernels/parallel.h"
#include "model/model_file.h"

namespace glassbox::cli {

namespace {

std::string read_standard_input() {
  std::string text;
  char part[1 << 16];
  std::size_t size = 0;
  while ((size = std::fread(part, 1, sizeof part, stdin)) > 0) text.append(part, size);
  if (std::ferror(stdin) != 0) {
    throw FileError(fmt::format("standard input: can't be read: {}", std::strerror(errno)));
  }
  return text;
}

// Every prompt as token ids, checked before the first sentence is drawn. Messages name the option
// or the file and its line.
std::vector<std::vector<TokenId>> read_prompts(const Arguments& arguments,
                                               const Tokenizer& tokenizer, std::size_t block_size) {
  std::vector<std::vector<TokenId>> prompts;
  const auto add = [&](std::string_view text, const std::string& where) {
    try {
      prompts.push_back(tokenizer.encode(text));
    } catch (const Error& error) {
      throw VocabularyError(fmt::format("{}: {}", where, error.what()));
    }
    if (const std::size_t words = prompts.back().size(); words + 1 > block_size) {
      throw ConfigError(
          fmt::format("{}: expected at most {} words, so that the model's block of {} has room for "
                      "one more, found "
                      "{}; shorten it",
                      where, block_size - 1, block_size, words));
    }
  };
  if (!arguments.given("prompt-file")) {
    add(arguments.text("prompt"), "--prompt");
    return prompts;
  }
  const std::string& file = arguments.text("prompt-file");
  const CorpusOptions options{.lowercase = tokenizer.lowercase()};
  const Corpus corpus = file == "-"
                            ? Corpus::from_text(read_standard_input(), "standard input", options)
                            : Corpus::read(file, options);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    add(corpus[i], fmt::format("{}: line {}", corpus.name(), corpus.line_number(i)));
  }
  return prompts;
}

template <class T>
std::string as_json(Decoder<T>& model, const Generated& sentence, std::uint32_t seed) {
  std::vector<TokenId> sequence{model.tokenizer().bos()};
  sequence.insert(sequence.end(), sentence.tokens.begin(), sentence.tokens.end());
  std::string tokens, logprobs;
  if (!sentence.tokens.empty()) {
    const char* comma = "";
    const std::vector<double> scores = log_probabilities(model, std::span<const TokenId>(sequence));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      tokens += fmt::format("{}{}", comma, sentence.tokens[i]);
      logprobs += fmt::format("{}{}", comma, json_number(scores[i]));
      comma = ",";
    }
  }
  return fmt::format(
      R"({{"text":{},"tokens":[{}],"logprobs":[{}],"finish_reason":"{}","seed":{}}})",
      json_quote(model.tokenizer().decode(sentence.tokens)), tokens, logprobs,
      sentence.stopped ? "stop" : "length", seed);
}

// Sentences of one prompt that a thread computes at a time: enough that starting it costs nothing
// beside them, few enough that the first are printed soon.
constexpr std::uint64_t kPart = 8192;

template <class T>
int sample_from(const Arguments& arguments, Decoder<T> model) {
  const auto prompts = read_prompts(arguments, model.tokenizer(), model.config().block_size);
  const SamplerConfig config{.temperature = arguments.number("temperature"),
                             .top_k = arguments.integer("top-k"),
                             .top_p = arguments.number("top-p")};
  config.validate();
  const auto seed = static_cast<std::uint32_t>(arguments.integer("seed"));
  const std::uint64_t samples = arguments.integer("num-samples");
  const std::size_t max_tokens =
      arguments.given("max-tokens") ? arguments.integer("max-tokens") : 0;
  const bool json = arguments.given("json");
  const bool terminal =
      isatty(STDOUT_FILENO) != 0;  // where a corpus's control characters would act

  const std::uint64_t parts = (samples + kPart - 1) / kPart;
  kernels::Threads threads(arguments.given("threads")
                               ? arguments.integer("threads")
                               : std::min<std::uint64_t>(kernels::allowed_cores(), parts));
  std::vector<Decoder<T>> models;
  for (std::size_t i = 0; i < threads.size(); ++i) models.push_back(model.another());
  std::vector<std::string> texts(threads.size());
  for (const std::vector<TokenId>& prompt : prompts) {
    std::vector<std::optional<Generator<T>>> generators(threads.size());
    for (std::uint64_t done = 0; done < parts; done += threads.size()) {
      threads.parallel_for(
          std::min<std::uint64_t>(threads.size(), parts - done), [&](std::size_t i) {
            const std::uint64_t first = (done + i) * kPart;
            std::string& text = texts[i];
            text.clear();
            if (!generators[i]) generators[i].emplace(models[i], config, prompt, max_tokens, seed);
            for (const Generated& sentence :
                 generators[i]->samples(first, std::min(kPart, samples - first))) {
              if (json)
                text += as_json(models[i], sentence, seed);
              else
                text += terminal ? escape_controls(model.tokenizer().decode(sentence.tokens))
                                 : model.tokenizer().decode(sentence.tokens);
              text += '\n';
            }
          });
      for (std::size_t i = 0; i < threads.size() && done + i < parts; ++i) print(texts[i]);
    }
  }
  return 0;
}

}  // namespace

int sample_command(const Arguments& arguments) {
  if (arguments.given("prompt") && arguments.given("prompt-file")) {
    throw UsageError(
        "--prompt-file: expected --prompt or --prompt-file, found both; leave one out");
  }
  return std::visit([&](auto&& model) { return sample_from(arguments, Decoder(std::move(model))); },
                    read_model(arguments.operand(0)));
}

}  // namespace glassbox::cli
