// How long things take: training, decoding, a plain scalar node, reading, starting.
//   bench TEXT [--program GLASSBOX] [--json FILE] [--runs N] [--only WORD]
//   bench --compare A.json B.json
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autograd/ops.h"
#include "autograd/scope.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "infer/generate.h"
#include "kernels/op.h"
#include "train/trainer.h"

extern char** environ;

namespace glassbox {
namespace {

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Processor seconds of one call.
double timed(const std::function<void()>& work) {
  const double start = thread_seconds();
  work();
  return thread_seconds() - start;
}

struct Settings {
  std::string text, program, json, only;
  std::size_t runs = 9;
};

struct Row {
  std::string name, unit;
  std::vector<double> runs;  // rising

  double at(double share) const {
    return runs[static_cast<std::size_t>(share * static_cast<double>(runs.size() - 1) + 0.5)];
  }
  double median() const { return at(0.5); }
};

class Bench {
 public:
  explicit Bench(const Settings& settings) : settings_(settings) {
    fmt::print("{:<44} {:>10} {:>10} {:>7}\n", "", "median", "best", "+-");
  }

  bool wants(const std::string& name) const {
    return name.find(settings_.only) != std::string::npos;
  }

  // `once` gives the cost of one unit, in `unit`. Called a time more than counted, to warm up.
  void measure(const std::string& name, const std::string& unit,
               const std::function<double()>& once) {
    if (!wants(name)) return;
    Row row{name, unit, {}};
    once();
    for (std::size_t i = 0; i < settings_.runs; ++i) row.runs.push_back(once());
    std::sort(row.runs.begin(), row.runs.end());
    fmt::print("{:<44} {:>10.4g} {:>10.4g} {:>6.1f}% {}\n", name, row.median(), row.runs.front(),
               50 * (row.at(0.75) - row.at(0.25)) / row.median(), unit);
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }

  std::string as_json() const {
    JsonWriter json;
    json.begin_object().member("simd", kernels::simd_target()).key("rows").begin_array();
    for (const Row& row : rows_) {
      json.new_line().begin_object().member("name", row.name).member("unit", row.unit);
      json.member("median", row.median()).key("runs").values(row.runs).end_object();
    }
    return json.new_line().end_array().end_object().take() + '\n';
  }

 private:
  Settings settings_;
  std::vector<Row> rows_;
};

// A corpus in the order in which `glassbox train` takes it.
struct Text {
  explicit Text(const std::string& path)
      : corpus(Corpus::read(path)), tokenizer(Tokenizer::words(corpus)), random(42) {
    corpus.shuffle(random);
  }
  GptConfig shape(std::size_t width) const {
    return {.vocab_size = tokenizer.size(), .n_embd = width};
  }

  Corpus corpus;
  Tokenizer tokenizer;
  Random random;
};

// threads == 0: processor time of one thread; else time by the clock on the wall, which counts
// waiting too.
void training_row(Bench& bench, Text& text, int width, int batch, std::size_t threads) {
  std::string name = fmt::format("train: {} wide, batch {}", width, batch);
  if (threads > 0)
    name += fmt::format(", {} thread{} by the clock", threads, threads == 1 ? "" : "s");
  if (!bench.wants(name)) return;
  // About 50 ms a run: a sentence costs some 15 us at width 32 and grows almost as the square.
  const auto steps =
      static_cast<std::uint64_t>(std::max(8.0, 3000.0 / batch * (32.0 / width) * (32.0 / width)));
  Gpt<float> model(text.shape(static_cast<std::size_t>(width)), text.random);
  Trainer<float> trainer(model, text.tokenizer, text.corpus,
                         {.steps = 1'000'000,
                          .batch_size = static_cast<std::size_t>(batch),
                          .threads = std::max<std::size_t>(threads, 1)});
  bench.measure(name, "us a sentence", [&] {
    const double start = threads > 0 ? wall_seconds() : thread_seconds();
    for (std::uint64_t i = 0; i < steps; ++i) trainer.step();
    const double end = threads > 0 ? wall_seconds() : thread_seconds();
    return 1e6 * (end - start) / static_cast<double>(steps * static_cast<std::uint64_t>(batch));
  });
}

void training(Bench& bench, Text& text) {
  for (const auto& [width, batch] :
       {std::pair{32, 1}, {32, 16}, {32, 64}, {64, 16}, {128, 16}, {256, 16}})
    training_row(bench, text, width, batch, 0);
  for (const int batch : {16, 64})
    for (const std::size_t threads : {1, 2}) training_row(bench, text, 32, batch, threads);
}

// A model that `glassbox train` makes of the text: an untrained one's sentences would not end.
Model<float> trained(Text& text, std::size_t width) {
  Gpt<float> model(text.shape(width), text.random);
  Trainer<float> trainer(model, text.tokenizer, text.corpus, {.steps = width == 32 ? 5000u : 500u});
  trainer.run();
  return {text.tokenizer, Weights<float>(model.weights()), "{}"};
}

void decoding(Bench& bench, Text& text) {
  for (const std::size_t width : {std::size_t{32}, std::size_t{128}}) {
    if (!bench.wants(fmt::format("decode: {} wide", width))) continue;
    Decoder<float> model(trained(text, width));
    const std::size_t sentences = width == 32 ? 4096 : 512;
    std::vector<TokenId> fixed(model.config().block_size, 0);
    for (std::size_t i = 0; i < fixed.size(); ++i)
      fixed[i] = static_cast<TokenId>(i % text.tokenizer.size());
    bench.measure(fmt::format("decode: {} wide, a pass alone, no draw", width), "ns a token", [&] {
      KvCache<float> cache(model.config());
      return 1e9 / static_cast<double>(sentences / 4 * fixed.size()) * timed([&] {
               for (std::size_t i = 0; i < sentences / 4; ++i) {
                 cache.clear();
                 for (const TokenId token : fixed) model.step(token, cache);
               }
             });
    });
    // A token is a draw: a word, or the end of a sentence.
    const auto samples = [&](std::size_t slots, const SamplerConfig& sampling,
                             std::size_t shared = kSharedBytes) {
      std::size_t tokens = 0;
      const double seconds = timed([&] {
        for (const GeneratedSentence& sentence :
             Generator<float>(model, sampling, {}, 0, 42, shared).samples(0, sentences, slots))
          tokens += sentence.tokens.size() + (sentence.stopped ? 1 : 0);
      });
      return 1e9 * seconds / static_cast<double>(tokens);
    };
    for (const std::size_t slots :
         {std::size_t{1}, std::size_t{6}, std::size_t{12}, kDecodeBatch, std::size_t{96}})
      bench.measure(fmt::format("decode: {} wide, {} side by side", width, slots), "ns a token",
                    [&] { return samples(slots, {}); });
    bench.measure(fmt::format("decode: {} wide, {} side by side, none shared", width, kDecodeBatch),
                  "ns a token", [&] { return samples(kDecodeBatch, {}, 0); });
    bench.measure(fmt::format("decode: {} wide, {} side by side, top-k 40", width, kDecodeBatch),
                  "ns a token", [&] { return samples(kDecodeBatch, {.top_k = 40}); });
    bench.measure(fmt::format("decode: {} wide, {} side by side, top-p 0.9", width, kDecodeBatch),
                  "ns a token", [&] { return samples(kDecodeBatch, {.top_p = 0.9}); });
  }
}

// y = y * a + b over and over, forward and backward.
void scalars(Bench& bench) {
  if (!bench.wants("scalar: y = y*a + b, a million nodes")) return;
  Tape<float> tape;
  const Value<float> a = tape.leaf(0.999f), b = tape.leaf(0.001f);
  bench.measure("scalar: y = y*a + b, a million nodes", "ns a node", [&] {
    return 1e9 / 1e6 * timed([&] {
             const StepScope scope(tape);
             Value<float> y = a;
             for (int i = 0; i < 500'000; ++i) y = y * a + b;
             y.backward();
           });
  });
}

void reading(Bench& bench, const Text& text, const std::string& path) {
  std::size_t words = 0;
  for (std::size_t i = 0; i < text.corpus.size(); ++i)
    words += text.tokenizer.encode(text.corpus[i]).size();
  bench.measure("read: text, vocabulary and ids", "ns a word", [&] {
    return 1e9 / static_cast<double>(words) * timed([&] {
             const Corpus corpus = Corpus::read(path);
             Tokenizer::words(corpus).encode_lines(corpus);
           });
  });
}

// Milliseconds from here to the program's end.
double run_program(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1 /* O_WRONLY */, 0);
  const double start = wall_seconds();
  pid_t child = 0;
  if (posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ) != 0)
    throw FileError(fmt::format("{}: can't be started", words[0]));
  int status = 0;
  waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) throw FileError(fmt::format("{}: failed", words[0]));
  return 1e3 * (wall_seconds() - start);
}

void starting(Bench& bench, Text& text, const std::string& program) {
  if (program.empty() || !bench.wants("start: ")) return;
  const std::string model = std::filesystem::temp_directory_path() /
                            fmt::format("glassbox-bench-{}.safetensors", getpid());
  const Model<float> small = trained(text, 32);
  write_model(model, small.weights.view(), small.tokenizer, "{}");
  bench.measure("start: glassbox --version", "ms", [&] {
    return run_program({program, "--version"});
  });
  bench.measure("start: glassbox sample --num-samples 1", "ms", [&] {
    return run_program({program, "sample", model, "--num-samples", "1"});
  });
  std::filesystem::remove(model);
}

// Median of B over median of A, for what both measured.
void compare(const std::string& a_path, const std::string& b_path) {
  const auto read = [](const std::string& path) { return Json::parse(read_file(path), path); };
  const Json a = read(a_path), b = read(b_path);
  std::map<std::string, double> before;
  for (const Json& row : a.find("rows")->array())
    before[row.find("name")->string()] = row.find("median")->number();
  fmt::print("{:<44} {:>10} {:>10} {:>7}\n", "", "before", "after", "ratio");
  for (const Json& row : b.find("rows")->array()) {
    const auto found = before.find(row.find("name")->string());
    if (found == before.end()) continue;
    const double after = row.find("median")->number();
    fmt::print("{:<44} {:>10.4g} {:>10.4g} {:>7.3f} {}\n", found->first, found->second, after,
               after / found->second, row.find("unit")->string());
  }
}

constexpr const char* kUsage =
    "usage: bench TEXT [--program GLASSBOX] [--json FILE] [--runs N] [--only WORD]\n"
    "       bench --compare A.json B.json\n";

int run(std::vector<std::string> words) {
  Settings settings;
  if (words.size() == 3 && words[0] == "--compare") {
    compare(words[1], words[2]);
    return 0;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool option = words[i].rfind("--", 0) == 0;
    if (!option && settings.text.empty()) {
      settings.text = words[i];
    } else if (option && i + 1 < words.size() && words[i] == "--program") {
      settings.program = words[++i];
    } else if (option && i + 1 < words.size() && words[i] == "--json") {
      settings.json = words[++i];
    } else if (option && i + 1 < words.size() && words[i] == "--only") {
      settings.only = words[++i];
    } else if (option && i + 1 < words.size() && words[i] == "--runs" &&
               std::atoi(words[i + 1].c_str()) > 0) {
      settings.runs = static_cast<std::size_t>(std::atoi(words[++i].c_str()));
    } else {
      fmt::print(stderr, kUsage);
      return 2;
    }
  }
  if (settings.text.empty()) {
    fmt::print(stderr, kUsage);
    return 2;
  }
  Text text(settings.text);
  Bench bench(settings);
  training(bench, text);
  decoding(bench, text);
  scalars(bench);
  reading(bench, text, settings.text);
  starting(bench, text, settings.program);
  if (!settings.json.empty()) write_file(settings.json, bench.as_json());
  return 0;
}

}  // namespace
}  // namespace glassbox

int main(int count, char** words) {
  try {
    return glassbox::run({words + 1, words + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return 1;
  }
}
