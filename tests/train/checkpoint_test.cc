#include "train/checkpoint.h"

#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/error_message.h"
#include "tests/support/small_models.h"
#include "tests/support/temporary_folder.h"

using namespace glassbox;

namespace {

const std::string kGolden = GLASSBOX_GOLDEN_DIR;

// A run on tiny.txt, whose 47 words in batches of one make rows that Adam skips.
template <class T>
struct TinyRun {
  TinyRun(const TrainConfig& config, std::size_t n_embd = 16)
      : model({.vocab_size = text.tokenizer.size(), .n_embd = n_embd}, text.random),
        trainer(model, text.tokenizer, text.corpus, config) {}
  // From a file, as another process would.
  TinyRun(const TrainConfig& config, const Checkpoint<T>& from)
      : model(from.model.weights.view()), trainer(model, text.tokenizer, text.corpus, config) {
    trainer.resume(from.state);
  }
  // Runs to that step, or to the end.
  std::vector<double> run(std::uint64_t until = ~std::uint64_t{0}) {
    std::vector<double> losses;
    trainer.run([&](const StepStats& stats) { losses.push_back(stats.loss); },
                [&] { return trainer.steps_done() >= until; });
    return losses;
  }
  TinyText text{kGolden};
  Gpt<T> model;
  Trainer<T> trainer;
};

template <class T>
Checkpoint<T> read_as(const std::string& path) {
  return std::get<Checkpoint<T>>(read_checkpoint(path));
}

template <class T>
std::vector<T> slab(WeightsView<T> weights) {
  return {weights.data, weights.data + weights.layout->slab_size()};
}

}  // namespace

TEMPLATE_TEST_CASE("Checkpoint: a run that is taken up again ends in the bits of one that was not",
                   "[train][checkpoint]", float, double) {
  const TemporaryFolder folder;
  const std::string path = folder / "run.step-1.safetensors";
  using Kind = LrSchedule::Kind;
  for (const TrainConfig& each : std::vector<TrainConfig>{
           {},
           {.batch_size = 16},
           {.lr_schedule = Kind::constant},
           {.batch_size = 16, .lr_schedule = Kind::cosine, .warmup_steps = 40, .min_lr = 0.001},
           {.batch_size = 16,
           .optimizer = OptimizerKind::adamw,
           .weight_decay = 0.1,
           .grad_clip = 0.5},
           {.learning_rate = 0.1, .optimizer = OptimizerKind::sgd, .momentum = 0.9},
           {.weight_decay = 0.01},
           {.batch_size = 16, .dropout = 0.2}}) {
    TrainConfig config = each;
    config.steps = 200;
    TinyRun<TestType> whole(config);
    const std::vector<double> losses = whole.run();
    for (const std::uint64_t step : {0, 1, 37, 199, 200}) {
      CAPTURE(config.batch_size, step);
      config.threads = 1;
      TinyRun<TestType> first(config);
      first.run(step);
      write_checkpoint(path, first.trainer, {});
      config.threads = 3;
      TinyRun<TestType> second(config, read_as<TestType>(path));
      CHECK(second.run() ==
            std::vector<double>(losses.begin() + std::ptrdiff_t(step), losses.end()));
      CHECK(different_bits<TestType>(slab(second.model.weights()), slab(whole.model.weights())) ==
            0);
      CHECK(second.trainer.state().tokens == whole.trainer.state().tokens);
      CHECK(second.trainer.provenance() == whole.trainer.provenance());
    }
  }
}

TEST_CASE("Checkpoint: writing one after each step changes no bit of the run",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  const TrainConfig config{.steps = 300};
  TinyRun<float> plain(config), saved(config);
  plain.run();
  saved.trainer.run([&](const StepStats& stats) {
    write_checkpoint(checkpoint_path(folder / "run", stats.step % 2), saved.trainer, {});
  });
  CHECK(different_bits<float>(slab(saved.model.weights()), slab(plain.model.weights())) == 0);
  CHECK(different_bits<float>(saved.trainer.state().optimizer.m,
                              plain.trainer.state().optimizer.m) == 0);
  CHECK(different_bits<float>(saved.trainer.state().optimizer.v,
                              plain.trainer.state().optimizer.v) == 0);
}

TEST_CASE("Checkpoint: the bias correction goes on from the step, and what was told comes back",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run";
  TinyRun<float> run({.steps = 200});
  run.run(100);
  write_checkpoint(path, run.trainer, {"train", "0123", "", {{"lr", "0.01"}, {"steps", "200"}}});
  const auto read = read_as<float>(path);
  CHECK(1 - read.state.optimizer.power1 * 0.85 == Approx(0.9999999256).margin(1e-10));
  CHECK(read.state.optimizer.step == 100);
  CHECK(read.state.step == 100);
  CHECK(read.record.command == "train");
  CHECK(read.record.text == "0123");
  CHECK(read.record.settings ==
        std::map<std::string, std::string>{{"lr", "0.01"}, {"steps", "200"}});
  // It is a model file, too.
  const auto model = std::get<Model<float>>(read_model(path));
  CHECK(different_bits<float>(slab(model.weights.view()), slab(run.model.weights())) == 0);
}

TEST_CASE("Checkpoint: the best model so far comes back", "[train][checkpoint]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run";
  TinyRun<double> run({.steps = 20});
  run.run(5);
  const BestModel<double> best{Weights<double>(run.model.weights()), {5, 2.125}, 2};
  run.run(8);
  write_checkpoint(path, run.trainer, {}, &best);
  const auto read = read_as<double>(path);
  REQUIRE(read.best);
  CHECK(read.best->measured.step == 5);
  CHECK(read.best->measured.loss == 2.125);
  CHECK(read.best->worse_since == 2);
  CHECK(different_bits<double>(slab(read.best->weights.view()), slab(best.weights.view())) == 0);
  CHECK(different_bits<double>(slab(read.model.weights.view()), slab(run.model.weights())) == 0);
  const Json json = Json::parse(run.trainer.provenance(best.measured), "test");
  CHECK(json.find("steps")->integer() == 5);
  CHECK(json.find("val_loss")->number() == 2.125);
}

TEST_CASE("Checkpoint: a mean square that has overflowed is kept, a weight that has is refused",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run";
  TinyRun<float> run({.steps = 9});
  run.run(3);
  auto state = run.trainer.state();
  state.optimizer.v[0] = std::numeric_limits<float>::infinity();
  run.trainer.resume(state);
  write_checkpoint(path, run.trainer, {});
  CHECK(read_as<float>(path).state.optimizer.v[0] == std::numeric_limits<float>::infinity());
  const std::string before = file_bytes(path);
  *run.model.tape().data_from(0) = NAN;
  CHECK_THAT(error_message<NumericError>([&] { write_checkpoint(path, run.trainer, {}); }),
             text_contains("token_embedding"));
  CHECK(file_bytes(path) == before);
}

TEST_CASE("Checkpoint: what is none, is damaged or does not fit is refused",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  TinyRun<float> run({.steps = 9});
  run.run(3);
  save_model(folder / "model", run.model, run.text.tokenizer);
  CHECK_THAT(error_message<FormatError>([&] { read_checkpoint(folder / "model"); }),
             text_contains("expected a checkpoint, found a model without the optimiser's state; "
                           "train it further with glassbox finetune"));
  write_checkpoint(folder / "good", run.trainer, {"train", "01", "", {{"lr", "0.01"}}});
  const std::string good = file_bytes(folder / "good");
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    const std::size_t at = bytes.find(from);
    REQUIRE(at != std::string::npos);
    REQUIRE(from.size() == to.size());
    bytes.replace(at, from.size(), to);
    put_file(folder / "bad", bytes);
    return error_message<FormatError>([&] { read_checkpoint(folder / "bad"); });
  };
  CHECK_THAT(refused("\\\"step\\\":3", "\\\"stop\\\":3"), text_contains("glassbox.state"));
  CHECK_THAT(refused("\\\"step\\\":3,", "\\\"step\\\":-,"), text_contains("glassbox.state"));
  CHECK_THAT(refused("optimizer.powers", "optimizer.pawers"), text_contains("optimizer.powers"));
  CHECK_THAT(refused("optimizer.m.output", "optimizer.m.autput"),
             text_contains("optimizer.m.output"));
  for (std::size_t size = 0; size < good.size(); size += 997) {
    put_file(folder / "bad", good.substr(0, size));
    CHECK_THROWS_AS(read_checkpoint(folder / "bad"), FormatError);
  }
  TinyRun<float> shorter({.steps = 2}), wider({.steps = 9}, 32);
  CHECK_THAT(error_message<ConfigError>([&] { shorter.trainer.resume(run.trainer.state()); }),
             text_contains("steps: expected at least the 3 that are done, found 2"));
  CHECK_THAT(error_message<ConfigError>([&] { wider.trainer.resume(run.trainer.state()); }),
             text_contains("optimizer: expected "));
}

TEST_CASE("Checkpoint: its name says the model's and the step, and leads back to the model's",
          "[train][checkpoint]") {
  CHECK(checkpoint_path("d/cats.safetensors", 100) == "d/cats.step-00000100.safetensors");
  CHECK(checkpoint_path("M", 123456789) == "M.step-123456789.safetensors");
  CHECK(model_path_of("d/cats.step-00000100.safetensors") == "d/cats.safetensors");
  CHECK(model_path_of("M.step-123456789.safetensors") == "M.safetensors");
  for (const char* other : {"", "cats.safetensors", "cats.step-1.safetensors", "00000100",
                            "cats.stop-00000100.safetensors", "cats.step-00000100"})
    CHECK(model_path_of(other).empty());
}
