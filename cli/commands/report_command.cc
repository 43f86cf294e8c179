// glassbox report MODEL
#include <fmt/core.h>

#include <filesystem>

#include "base/file.h"
#include "base/fingerprint.h"
#include "cli/options/options.h"
#include "cli/output.h"
#include "cli/view/report.h"
#include "data/corpus.h"
#include "infer/generate.h"
#include "inspect/inspection.h"

namespace glassbox::cli {

namespace {

constexpr std::size_t kSentences = 4;

// Of the model's own writing, each once: a fixed seed gives the same ones.
std::vector<std::string> written_by(Decoder<double>& decoder, std::uint32_t seed) {
  Sampler sampler({.temperature = 0.5});
  std::vector<std::string> sentences;
  for (std::uint64_t i = 0; i < 8 * kSentences && sentences.size() < kSentences; ++i) {
    const auto tokens = generate_tokens(decoder, sampler, std::span<const TokenId>(),
                                        decoder.config().block_size - 1, UniformStream(seed, i))
                            .tokens;
    const std::string text = decoder.tokenizer().decode(tokens);
    if (!text.empty() && std::find(sentences.begin(), sentences.end(), text) == sentences.end())
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

}  // namespace

int report_command(const Arguments& arguments) {
  const std::string& path = arguments.operand(0);
  const auto given = [&](const char* flag) {
    return arguments.given(flag) ? arguments.text(flag) : "";
  };
  refuse_overwriting(
      "out", arguments.text("out"),
      {{"MODEL", path}, {"--log-file", given("log-file")}, {"--sentences", given("sentences")}});
  check_writable(arguments.text("out"));
  const Model<double> model = read_model_as<double>(path);
  ReportInput input;
  input.name = std::filesystem::path(path).filename().string();
  input.fingerprint = fingerprint(read_file(path));
  input.model = &model;
  input.precision = std::holds_alternative<Model<float>>(read_model(path)) ? "float" : "double";
  if (arguments.given("log-file")) input.log = read_log(arguments.text("log-file"));
  Decoder<double> decoder({model.tokenizer, model.weights.copy(), model.training});
  const auto seed = static_cast<std::uint32_t>(arguments.integer("seed"));
  if (arguments.given("sentences")) {
    const Corpus corpus =
        Corpus::read(arguments.text("sentences"), {.lowercase = model.tokenizer.lowercase()});
    for (std::size_t i = 0; i < corpus.size(); ++i) input.sentences.emplace_back(corpus[i]);
  } else {
    input.sentences = written_by(decoder, seed);
  }
  input.word_shares = word_shares(decoder, seed);
  write_file(arguments.text("out"), report_html(input));
  print_status(fmt::format("wrote {}", arguments.text("out")));
  return 0;
}

}  // namespace glassbox::cli
