#include "train/trainer.h"

#include <cmath>

#include "autograd/scope.h"
#include "base/error.h"
#include "base/json.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/error_message.h"
#include "tests/support/plain_gpt.h"
#include "tests/support/small_models.h"

using namespace glassbox;

namespace {

const std::string kGolden = GLASSBOX_GOLDEN_DIR;

template <class T>
std::vector<T> weights_of(const Gpt<T>& model) {
  return {model.weights().data, model.weights().data + model.layout().slab_size()};
}

template <class T>
std::vector<T> trained(const TrainConfig& config) {
  TinyText text(kGolden);
  Gpt<T> model({.vocab_size = text.tokenizer.size()}, text.random);
  Trainer<T>(model, text.tokenizer, text.corpus, config).run();
  return weights_of(model);
}

// A text and a model of the small shape for its words.
struct SmallRun {
  explicit SmallRun(const std::string& text, TrainConfig config, std::size_t block_size = 8)
      : corpus(Corpus::from_text(text, "text.txt")),
        tokenizer(Tokenizer::words(corpus)),
        model({.vocab_size = tokenizer.size(),
               .block_size = block_size,
               .n_layer = 1,
               .n_head = 2,
               .n_embd = 8},
              random),
        trainer(model, tokenizer, corpus, config) {}
  Random random{77};
  Corpus corpus;
  Tokenizer tokenizer;
  Gpt<double> model;
  Trainer<double> trainer;
};

}  // namespace

TEST_CASE("Trainer: sentence j of step i is line i B + j, over the end and on from the beginning",
          "[train][trainer]") {
  // Lines of 1 to 5 words have 2 to 6 predictions, so each step's count tells its lines.
  SmallRun run("a\na a\na a a\na a a a\na a a a a\n", {.steps = 5, .batch_size = 3});
  std::vector<std::uint64_t> total;
  run.trainer.run([&](const StepStats& stats) { total.push_back(stats.tokens); });
  //  lines 1 2 3, 4 5 1, 2 3 4, 5 1 2, 3 4 5
  CHECK(total == std::vector<std::uint64_t>{2 + 3 + 4, 9 + 5 + 6 + 2, 22 + 3 + 4 + 5,
                                            34 + 6 + 2 + 3, 45 + 4 + 5 + 6});
}

TEST_CASE("Trainer: a batch's loss is the mean over its sentences of each one's mean",
          "[train][trainer]") {
  SmallRun run("a b\nc\nb c a d a\n", {.steps = 2, .batch_size = 2, .learning_rate = 1e-300});
  const plain::Gpt<double> plain(run.model.weights());
  const auto loss = [&](std::size_t a, std::size_t b) {
    return plain.loss(std::vector{run.tokenizer.encode_sentence(run.corpus[a]),
                                  run.tokenizer.encode_sentence(run.corpus[b])});
  };
  CHECK(run.trainer.step().loss == Approx(loss(0, 1)).epsilon(1e-13));
  CHECK(run.trainer.step().loss == Approx(loss(2, 0)).epsilon(1e-13));
}

TEST_CASE("Trainer: what does not fit the block is cut, counted, and named by its line",
          "[train][trainer]") {
  // Block 8: of 6 words 7 predictions, of 7 words 8, the last of them the end; of 8 words 8,
  // without it.
  SmallRun run("\na a a a a a\n\n\na a a a a a a\na a a a a a a a\nb b b b b b b b b b\n",
               {.steps = 3});
  CHECK(run.trainer.cut_sentences().count == 2);
  CHECK(run.trainer.cut_sentences().first_line == 6);
  CHECK(run.trainer.step().tokens == 7);
  CHECK(run.trainer.step().tokens == 7 + 8);
  CHECK(run.trainer.step().tokens == 7 + 8 + 8);
}

TEST_CASE("Trainer: the first cut line is the file's first, in whatever order the lines are",
          "[train][trainer]") {
  const std::string nine = "a a a a a a a a a\n";
  Corpus corpus = Corpus::from_text("a\n" + nine + "b\n" + nine + "c\n" + nine + "d\n", "text.txt");
  const Tokenizer tokenizer = Tokenizer::words(corpus);
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    corpus.shuffle(random);
    Gpt<float> model(small_shape(tokenizer.size()), random);
    const Trainer<float> trainer(model, tokenizer, corpus, {});
    CHECK(trainer.cut_sentences().count == 3);
    CHECK(trainer.cut_sentences().first_line == 2);
  }
}

TEST_CASE("Trainer: steps count from 1 and the learning rate falls from its full value",
          "[train][trainer]") {
  SmallRun run("a b\nc\n", {.steps = 5000});
  std::vector<double> rates;
  run.trainer.run([&](const StepStats& stats) {
    REQUIRE(stats.step == rates.size() + 1);
    rates.push_back(stats.learning_rate);
  });
  REQUIRE(rates.size() == 5000);
  CHECK(rates[0] == 0.01);
  CHECK(rates[1] == Approx(0.009998).epsilon(1e-14));
  CHECK(rates[2500] == 0.005);
  CHECK(rates[4999] == Approx(2e-06).epsilon(1e-9));
  CHECK(run.trainer.done());
}

TEST_CASE("Trainer: a step beyond the last is refused and changes nothing", "[train][trainer]") {
  SmallRun run("a b\nb a\n", {.steps = 3});
  for (int i = 0; i < 3; ++i) run.trainer.step();
  const std::vector<double> weights = weights_of(run.model);
  CHECK_THAT(error_message<ConfigError>([&] { run.trainer.step(); }),
             text_contains("steps: expected at most 3"));
  CHECK(weights_of(run.model) == weights);
  CHECK(run.trainer.done());
  std::size_t calls = 0;
  run.trainer.run([&](const StepStats&) { ++calls; });
  CHECK(calls == 0);
}

TEST_CASE("Trainer: the largest number of steps is one that can be begun", "[train][trainer]") {
  SmallRun run("a b\nb a\n", {.steps = ~std::uint64_t{0}});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const StepStats stats = run.trainer.step();
    CHECK(stats.step == i);
    CHECK(stats.learning_rate == 0.01);
  }
  CHECK_FALSE(run.trainer.done());
}

TEST_CASE("Trainer: no steps leave the weights as they were drawn", "[train][trainer]") {
  SmallRun run("a b\nc\n", {.steps = 0});
  const auto before = weights_of(run.model);
  run.trainer.run([](const StepStats&) { FAIL("a step was made"); });
  CHECK(different_bits<double>(weights_of(run.model), before) == 0);
}

TEMPLATE_TEST_CASE("Trainer: its steps are forward, backward, Adam, each from gradients of 0",
                   "[train][trainer]", float, double) {
  TinyText text(kGolden);
  const TrainConfig config{.steps = 300, .batch_size = 2};
  Gpt<TestType> model({.vocab_size = text.tokenizer.size()}, text.random), twin(model.weights());
  Trainer<TestType> trainer(model, text.tokenizer, text.corpus, config);
  Optimizer<TestType> adam(twin.tape(), twin.layout().slab_size(), {});
  Batch batch;
  for (std::size_t step = 0; step < 300; ++step) {
    batch.clear();
    for (std::size_t j = 0; j < 2; ++j)
      batch.add(text.tokenizer.encode_sentence(text.corpus[(2 * step + j) % text.corpus.size()]),
                16);
    batch.set_weights();
    const StepScope<TestType> scope(twin.tape());
    twin.tape().zero_grad();
    twin.loss(batch).mean.backward();
    const double rate = trainer.step().learning_rate;
    adam.step(rate);
    REQUIRE(different_bits<TestType>(weights_of(model), weights_of(twin)) == 0);
  }
}

TEST_CASE("Trainer: a callback may read the step's gradients when they are kept",
          "[train][trainer]") {
  TinyText text(kGolden);
  Gpt<double> model({.vocab_size = text.tokenizer.size()}, text.random), twin(model.weights());
  Trainer<double> trainer(model, text.tokenizer, text.corpus, {.steps = 1, .keep_gradients = true});
  const auto sentence = text.tokenizer.encode_sentence(text.corpus[0]);
  const Batch batch = batch_of({&sentence, 1}, 16);
  twin.loss(batch).mean.backward();
  const auto gradient = [](Gpt<double>& from, const char* name) {
    return from.parameter(name, 3, 2).grad();
  };
  trainer.run([&](const StepStats&) {
    for (const char* name : {"output", "layers.0.attention.query", "layers.1.mlp.hidden"}) {
      CHECK(gradient(model, name) != 0);
      CHECK(bits_of(gradient(model, name)) == bits_of(gradient(twin, name)));
    }
  });
}

TEMPLATE_TEST_CASE("Trainer: two equal runs end in equal bits", "[train][trainer]", float, double) {
  const auto once = trained<TestType>({.steps = 100, .batch_size = 3});
  CHECK(different_bits<TestType>(once, trained<TestType>({.steps = 100, .batch_size = 3})) == 0);
  CHECK(different_bits<TestType>(once, trained<TestType>({.steps = 101, .batch_size = 3})) > 0);
}

TEST_CASE("Trainer: words and positions that no sentence has keep their bits", "[train][trainer]") {
  const Corpus corpus = Corpus::from_text("b c\nc\nb b\n", "text.txt");
  const Tokenizer tokenizer = Tokenizer::from_words({"a", "b", "c"}, true, "test");
  Random random(81);
  Gpt<float> model(small_shape(tokenizer.size()), random);
  const Gpt<float> before(model.weights());
  Trainer<float>(model, tokenizer, corpus, {.steps = 200}).run();
  const auto same = [&](const char* name, std::size_t row) {
    const ParameterSpec& p = *model.layout().find(name);
    return different_bits<float>({model.weights().data + p.index(row, 0), p.cols},
                                 {before.weights().data + p.index(row, 0), p.cols}) == 0;
  };
  CHECK(same("token_embedding", 0));
  for (std::size_t word = 1; word < 4; ++word) CHECK_FALSE(same("token_embedding", word));
  for (std::size_t t = 0; t < 3; ++t) CHECK_FALSE(same("position_embedding", t));
  for (std::size_t t = 3; t < 8; ++t) CHECK(same("position_embedding", t));
}

TEMPLATE_TEST_CASE("Trainer: a loss that is not finite ends the run and leaves finite weights",
                   "[train][trainer]", float, double) {
  TinyText text(kGolden);
  Gpt<TestType> model({.vocab_size = text.tokenizer.size()}, text.random);
  const double rate = sizeof(TestType) == 4 ? 1e15 : 1e150;
  Trainer<TestType> trainer(model, text.tokenizer, text.corpus,
                            {.steps = 20, .learning_rate = rate});
  trainer.step();
  const auto before = weights_of(model);
  const std::string message = error_message<NumericError>([&] { trainer.run(); });
  CHECK_THAT(message, text_contains("step 2: "));
  CHECK_THAT(message, text_contains("line " + std::to_string(text.corpus.line_number(1)) + " of "));
  CHECK(different_bits<TestType>(weights_of(model), before) == 0);
  for (const TestType w : before) REQUIRE(std::isfinite(w));
}

TEST_CASE("Trainer: a loss that is large but finite never ends a run", "[train][trainer]") {
  TinyText text(kGolden);
  Gpt<float> model({.vocab_size = text.tokenizer.size()}, text.random);
  double largest = 0;
  Trainer<float>(model, text.tokenizer, text.corpus, {.steps = 200, .learning_rate = 0.5})
      .run([&](const StepStats& stats) { largest = std::max(largest, stats.loss); });
  CHECK(largest > 20);
}

TEST_CASE("Trainer: memory does not grow from step 40 to step 400", "[train][trainer]") {
  TinyText text(kGolden);
  Gpt<float> model({.vocab_size = text.tokenizer.size()}, text.random);
  Trainer<float> trainer(model, text.tokenizer, text.corpus, {.steps = 400});
  std::size_t at_40 = 0;
  trainer.run([&](const StepStats& stats) {
    if (stats.step == 40) at_40 = model.tape().memory();
  });
  CHECK(at_40 > 28096 * 2 * sizeof(float));
  CHECK(model.tape().memory() == at_40);
  CHECK(model.tape().size() == model.tape().kept_size());
}

TEST_CASE("Trainer: the tape's memory is made once, for the largest batch", "[train][trainer]") {
  // Each step's batch is larger than the one before.
  SmallRun run("a\na a\na a a\na a a a\na a a a a\na a a a a a\n", {.steps = 6, .batch_size = 3});
  const auto* const data = run.model.tape().data_from(0);
  const std::size_t memory = run.model.tape().memory();
  run.trainer.step();
  const std::size_t after_first = run.model.tape().memory();
  CHECK(after_first - memory < memory);  // lists of records and no scalars
  run.trainer.run();
  CHECK(run.model.tape().data_from(0) == data);
}

TEST_CASE("Trainer: settings and texts that do not fit are refused", "[train][trainer]") {
  const Corpus corpus = Corpus::from_text("a b\n", "text.txt");
  const Tokenizer tokenizer = Tokenizer::words(corpus);
  const Tokenizer other = Tokenizer::from_words({"x", "y"}, true, "test");
  Random random(82);
  Gpt<float> model(small_shape(3), random), larger(small_shape(4), random);
  const auto make = [&](Gpt<float>& m, const Tokenizer& words, const TrainConfig& config) {
    return [&, config] { Trainer<float>(m, words, corpus, config); };
  };
  CHECK_THAT(error_message<ConfigError>(make(model, tokenizer, {.batch_size = 0})),
             text_contains("batch_size"));
  for (const double rate : {0.0, -1.0, std::nan(""), HUGE_VAL})
    CHECK_THAT(error_message<ConfigError>(make(model, tokenizer, {.learning_rate = rate})),
               text_contains("learning_rate"));
  CHECK_THAT(error_message<ConfigError>(make(model, tokenizer, {.beta1 = 1.5})),
             text_contains("beta1"));
  CHECK_THAT(error_message<ConfigError>(make(larger, tokenizer, {})),
             text_contains("vocab_size: expected the tokenizer's 3, found 4"));
  CHECK_THAT(error_message<VocabularyError>(make(model, other, {})), text_contains("\"a\""));
}

TEST_CASE("Trainer: the provenance is JSON and says how the model was trained",
          "[train][trainer]") {
  SmallRun run("a b\nc\n", {.steps = 7, .batch_size = 2, .learning_rate = 0.02, .seed = 9});
  run.trainer.run();
  const Json json = Json::parse(run.trainer.provenance(), "test");
  CHECK(json.find("seed")->integer() == 9);
  CHECK(json.find("steps")->integer() == 7);
  CHECK(json.find("batch_size")->integer() == 2);
  CHECK(json.find("learning_rate")->number() == 0.02);
  CHECK(json.find("sentences")->integer() == 2);
}

TEMPLATE_TEST_CASE("Trainer: grad_accum has the losses and the bits of the larger batch",
                   "[train][trainer]", float, double) {
  using T = TestType;
  for (const OptimizerConfig& optimizer :
       std::vector<OptimizerConfig>{{}, {.kind = OptimizerKind::adamw, .grad_clip = 0.5}})
    for (const double dropout : {0.0, 0.3})
      for (const std::uint64_t sentences : {0, 50})  // 50: the last step is a short one
        for (const std::size_t threads : {1, 3}) {
          const auto run = [&](std::size_t batch_size, std::size_t grad_accum) {
            TinyText text(kGolden);
            Gpt<T> model({.vocab_size = text.tokenizer.size(), .n_embd = 20}, text.random);
            Trainer<T> trainer(model, text.tokenizer, text.corpus,
                               {.steps = sentences ? 5u : 20u,
                                .batch_size = batch_size,
                                .grad_accum = grad_accum,
                                .sentences = sentences,
                                .optimizer = optimizer.kind,
                                .grad_clip = optimizer.grad_clip,
                                .dropout = dropout,
                                .threads = threads});
            std::vector<StepStats> log;
            trainer.run([&](const StepStats& stats) { log.push_back(stats); });
            return std::tuple(std::move(log), weights_of(model), trainer.provenance());
          };
          const auto [log, weights, provenance] = run(12, 1);
          for (const auto& [batch_size, grad_accum] :
               {std::pair<std::size_t, std::size_t>{1, 12}, {4, 3}, {6, 2}}) {
            CAPTURE(sentences, threads, batch_size, dropout);
            const auto [parts_log, parts_weights, parts_provenance] = run(batch_size, grad_accum);
            REQUIRE(log.size() == parts_log.size());
            for (std::size_t i = 0; i < log.size(); ++i) {
              CHECK(log[i].loss == parts_log[i].loss);
              CHECK(log[i].tokens == parts_log[i].tokens);
            }
            CHECK(different_bits<T>(weights, parts_weights) == 0);
            CHECK(provenance == parts_provenance);
          }
        }
}
