// glassbox tokenize MODEL [FILE]
#include <fmt/core.h>

#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text_file.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "model/model_file.h"
#include "model/tokenizer_json.h"

namespace glassbox::cli {

namespace {

struct TokenizeOptions {
  std::string model, file;
  bool pieces = false, decode = false, count = false;
  std::optional<std::string> export_to;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL",
                  "model file, as train writes it; or a tokenizer.json of byte-level BPE");
    table.operand(file, "[FILE]", "text, or with --decode lines of ids; - or nothing: stdin");
    table.group("Output");
    table.flag(pieces, "pieces",
               {.help = "the tokens as JSON strings instead of ids, those of bpe as they are "
                        "spelled in the vocabulary: a blank is Ġ",
                .not_with = "decode count export"});
    table.flag(decode, "decode",
               {.help = "the way back: from lines of ids to text; with bpe the very bytes",
                .not_with = "count export"});
    table.flag(count, "count",
               {.help = "only totals: lines, tokens, characters, characters a token",
                .not_with = "export"});
    table.file(export_to, "export",
               {.value = "FILE",
                .help = "write the vocabulary and merges of bpe as a tokenizer.json of Hugging "
                        "Face, and read no text",
                .not_with = "FILE"});
  }
};

Tokenizer read_any_tokenizer(const std::string& path) {
  if (path.ends_with(".json")) return read_tokenizer_json(path);
  return std::visit([](auto&& model) { return std::move(model.tokenizer); }, read_model(path));
}

// Calls f(line, number, has_end) for each line. Of an exact tokenizer only LF ends a line, and all
// else is the line's, so that what is printed with the same ends is the same text.
template <class F>
void for_each_line(std::string_view text, bool is_exact, F f) {
  std::size_t number = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    if (is_exact) {
      const std::size_t end = std::min(text.find('\n', offset), text.size());
      f(text.substr(offset, end - offset), ++number, end < text.size());
      offset = end + 1;
    } else {
      const std::string_view line = next_line(text, offset);
      f(line, ++number, true);
    }
  }
}

std::vector<TokenId> parse_ids(std::string_view line, const std::string& where, std::size_t size) {
  std::vector<TokenId> ids;
  std::size_t offset = 0;
  for (auto word = next_word(line, offset); !word.empty(); word = next_word(line, offset)) {
    TokenId id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id >= size)
      throw FormatError(
          fmt::format("{}: expected ids from 0 to {}, found {}; give the output of "
                      "glassbox tokenize",
                      where, size - 1, quotation(word)));
    ids.push_back(id);
  }
  return ids;
}

int tokenize(const TokenizeOptions& options) {
  if (options.export_to)
    refuse_overwriting("export", *options.export_to, {{"MODEL", options.model}});
  const Tokenizer tokenizer = read_any_tokenizer(options.model);
  if (options.export_to) {
    write_output(*options.export_to, tokenizer_json(tokenizer));
    return 0;
  }
  const bool is_exact = tokenizer.kind().exact;
  const bool is_stdin = options.file.empty() || options.file == "-";
  const std::string name = is_stdin ? "standard input" : options.file;
  const std::string text = is_exact || options.decode
                               ? (is_stdin ? read_standard_input() : read_file(options.file))
                               : (is_stdin ? read_standard_input_text() : read_text(options.file));
  std::size_t lines = 0, tokens = 0, characters = 0;
  for_each_line(text, is_exact, [&](std::string_view line, std::size_t number, bool has_end) {
    const std::string where = fmt::format("{}: line {}", name, number);
    std::string out;
    if (options.decode) {
      out = tokenizer.decode(parse_ids(line, where, tokenizer.size()));
    } else {
      const std::vector<TokenId> ids = tokenizer.encode(line, where);
      ++lines;
      tokens += ids.size();
      for (std::size_t at = 0; at < line.size(); at += character_length(line, at)) ++characters;
      if (options.count) return;
      for (const TokenId id : ids) {
        if (!out.empty()) out += ' ';
        out += options.pieces ? json_quote(tokenizer.word(id)) : std::to_string(id);
      }
    }
    if (has_end) out += '\n';
    print(out);
  });
  if (options.count)
    print(fmt::format(
        "lines {}\ntokens {}\ncharacters {}\ncharacters a token {}\n", lines, tokens, characters,
        tokens == 0 ? "-"
                    : json_number(static_cast<double>(characters) / static_cast<double>(tokens))));
  return 0;
}

}  // namespace

const Command tokenize_command = make_command<tokenize>(
    "tokenize", "what the tokenizer of a model makes of a text, and the way back",
    "Prints a line of token ids for each line of the text, without the BOS that training puts at "
    "both ends. --decode makes text of such lines. A text of bpe comes back byte by byte, that of "
    "the other tokenizers with white space and capital letters folded.",
    {"glassbox tokenize cats.safetensors data/questions.txt --pieces",
     "echo 'the cat' | glassbox tokenize cats.safetensors | glassbox tokenize cats.safetensors "
     "--decode"});

}  // namespace glassbox::cli
