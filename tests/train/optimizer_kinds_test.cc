// AdamW, SGD, weight decay and clipping: steps by hand, and whole models against plain loops.
#include <cmath>

#include "autograd/matrix.h"
#include "autograd/ops.h"
#include "autograd/scope.h"
#include "base/error.h"
#include "nn/gpt.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/error_message.h"
#include "tests/support/small_models.h"
#include "train/optimizer.h"

using namespace glassbox;

namespace {

// Two weights with given gradients, among 17, so that a vector is left over.
struct TwoWeights {
  TwoWeights(const OptimizerConfig& settings, double a, double b) : config(settings) {
    weights(0, 0).set_data(a);
    weights(0, 16).set_data(b);
    tape.keep();
  }
  void step(double gradient_a, double gradient_b, double learning_rate) {
    tape.zero_grad();
    {
      const StepScope<double> scope(tape);
      (weights(0, 0) * gradient_a + weights(0, 16) * gradient_b).backward();
    }
    optimizer.step(learning_rate);
  }
  double a() const { return weights.data(0, 0); }
  double b() const { return weights.data(0, 16); }

  OptimizerConfig config;
  Tape<double> tape;
  Matrix<double> weights = tape.matrix(1, 17);
  Optimizer<double> optimizer{tape, 32, config};
};

Approx about(double x) { return Approx(x).epsilon(1e-15); }

constexpr auto kSgd = OptimizerKind::sgd, kAdamW = OptimizerKind::adamw;

const OptimizerConfig kConfigs[] = {
    {.kind = kSgd},
    {.kind = kSgd, .momentum = 0.9, .weight_decay = 0.01},
    {.kind = kSgd, .momentum = 0.5, .weight_decay = 0.1, .grad_clip = 0.3},
    {.weight_decay = 0.02},
    {.grad_clip = 0.2},
    {.kind = kAdamW},
    {.kind = kAdamW, .weight_decay = 0.1},
    {.beta1 = 0.9, .beta2 = 0.95, .kind = kAdamW, .weight_decay = 0.3, .grad_clip = 0.2},
};

}  // namespace

TEST_CASE("SGD: two steps by hand", "[train][optimizer]") {
  TwoWeights plain({.kind = kSgd}, 1, -2);
  plain.step(0.5, 0.25, 0.1);
  CHECK(plain.a() == about(0.95));
  CHECK(plain.b() == about(-2.025));
  plain.step(0.5, 0, 0.1);
  CHECK(plain.a() == about(0.9));
  CHECK(plain.b() == about(-2.025));

  TwoWeights heavy({.kind = kSgd, .momentum = 0.9}, 1, -2);
  heavy.step(0.5, 0.25, 0.1);
  CHECK(heavy.a() == about(0.95));
  heavy.step(0.5, 0, 0.1);
  CHECK(heavy.a() == about(0.95 - 0.1 * (0.45 + 0.5)));
  CHECK(heavy.b() == about(-2.025 - 0.1 * 0.225));
}

TEST_CASE("weight decay: a step by hand of each optimiser", "[train][optimizer]") {
  TwoWeights sgd({.kind = kSgd, .weight_decay = 0.1}, 1, -2);
  sgd.step(0.5, 0, 0.1);
  CHECK(sgd.a() == about(1 - 0.1 * (0.5 + 0.1 * 1)));
  CHECK(sgd.b() == about(-2 + 0.1 * 0.1 * 2));  // has no gradient and decays

  // Adam's first step is the learning rate times g / (|g| + epsilon).
  TwoWeights adam({.weight_decay = 0.5}, 1, -2);
  adam.step(4, 0, 0.1);
  CHECK(adam.a() == about(1 - 0.1 * 4.5 / (4.5 + 1e-8)));
  CHECK(adam.b() == about(-2 + 0.1 * 1 / (1 + 1e-8)));

  TwoWeights adamw({.kind = kAdamW, .weight_decay = 0.5}, 1, -2);
  adamw.step(4, 0, 0.1);
  CHECK(adamw.a() == about(0.95 - 0.1 * 4 / (4 + 1e-8)));
  CHECK(adamw.b() == about(-1.9));
}

TEST_CASE("clipping: a gradient of norm 5 is scaled to the norm asked for, a shorter one stays",
          "[train][optimizer]") {
  for (const double clip : {1.0, 2.5}) {
    TwoWeights one({.kind = kSgd, .grad_clip = clip}, 1, 1);
    one.step(3, 4, 1);
    CHECK(one.a() == about(1 - 3 * clip / 5));
    CHECK(one.b() == about(1 - 4 * clip / 5));
  }
  for (const double clip : {5.0, 6.0}) {
    TwoWeights one({.kind = kSgd, .grad_clip = clip}, 1, 1);
    one.step(3, 4, 1);
    CHECK(one.a() == -2);
    CHECK(one.b() == -3);
  }
}

TEST_CASE("optimisers: whole models move as the formulas, written out, move them",
          "[train][optimizer]") {
  const GptConfig shape = small_shape();
  for (const OptimizerConfig& config : kConfigs) {
    CAPTURE(name_of(config.kind), config.momentum, config.weight_decay, config.grad_clip);
    Gpt<double> model(drawn_weights<double>(shape, 841, 0.2).view()), twin(model.weights());
    const std::size_t size = model.layout().slab_size();
    const ParameterSpec& spec = *model.layout().find("layers.0.attention.key");
    std::vector<char> is_frozen(size);
    spec.for_each_element([&](auto, auto, std::size_t at) { is_frozen[at] = 1; });
    Optimizer<double> optimizer(model.tape(), size, config, std::array{spec.in_memory()});
    std::vector<double> w(model.weights().data, model.weights().data + size), m(size), v(size);
    std::mt19937_64 bits(842);
    bool clipped = false;
    for (int t = 1; t <= 30; ++t) {
      const double rate = 0.02 * (1 - t / 40.0);
      const auto sentence =
          drawn_sentence(bits, t < 5 ? 40 : 9, 6);  // most words rest after step 5
      const Batch batch = batch_of({&sentence, 1}, shape.block_size);
      const StepScope<double> scope(model.tape()), twin_scope(twin.tape());
      model.tape().zero_grad();
      twin.tape().zero_grad();
      optimizer.backward_step(model.loss(batch).mean, rate, t % 2 == 0);
      std::copy(w.begin(), w.end(), twin.tape().data_from(0));
      twin.loss(batch).mean.backward();
      const double* const g = twin.tape().grad_from(0);
      double squares = 0;
      for (std::size_t i = 0; i < size; ++i) squares += is_frozen[i] ? 0 : g[i] * g[i];
      const bool clips = config.grad_clip > 0 && std::sqrt(squares) > config.grad_clip;
      clipped |= clips;
      for (std::size_t i = 0; i < size; ++i) {
        if (is_frozen[i]) continue;
        double gradient = g[i] * (clips ? config.grad_clip / std::sqrt(squares) : 1);
        if (config.kind == kAdamW)
          w[i] -= rate * config.weight_decay * w[i];
        else
          gradient += config.weight_decay * w[i];
        if (config.kind == kSgd) {
          m[i] = config.momentum * m[i] + gradient;
          w[i] -= rate * m[i];
          continue;
        }
        m[i] = config.beta1 * m[i] + (1 - config.beta1) * gradient;
        v[i] = config.beta2 * v[i] + (1 - config.beta2) * gradient * gradient;
        w[i] -= rate * (m[i] / (1 - std::pow(config.beta1, t))) /
                (std::sqrt(v[i] / (1 - std::pow(config.beta2, t))) + config.epsilon);
      }
      // A gradient of 0 but for rounding has any sign, and Adam's steps are of one size: hence the
      // margin.
      for (std::size_t i = 0; i < size; ++i)
        REQUIRE(model.weights().data[i] == Approx(w[i]).epsilon(1e-9).margin(1e-9));
    }
    CHECK(clipped == (config.grad_clip > 0));
  }
}

TEMPLATE_TEST_CASE("optimisers: backward_step gives the bits of backward and then step",
                   "[train][optimizer]", float, double) {
  using T = TestType;
  const GptConfig shape = small_shape();
  for (const OptimizerConfig& config : kConfigs) {
    Gpt<T> model(drawn_weights<T>(shape, 843, 0.2).view()), twin(model.weights());
    const std::size_t size = model.layout().slab_size();
    Optimizer<T> optimizer(model.tape(), size, config), twin_optimizer(twin.tape(), size, config);
    std::mt19937_64 bits(844);
    for (int step = 0; step < 12; ++step) {
      const auto sentence = drawn_sentence(bits, shape.vocab_size, 3 + bits() % 6);
      const Batch batch = batch_of({&sentence, 1}, shape.block_size);
      const StepScope<T> scope(model.tape()), twin_scope(twin.tape());
      model.tape().zero_grad();
      twin.tape().zero_grad();
      optimizer.backward_step(model.loss(batch).mean, 0.01, step % 2 == 0);
      twin.loss(batch).mean.backward();
      twin_optimizer.step(0.01);
      REQUIRE(different_bits<T>({model.weights().data, size}, {twin.weights().data, size}) == 0);
    }
  }
}

TEST_CASE("optimisers: AdamW without decay has Adam's bits", "[train][optimizer]") {
  const auto trained = [](OptimizerKind kind) {
    Gpt<float> model(drawn_weights<float>(small_shape(), 845, 0.2).view());
    Optimizer<float> optimizer(model.tape(), model.layout().slab_size(), {.kind = kind});
    std::mt19937_64 bits(846);
    for (int step = 0; step < 50; ++step) {
      const auto sentence = drawn_sentence(bits, small_shape().vocab_size, 5);
      const Batch batch = batch_of({&sentence, 1}, small_shape().block_size);
      const StepScope<float> scope(model.tape());
      model.tape().zero_grad();
      optimizer.backward_step(model.loss(batch).mean, 0.01);
    }
    const float* const weights = model.weights().data;
    return std::vector<float>(weights, weights + model.layout().slab_size());
  };
  CHECK(different_bits<float>(trained(OptimizerKind::adam), trained(kAdamW)) == 0);
}

TEST_CASE("optimisers: settings out of range are refused by name", "[train][optimizer]") {
  Tape<double> tape;
  const auto message = [&](const OptimizerConfig& config) {
    return error_message<ConfigError>([&] { Optimizer<double>(tape, 0, config); });
  };
  CHECK_THAT(message({.kind = kSgd, .momentum = 1}), text_contains("momentum: expected"));
  CHECK_THAT(message({.momentum = 0.9}), text_contains("expected 0 for adam"));
  CHECK_THAT(message({.weight_decay = -1}), text_contains("weight_decay: expected"));
  CHECK_THAT(message({.grad_clip = std::nan("")}), text_contains("grad_clip: expected"));
  Optimizer<double> sgd(tape, 0, {.kind = kSgd});
  CHECK_THAT(error_message<ConfigError>([&] { sgd.restore({.m = {}, .v = {1.0}}); }),
             text_contains("expected 0 and 0 moments, found 0 and 1"));
}
