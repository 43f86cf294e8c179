// glassbox play MODEL
#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output.h"
#include "cli/view/text.h"
#include "infer/generate.h"
#include "inspect/inspection.h"

namespace glassbox::cli {

namespace {

struct PlayOptions {
  std::string model, text;
  SamplerConfig sampler = {.temperature = 0.8};
  SeedOption seed;
  TopOption top;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", kModelHelp);
    table.sentence(text, "[TEXT]", "how the sentence begins");
    table.group("Sampling");
    table.number(sampler.temperature, "temperature",
                 {.alias = "temp",
                  .value = "X",
                  .help = "below 1 keeps to the likely, above 1 dares more; 0 always takes the "
                          "likeliest word"});
    table.integer(sampler.top_k, "top-k",
                  {.value = "K", .help = "draw from the K likeliest words; 0 is off"});
    table.number(sampler.top_p, "top-p",
                 {.value = "P",
                  .range = between(0, 1),
                  .help = "draw from the fewest likeliest words whose probabilities sum to at "
                          "least P; 1 is off"});
    seed.visit(table, "drawing on from an empty line gives the first sentence of sample");
    table.group("Output");
    top.visit(table);
  }
};

constexpr std::string_view kKeys =
    "Enter draws a word; a number takes the one of that number; other text is added as it is.\n"
    ":b takes a word back, :n begins anew, :e writes to the end, :t 0.5 sets the temperature,\n"
    ":k 40 top-k, :p 0.9 top-p, :q ends.\n";

// One sentence under way.
template <class T>
class Play {
 public:
  Play(Decoder<T> model, const PlayOptions& options)
      : model_(std::move(model)),
        config_(options.sampler),
        uniform_(options.seed.seed, 0),
        seed_(options.seed.seed),
        rivals_(options.top.top) {
    config_.validate();
    tokens_ = tokenizer().encode(options.text, "TEXT");
  }

  int run() {
    const bool asks = isatty(STDIN_FILENO) != 0;
    if (asks) print(kKeys);
    show();
    for (std::string line; prompt(asks) && std::getline(std::cin, line);) {
      try {
        if (!take(line)) return 0;
      } catch (const Error& error) {
        print(escape_controls(error.what()) + "\n");
        continue;
      }
      show();
    }
    if (asks) print("\n");
    return 0;
  }

 private:
  const Tokenizer& tokenizer() const { return model_.tokenizer(); }

  static bool prompt(bool asks) {
    if (asks) print("> ");
    finish_output();
    return true;
  }

  // False to end.
  bool take(const std::string& line) {
    if (line == ":q") return false;
    if (line.empty()) {
      draw();
    } else if (line == ":b") {
      if (ended_)
        ended_ = false;
      else if (!tokens_.empty())
        tokens_.pop_back();
    } else if (line == ":n") {
      tokens_.clear();
      ended_ = false;
      uniform_ = UniformStream(seed_, 0);
    } else if (line == ":e") {
      const std::size_t most = tokens_.size() + model_.config().block_size;
      while (!ended_ && tokens_.size() < most) draw();
    } else if (line[0] == ':') {
      set(line);
    } else if (const auto choice = number(line)) {
      if (ended_ || *choice < 1 || *choice > shown_.size())
        throw ConfigError(
            fmt::format("expected a number from 1 to {}, found {}; type :b, or a word "
                        "in front of it to write it",
                        ended_ ? 0 : shown_.size(), line));
      add(shown_[*choice - 1]);
    } else {
      const auto more = tokenizer().encode(line, "text");
      ended_ = false;
      tokens_.insert(tokens_.end(), more.begin(), more.end());
    }
    return true;
  }
  static std::optional<std::size_t> number(const std::string& line) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || end != line.data() + line.size()) return {};
    return value;
  }
  void set(const std::string& line) {
    SamplerConfig changed = config_;
    double value = 0;
    const char* const begin = line.data() + std::min<std::size_t>(3, line.size());
    const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
    const bool whole =
        value >= 0 && value < 1e9 && value == static_cast<double>(static_cast<std::size_t>(value));
    const bool is_number = error == std::errc() && end == line.data() + line.size() &&
                           line.size() > 3 && line[2] == ' ';
    if (is_number && line[1] == 't')
      changed.temperature = value;
    else if (is_number && line[1] == 'k' && whole)
      changed.top_k = static_cast<std::size_t>(value);
    else if (is_number && line[1] == 'p')
      changed.top_p = value;
    else
      throw ConfigError(
          fmt::format("expected :b, :n, :e, :q, or :t, :k or :p with a number, found "
                      "'{}'",
                      shortened(line)));
    changed.validate();
    config_ = changed;
  }
  void draw() {
    if (ended_) return;
    Sampler sampler(config_);
    add(sampler.sample(std::span<const T>(logits()), uniform_(), tokens_));
  }
  void add(TokenId token) {
    ended_ = token == tokenizer().bos();
    if (!ended_) tokens_.push_back(token);
  }

  // What the next token is drawn from, by the windows of generate_tokens.
  std::vector<T> logits() {
    std::vector<TokenId> with_next = tokens_;
    with_next.push_back(0);
    std::vector<T> result;
    for_each_logits<T>(model_, with_next, [&](std::size_t i, std::span<const T> logits) {
      if (i == tokens_.size()) result.assign(logits.begin(), logits.end());
    });
    return result;
  }

  void show() {
    const std::string text = tokenizer().decode(tokens_);
    print(escape_controls(repaired_utf8(text)) + (ended_ ? " (end)\n" : "\n"));
    shown_.clear();
    if (ended_) return;
    const std::vector<T> now = logits();
    Sampler sampler(config_);
    const auto drawn = sampler.probabilities(std::span<const T>(now), tokens_);
    const auto plain = softmax({now.begin(), now.end()});
    shown_ = likeliest_tokens(plain, rivals_);
    Table table({1, 4});
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      const TokenId token = shown_[i];
      const double chance = drawn[token];
      table.row({fmt::format("{:>4}", i + 1),
                 token == tokenizer().bos() ? "(end)" : shown_token(tokenizer().word(token)),
                 fmt::format("{:.2f}%", 100 * chance), fmt::format("{:.2f}%", 100 * plain[token]),
                 std::string(static_cast<std::size_t>(chance * 40 + 0.5), '#')});
    }
    print(table.text());
  }

  Decoder<T> model_;
  SamplerConfig config_;
  UniformStream uniform_;
  std::uint32_t seed_;
  std::size_t rivals_;
  std::vector<TokenId> tokens_;
  std::vector<TokenId> shown_;  // the rivals as numbered
  bool ended_ = false;
};

int play(const PlayOptions& options) {
  return std::visit(
      [&](auto&& model) {
        using T = std::remove_pointer_t<decltype(model.weights.data())>;
        return Play<T>(Decoder<T>(std::move(model)), options).run();
      },
      read_model(options.model));
}

}  // namespace

const Command play_command = make_command<play>(
    "play", "write a sentence with a model, word by word",
    "Shows a sentence and what may come next: the chance of each word with your settings, then by "
    "the model alone. An empty line draws a word; a number takes the one of that number; other "
    "text is added as it is. :b takes a word back, :n begins anew, :e writes to the end, :t, :k "
    "and :p with a number set temperature, top-k and top-p, :q ends. It reads a pipe as well.",
    {"glassbox play cats.safetensors", "glassbox play cats.safetensors 'the cat' --top 5"});

}  // namespace glassbox::cli
