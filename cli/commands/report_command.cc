// glassbox report MODEL
#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/quote.h"
#include "base/text_file.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/view/report.h"
#include "data/corpus.h"
#include "infer/generate.h"
#include "inspect/inspection.h"

namespace glassbox::cli {

namespace {

struct ReportOptions {
  std::string model;
  std::string out = "report.html";
  std::optional<std::string> log_file, sentences;
  SeedOption seed;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", kModelHelp);
    table.group("Output");
    table.file(out, "out", {.letter = 'o', .value = "FILE", .help = "the page to write"});
    table.group("Input");
    table.file(log_file, "log-file",
               {.value = "FILE", .help = "the log of the training, for its curves"});
    table.file(sentences, "sentences",
               {.value = "FILE",
                .help = "sentences to look into, one a line; without it, some that the model "
                        "writes"});
    seed.visit(table, "of the sentences that the model writes");
  }
};

constexpr std::size_t kSentences = 4;

// A text that is read as a sentence of the model's, in other tokens perhaps than it was written in.
bool is_read_back(const Decoder<double>& decoder, const std::string& text) {
  if (text.empty() || find_invalid_utf8(text) != kValidUtf8) return false;
  try {
    return decoder.tokenizer().encode(text).size() < decoder.config().block_size;
  } catch (const VocabularyError&) {
    return false;
  }
}

// Of the model's own writing, each once: a fixed seed gives the same ones.
std::vector<std::string> written_by(Decoder<double>& decoder, std::uint32_t seed) {
  Sampler sampler({.temperature = 0.5});
  std::vector<std::string> sentences;
  for (std::uint64_t i = 0; i < 8 * kSentences && sentences.size() < kSentences; ++i) {
    const auto tokens = generate_tokens(decoder, sampler, std::span<const TokenId>(),
                                        decoder.config().block_size - 1, UniformStream(seed, i))
                            .tokens;
    const std::string text = decoder.tokenizer().decode(tokens);
    if (is_read_back(decoder, text) &&
        std::find(sentences.begin(), sentences.end(), text) == sentences.end())
      sentences.push_back(text);
  }
  return sentences;
}

// How often the model expects each token: its chance, averaged over sentences that it writes. A
// model file holds no counts of words.
std::vector<double> word_shares(Decoder<double>& decoder, std::uint32_t seed) {
  constexpr std::uint64_t kWritten = 16;
  std::vector<double> shares(decoder.config().vocab_size);
  for (std::uint64_t i = 0; i < kWritten; ++i) {
    KvCache<double> cache(decoder.config());
    UniformStream uniform(seed, i);
    TokenId token = decoder.tokenizer().bos();
    do {
      const auto logits = decoder.step(token, cache);
      const auto chances = softmax({logits.begin(), logits.end()});
      double left = uniform();
      token = decoder.tokenizer().bos();
      for (TokenId word = 0; word < shares.size(); ++word) {
        shares[word] += chances[word];
        if (left >= 0 && (left -= chances[word]) < 0) token = word;
      }
    } while (token != decoder.tokenizer().bos() && cache.size() < decoder.config().block_size);
  }
  return shares;
}

int report(const ReportOptions& options) {
  const std::string& path = options.model;
  refuse_overwriting("out", options.out,
                     {{"MODEL", path},
                      {"--log-file", options.log_file.value_or("")},
                      {"--sentences", options.sentences.value_or("")}});
  check_ending("out", options.out, {".html", ".htm", ".xhtml"});
  check_writable(options.out);
  std::string bytes = read_safetensors_bytes(path);  // once: it may be a pipe
  ReportInput input;
  input.name = std::filesystem::path(path).filename().string();
  input.fingerprint = fingerprint(bytes);
  AnyModel read = parse_model(std::move(bytes), path);
  input.precision = std::holds_alternative<Model<float>>(read) ? "float" : "double";
  const Model<double> model = model_as<double>(std::move(read), path);
  input.model = &model;
  if (options.log_file) {
    input.log = read_log(*options.log_file);
    const std::string other = contradiction(
        *input.log, Json::parse(model.training, path + ": glassbox.training"), model.config());
    if (!other.empty())
      complain(fmt::format("warning: {}: {}: is it the log of another run than {}?",
                           *options.log_file, other, path));
  }
  Decoder<double> decoder({model.tokenizer, model.weights.copy(), model.training});
  if (options.sentences) {
    CorpusOptions reading = model.tokenizer.reading();
    reading.split = Split::line;
    const Corpus corpus =
        Corpus::from_text(read_text(*options.sentences), *options.sentences, reading);
    const auto tokens = model.tokenizer.encode_lines(corpus);
    const std::size_t block = model.config().block_size;
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      input.sentences.emplace_back(corpus[i]);
      if (tokens[i].size() - 1 > block)
        throw ConfigError(fmt::format("{}: line {}: expected at most {}, found {}; shorten it",
                                      corpus.name(), corpus.line_number(i),
                                      counted(block - 1, model.tokenizer.kind().unit),
                                      tokens[i].size() - 2));
    }
  } else {
    input.sentences = written_by(decoder, options.seed.seed);
  }
  input.word_shares = word_shares(decoder, options.seed.seed);
  std::optional<Countdown> countdown(std::in_place, input.sentences.size(), false);
  input.progress = [&](std::size_t done) { countdown->show(done); };
  const std::string page = report_html(input);
  countdown.reset();
  write_output(options.out, page);
  return 0;
}

}  // namespace

const Command report_command = make_command<report>(
    "report", "a page about a model",
    "Writes one HTML file, complete in itself: the curves of the training, and for some sentences "
    "where each head looks, what the model would say next, and every logit taken apart; the words "
    "in the plane; the shape and the fingerprint. It opens from the disk without a network.",
    {"glassbox report cats.safetensors --log-file run.jsonl --out report.html",
     "glassbox report cats.safetensors --sentences mine.txt"});

}  // namespace glassbox::cli
