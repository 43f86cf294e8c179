// How long things take: training, decoding, a plain scalar node, reading, starting.
//   bench TEXT [--program GLASSBOX] [--json FILE] [--runs N] [--only WORD] [--target NAME]
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
#include "bench/machine.h"
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
  std::string text, program, json, only, target;
  std::size_t runs = 9;
};

struct Row {
  std::string name, unit;
  double bound;              // in `unit`, what the processor would take at its best; 0: not known
  std::vector<double> runs;  // rising

  double at(double share) const {
    return runs[static_cast<std::size_t>(share * static_cast<double>(runs.size() - 1) + 0.5)];
  }
  double median() const { return at(0.5); }
};

class Bench {
 public:
  explicit Bench(const Settings& settings) : machine(measure_machine()), settings_(settings) {
    fmt::print(
        "{}, one core at its best: {:.4g} and {:.4g} thousand million multiply-adds a second\n",
        kernels::simd_target(), 1e-9 / machine.of_float.multiply_add,
        1e-9 / machine.of_double.multiply_add);
    fmt::print("in float and double; a root and a division in {:.3g} and {:.3g} ns; reads at\n",
               1e9 * machine.of_float.root_and_division, 1e9 * machine.of_double.root_and_division);
    fmt::print("{:.4g}, {:.4g}, {:.4g} and {:.4g} GB/s from the three caches and from memory\n\n",
               1e-9 / machine.byte[0], 1e-9 / machine.byte[1], 1e-9 / machine.byte[2],
               1e-9 / machine.byte[3]);
    fmt::print("{:<44} {:>10} {:>10} {:>7} {:>10} {:>8}\n", "", "median", "best", "+-", "bound",
               "reached");
  }

  const Machine machine;

  bool wants(const std::string& name) const {
    return name.find(settings_.only) != std::string::npos;
  }

  // `once` gives the cost of one unit, in `unit`. Called a time more than counted, to warm up. The
  // share of the bound that is reached is the best run's.
  void measure(const std::string& name, const std::string& unit,
               const std::function<double()>& once, double bound = 0) {
    if (!wants(name)) return;
    Row row{name, unit, bound, {}};
    once();
    for (std::size_t i = 0; i < settings_.runs; ++i) row.runs.push_back(once());
    std::sort(row.runs.begin(), row.runs.end());
    fmt::print("{:<44} {:>10.4g} {:>10.4g} {:>6.1f}% ", name, row.median(), row.runs.front(),
               50 * (row.at(0.75) - row.at(0.25)) / row.median());
    if (bound > 0)
      fmt::print("{:>10.4g} {:>7.0f}% {}\n", bound, 100 * bound / row.runs.front(), unit);
    else
      fmt::print("{:>10} {:>8} {}\n", "", "", unit);
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }

  std::string as_json() const {
    JsonWriter json;
    json.begin_object().member("simd", kernels::simd_target());
    json.key("machine").begin_object();
    json.member("multiply_add_ns", 1e9 * machine.of_float.multiply_add)
        .member("multiply_add_double_ns", 1e9 * machine.of_double.multiply_add)
        .member("root_and_division_ns", 1e9 * machine.of_float.root_and_division)
        .member("root_and_division_double_ns", 1e9 * machine.of_double.root_and_division);
    std::vector<double> byte_ns;
    for (const double byte : machine.byte) byte_ns.push_back(1e9 * byte);
    json.key("byte_ns").values(byte_ns);
    json.end_object().key("rows").begin_array();
    for (const Row& row : rows_) {
      json.new_line().begin_object().member("name", row.name).member("unit", row.unit);
      if (row.bound > 0) json.member("bound", row.bound);
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
  explicit Text(Corpus text)
      : corpus(std::move(text)), tokenizer(Tokenizer::words(corpus)), random(42) {
    corpus.shuffle(random);
  }
  GptConfig shape(std::size_t width) const {
    return {.vocab_size = tokenizer.size(), .n_embd = width};
  }

  Corpus corpus;
  Tokenizer tokenizer;
  Random random;
};

// What a step takes at best: its multiply-adds, three for each weight of a product and row and six
// for each channel that a position sees in attention; beside the last third of them, of the
// weights' gradients, the roots and divisions of Adam.
double step_bound(const Machine& machine, const ParameterLayout& layout, double rows, double seen) {
  const GptConfig& c = layout.config();
  const double width = static_cast<double>(c.n_embd), layers = static_cast<double>(c.n_layer);
  const double weights = 12 * width * width * layers + width * static_cast<double>(c.vocab_size);
  const double forward = rows * (weights + 2 * width * layers * seen);
  const double third = forward * machine.of_float.multiply_add;
  return 2 * third + std::max(third, weights * machine.of_float.root_and_division);
}

// Steps of a model of that shape, a row of the table; see training_row().
void train_steps(Bench& bench, Text& text, const GptConfig& shape, const std::string& name,
                 int batch, std::size_t threads, std::uint64_t steps) {
  if (!bench.wants(name)) return;
  Gpt<float> model(shape, text.random);
  Trainer<float> trainer(model, text.tokenizer, text.corpus,
                         {.steps = 1'000'000,
                          .batch_size = static_cast<std::size_t>(batch),
                          .threads = std::max<std::size_t>(threads, 1)});
  double rows = 0, seen = 0;  // in all: positions, and those that each one looks at
  for (std::size_t i = 0; i < text.corpus.size(); ++i) {
    const double length = static_cast<double>(
        std::min(shape.block_size, text.tokenizer.encode_sentence(text.corpus[i]).size() - 1));
    rows += length;
    seen += length * (length + 1) / 2;
  }
  const double sentences = static_cast<double>(text.corpus.size());
  bench.measure(
      name, "us a sentence",
      [&] {
        const double start = threads > 0 ? wall_seconds() : thread_seconds();
        for (std::uint64_t i = 0; i < steps; ++i) trainer.step();
        const double end = threads > 0 ? wall_seconds() : thread_seconds();
        return 1e6 * (end - start) / static_cast<double>(steps * static_cast<std::uint64_t>(batch));
      },
      1e6 / batch / std::max<double>(1, static_cast<double>(threads)) *
          step_bound(bench.machine, model.layout(), batch * rows / sentences, seen / rows));
}

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
  train_steps(bench, text, text.shape(static_cast<std::size_t>(width)), name, batch, threads,
              steps);
}

void training(Bench& bench, Text& text) {
  for (const auto& [width, batch] :
       {std::pair{32, 1}, {32, 16}, {32, 64}, {64, 16}, {128, 16}, {256, 16}})
    training_row(bench, text, width, batch, 0);
  for (const int batch : {16, 64})
    for (const std::size_t threads : {1, 2}) training_row(bench, text, 32, batch, threads);
}

// Lines of 120 words of 10,000: the text for models that are too large for a small one.
std::string long_lines() {
  Random random(7);
  std::string lines;
  for (std::size_t word = 0; word < 500 * 120; ++word)
    lines += fmt::format(
        "w{}{}",
        word < 10'000 ? static_cast<int>(word) : static_cast<int>(10'000 * random.uniform()),
        word % 120 == 119 ? '\n' : ' ');
  return lines;
}

// 10 million parameters.
GptConfig large_shape(const Text& text) {
  return {.vocab_size = text.tokenizer.size(),
          .block_size = 128,
          .n_layer = 6,
          .n_head = 8,
          .n_embd = 256};
}

void large_training(Bench& bench, Text& text) {
  for (const int batch : {1, 4, 16})
    for (const std::size_t threads : {0, 2})
      train_steps(bench, text, large_shape(text),
                  fmt::format("large: 10 million parameters, batch {}{}", batch,
                              threads ? ", 2 threads by the clock" : ""),
                  batch, threads, 1);
}

// out = x W and its two gradients.
template <class T>
void product_rows(Bench& bench, const char* precision, std::size_t rows, std::size_t inner,
                  std::size_t cols) {
  const std::string name = fmt::format("product: {} {} x {} x {}", precision, rows, inner, cols);
  const auto padded = kernels::padded;
  kernels::AlignedVector<T> x(rows * padded(inner), T(0.01)), w(inner * padded(cols), T(0.01)),
      out(rows * padded(cols)), d_x(x), d_w(w), d_out(out.size(), T(0.01));
  const auto view = [&](auto& data, auto& grad, std::size_t r, std::size_t c) {
    return kernels::MatrixView<T>{data.data(),
                                  grad.data(),
                                  static_cast<std::uint32_t>(r),
                                  static_cast<std::uint32_t>(c),
                                  static_cast<std::uint32_t>(padded(c)),
                                  true};
  };
  kernels::Args<T> args;
  args.out = view(out, d_out, rows, cols);
  args.in[0] = view(x, d_x, rows, inner);
  args.in[1] = view(w, d_w, inner, cols);
  kernels::Args<T> of_input = args, of_weight = args;
  of_input.in[1].grad = nullptr;
  of_weight.in[0].grad = nullptr;
  const auto& op = kernels::table<T>()[kernels::Op::matmul];
  const double work = static_cast<double>(rows * inner * cols);
  const double bound =
      (sizeof(T) == 4 ? bench.machine.of_float : bench.machine.of_double).multiply_add;
  const auto times = static_cast<std::size_t>(std::max(1.0, 2e-2 / (work * bound)));
  const auto row = [&](const char* what, const std::function<void()>& once) {
    bench.measure(
        name + what, "ns a thousand",
        [&] {
          return 1e12 / work / static_cast<double>(times) * timed([&] {
                   for (std::size_t i = 0; i < times; ++i) once();
                 });
        },
        1e12 * bound);
  };
  row(", forward", [&] { op.forward(args); });
  row(", input's", [&] { op.backward(of_input); });
  row(", weight's", [&] { op.backward(of_weight); });
}

void products(Bench& bench) {
  const std::size_t shapes[][3] = {{64, 64, 64},      {64, 256, 256},   {121, 256, 768},
                                   {484, 256, 1024},  {484, 1024, 256}, {1936, 256, 768},
                                   {968, 128, 10200}, {512, 1024, 1024}};
  for (const auto& [rows, inner, cols] : shapes)
    product_rows<float>(bench, "float", rows, inner, cols);
  product_rows<double>(bench, "double", 484, 256, 1024);
}

// A model that `glassbox train` makes of the text: an untrained one's sentences would not end.
Model<float> trained(Text& text, std::size_t width) {
  Gpt<float> model(text.shape(width), text.random);
  Trainer<float> trainer(model, text.tokenizer, text.corpus, {.steps = width == 32 ? 5000u : 500u});
  trainer.run();
  return {text.tokenizer, Weights<float>(model.weights()), "{}"};
}

// Passes of one token each, `times` times through `tokens`. At best each weight is read once.
void decode_alone(Bench& bench, Decoder<float>& model, const std::string& name,
                  const std::vector<TokenId>& tokens, std::size_t times) {
  const GptConfig& c = model.config();
  const double weights = static_cast<double>(c.n_embd * (12 * c.n_embd * c.n_layer + c.vocab_size));
  KvCache<float> cache(c);
  bench.measure(
      name, "ns a token",
      [&] {
        return 1e9 / static_cast<double>(times * tokens.size()) * timed([&] {
                 for (std::size_t i = 0; i < times; ++i) {
                   cache.clear();
                   for (const TokenId token : tokens) model.step(token, cache);
                 }
               });
      },
      1e9 * std::max(bench.machine.reading(4 * weights),
                     weights * bench.machine.of_float.multiply_add));
}

void large_decoding(Bench& bench, Text& text) {
  if (!bench.wants("large: decode")) return;
  const Gpt<float> drawn(large_shape(text), text.random);
  Decoder<float> model(Model<float>{text.tokenizer, Weights<float>(drawn.weights()), "{}"});
  std::vector<TokenId> tokens(64);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<TokenId>(97 * i);
  decode_alone(bench, model, "large: decode alone, no draw", tokens, 1);
  bench.measure(
      fmt::format("large: decode, {} side by side", kDecodeBatch), "ns a token",
      [&] {
        std::size_t count = 0;
        const double seconds = timed([&] {
          for (const GeneratedSentence& sentence :
               Generator<float>(model, {}, {}, 0, 42, 0).samples(0, 2 * kDecodeBatch, kDecodeBatch))
            count += sentence.tokens.size() + (sentence.stopped ? 1 : 0);
        });
        return 1e9 * seconds / static_cast<double>(count);
      },
      1e9 * bench.machine.of_float.multiply_add *
          static_cast<double>(
              model.config().n_embd *
              (12 * model.config().n_embd * model.config().n_layer + model.config().vocab_size)));
}

void decoding(Bench& bench, Text& text) {
  for (const std::size_t width : {std::size_t{32}, std::size_t{128}}) {
    if (!bench.wants(fmt::format("decode: {} wide", width))) continue;
    Decoder<float> model(trained(text, width));
    const std::size_t sentences = width == 32 ? 4096 : 512;
    std::vector<TokenId> fixed(model.config().block_size, 0);
    for (std::size_t i = 0; i < fixed.size(); ++i)
      fixed[i] = static_cast<TokenId>(i % text.tokenizer.size());
    decode_alone(bench, model, fmt::format("decode: {} wide, a pass alone, no draw", width), fixed,
                 sentences / 4);
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
    "usage: bench TEXT [--program GLASSBOX] [--json FILE] [--runs N] [--only WORD] [--target "
    "NAME]\n"
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
    } else if (option && i + 1 < words.size() && words[i] == "--target") {
      settings.target = words[++i];
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
  if (!settings.target.empty() && !kernels::choose_simd_target(settings.target.c_str()))
    throw ConfigError(
        fmt::format("--target: expected a target of this processor, found {}", settings.target));
  Text text(Corpus::read(settings.text));
  Bench bench(settings);
  products(bench);
  training(bench, text);
  Text lines(Corpus::from_text(long_lines(), "lines"));
  large_training(bench, lines);
  large_decoding(bench, lines);
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
