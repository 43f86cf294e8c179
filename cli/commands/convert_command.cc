// glassbox convert IN OUT
#include <fmt/core.h>

#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/text_file.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "model/model_file.h"
#include "model/onnx.h"
#include "model/tutorial_json.h"

namespace glassbox::cli {

namespace {

struct ConvertOptions {
  std::string in, out;
  std::optional<std::string> corpus, vocab;

  void visit(OptionTable& table) {
    table.operand(in, "IN", "model file: .safetensors, or the tutorial's .json");
    table.operand(out, "OUT", "file to write: .safetensors, .json or .onnx");
    table.group("Vocabulary");
    table.file(corpus, "corpus",
               {.value = "FILE",
                .help = "of a .json, which has none: the text that the model was trained on",
                .not_with = "vocab"});
    table.file(vocab, "vocab",
               {.value = "FILE",
                .help = "its words, one a line in the order of their ids: read for a .json as IN, "
                        "written beside a .json as OUT"});
  }
};

bool ends(const std::string& path, const char* ending) { return path.ends_with(ending); }

std::vector<std::string> read_vocabulary(const std::string& path) {
  const std::string text = read_text(path);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) words.emplace_back(next_line(text, at));
  return words;
}

Model<double> read_json(const ConvertOptions& options) {
  if (options.corpus)
    return read_tutorial_model(options.in, tutorial_tokenizer(Corpus::read(*options.corpus)));
  if (options.vocab)
    return read_tutorial_model(
        options.in, Tokenizer::from_words(read_vocabulary(*options.vocab), true, *options.vocab));
  throw UsageError(
      fmt::format("{}: expected --corpus or --vocab beside it, since such a file has "
                  "no vocabulary, found neither",
                  shortened(options.in)));
}

template <class T>
void write(const ConvertOptions& options, const Model<T>& model) {
  if (ends(options.out, ".onnx")) {
    write_onnx(options.out, model.weights.view(), model.tokenizer);
  } else if (ends(options.out, ".json")) {
    if (model.tokenizer.kind().name != std::string_view("word"))
      throw ConfigError(
          fmt::format("{}: expected a model of words, which is what the tutorial has, "
                      "found one of the tokenizer {}; write .safetensors or .onnx",
                      options.in, model.tokenizer.kind().name));
    if (options.vocab && !ends(options.in, ".json")) {
      std::string words;
      for (const std::string& word : model.tokenizer.words()) words += word + '\n';
      write_output(*options.vocab, words);
    }
    write_tutorial_model(options.out, model.weights.view());
    if (!options.vocab)
      print_status(
          "the vocabulary stays behind, for which a .json has no place; --vocab FILE "
          "writes it");
  } else {
    write_model(options.out, model.weights.view(), model.tokenizer, model.training);
  }
  print_status("wrote " + options.out);
}

int convert(const ConvertOptions& options) {
  if (!ends(options.out, ".safetensors") && !ends(options.out, ".json") &&
      !ends(options.out, ".onnx"))
    throw UsageError(
        fmt::format("OUT: expected a name that ends in .safetensors, .json or .onnx, "
                    "found '{}'",
                    shortened(options.out)));
  const bool from_json = ends(options.in, ".json");
  if (ends(options.in, ".onnx"))
    throw UsageError(
        "IN: expected a .safetensors or .json file, found an .onnx file, which can "
        "be written only");
  if (options.corpus && !from_json)
    throw UsageError(
        "--corpus: expected a .json as IN, found a file that has its vocabulary; "
        "leave it out");
  if (options.vocab && !from_json && !ends(options.out, ".json"))
    throw UsageError("--vocab: expected a .json as IN or OUT, found none; leave it out");
  refuse_overwriting("OUT", options.out,
                     {{"IN", options.in},
                      {"CORPUS", options.corpus.value_or("")},
                      {"--vocab", options.vocab.value_or("")}});
  if (options.vocab && !from_json)
    refuse_overwriting("vocab", *options.vocab, {{"IN", options.in}});
  check_writable(options.out);
  if (from_json)
    write(options, read_json(options));
  else
    std::visit([&](const auto& model) { write(options, model); }, read_model(options.in));
  return 0;
}

}  // namespace

const Command convert_command = make_command<convert>(
    "convert", "write a model as another kind of file",
    "The endings say what IN is and what OUT becomes: .safetensors, glassbox's own; .json, the "
    "file of the tutorial that glassbox re-creates, exact to the last digit both ways; .onnx, for "
    "other runtimes, which can't be read back.",
    {"glassbox convert cats.safetensors cats.onnx",
     "glassbox convert model.json cats.safetensors --corpus text.txt"});

}  // namespace glassbox::cli
