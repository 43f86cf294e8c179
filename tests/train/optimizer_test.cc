#include "train/optimizer.h"

#include <cmath>

#include "autograd/errors.h"
#include "autograd/matrix.h"
#include "autograd/scope.h"
#include "autograd/value.h"
#include "base/error.h"
#include "nn/gpt.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/error_message.h"
#include "tests/support/small_models.h"

using namespace glassbox;

namespace {

// 16 weights on a tape, 0 at first, of which the first is given gradients by hand.
template <class T>
struct OneWeight {
  OneWeight() { tape.keep(); }
  void step(double gradient, double learning_rate) {
    tape.zero_grad();
    {
      const StepScope<T> scope(tape);
      (weights(0, 0) * gradient).backward();
    }
    adam.step(learning_rate);
  }
  double weight() const { return *tape.data_from(0); }

  Tape<T> tape;
  Matrix<T> weights = tape.matrix(1, 16);
  Optimizer<T> adam{tape, 16, {}};
};

// One step of training on a sentence: stacked, or one token at a time, where each parameter is used
// often.
template <class T>
Value<T> sentence_loss(Gpt<T>& model, const Batch& batch, bool stacked) {
  if (stacked) return model.loss(batch).mean;
  GraphCache<T> cache(model.config());
  std::vector<Value<T>> losses;
  for (std::size_t t = 0; t < batch.rows(); ++t)
    losses.push_back(cross_entropy(model.forward(batch.tokens[t], t, cache), batch.targets[t]));
  return mean(losses);
}

template <class T>
std::size_t different_numbers(const T* a, const T* b, std::size_t size) {
  return different_bits<T>({a, size}, {b, size});
}

}  // namespace

TEST_CASE("Adam: the first update of a gradient of 1e-3 at rate 0.01 is 0.00999990000099999",
          "[train][optimizer]") {
  OneWeight<double> one;
  one.step(1e-3, 0.01);
  CHECK(std::abs(one.weight() + 0.00999990000099999) < 4e-18);  // two units in its last place
}

TEST_CASE("Adam: both bias corrections hold at every step up to 101", "[train][optimizer]") {
  // With a gradient that stays the same both corrected moments are the gradient's, so every update
  // is the first one. Without corrections the 101st would be 1.25 times as large.
  OneWeight<double> one;
  for (int step = 1; step <= 101; ++step) {
    const double before = one.weight();
    one.step(1e-3, 0.01);
    REQUIRE(before - one.weight() == Approx(0.00999990000099999).epsilon(1e-11));
  }
}

TEST_CASE("Adam: each step equals the paper's algorithm written out", "[train][optimizer]") {
  OneWeight<double> one;
  double w = 0, m = 0, v = 0;
  for (int t = 1; t <= 40; ++t) {
    const double g = std::sin(3.0 * t) * (t % 7), learning_rate = 0.01 * (1 - t / 50.0);
    m = 0.85 * m + 0.15 * g;
    v = 0.99 * v + 0.01 * g * g;
    const double m_hat = m / (1 - std::pow(0.85, t)), v_hat = v / (1 - std::pow(0.99, t));
    w -= learning_rate * m_hat / (std::sqrt(v_hat) + 1e-8);
    one.step(g, learning_rate);
    REQUIRE(one.weight() == Approx(w).epsilon(1e-12));
  }
}

TEST_CASE("Adam: a moment below the normal numbers becomes 0", "[train][optimizer]") {
  // In float 0.15 * 0.85^n is the smallest normal number at n = 526.
  OneWeight<float> one;
  one.step(1, 0.01);
  for (int n = 1; n < 500; ++n) one.step(0, 0.01);
  one.weights(0, 0).set_data(0);
  one.step(0, 0.01);
  CHECK(one.weight() != 0);  // what is left of the moment still moves a weight of 0
  for (int n = 501; n < 540; ++n) one.step(0, 0.01);
  one.weights(0, 0).set_data(0);
  one.step(0, 0.01);
  CHECK(one.weight() == 0);
}

TEST_CASE("Adam: weights that never had a gradient keep their bits", "[train][optimizer]") {
  OneWeight<float> one;
  for (std::size_t i = 1; i < 16; ++i) one.weights(0, i).set_data(static_cast<float>(i) / 7);
  one.weights(0, 1).set_data(-0.0f);
  for (int n = 0; n < 100; ++n) one.step(1, 0.01);
  CHECK(bits_of(one.weights.data(0, 1)) == bits_of(-0.0f));
  for (std::size_t i = 2; i < 16; ++i)
    CHECK(bits_of(one.weights.data(0, i)) == bits_of(static_cast<float>(i) / 7));
  CHECK(one.weight() != 0);
}

TEST_CASE("Adam: a handle to what the old weights gave is stale after a step",
          "[train][optimizer]") {
  OneWeight<double> one;
  const auto loss = one.weights(0, 0) * 2;
  loss.backward();
  one.adam.step(0.01);
  CHECK_THAT(error_message<TapeError>([&] { loss.data(); }), text_contains("weights have moved"));
  CHECK(one.weights(0, 0).data() != 0);
}

TEMPLATE_TEST_CASE("Adam: backward_step gives the bits of backward and then step",
                   "[train][optimizer]", float, double) {
  std::mt19937_64 bits(831);
  for (const GptConfig& config : odd_shapes()) {
    for (const bool stacked : {true, false}) {
      for (const bool one_is_held : {false, true}) {
        CAPTURE(shape_name(config), stacked, one_is_held);
        Gpt<TestType> model(drawn_weights<TestType>(config, 832, 0.2).view()),
            twin(model.weights());
        if (one_is_held) model.parameter("layers.0.mlp.hidden", 1, 2);  // a Value inside a matrix
        const std::size_t size = model.layout().slab_size();
        Optimizer<TestType> adam(model.tape(), size, {}), twin_adam(twin.tape(), size, {});
        for (int step = 0; step < 12; ++step) {
          const auto sentence = drawn_sentence(bits, config.vocab_size, 3 + bits() % 6);
          const Batch batch = batch_of({&sentence, 1}, config.block_size);
          const StepScope<TestType> scope(model.tape()), twin_scope(twin.tape());
          model.tape().zero_grad();
          twin.tape().zero_grad();
          adam.backward_step(sentence_loss(model, batch, stacked), 0.01, step % 2 == 0);
          sentence_loss(twin, batch, stacked).backward();
          if (step % 2 == 0)
            REQUIRE(different_numbers(model.tape().grad_from(0), twin.tape().grad_from(0), size) ==
                    0);
          twin_adam.step(0.01);
          REQUIRE(different_numbers(model.weights().data, twin.weights().data, size) == 0);
        }
      }
    }
  }
}

TEST_CASE("Adam: a gradient that a step did not keep is refused, never a wrong number",
          "[train][optimizer]") {
  Gpt<float> model(drawn_weights<float>(small_shape(), 833).view());
  Optimizer<float> adam(model.tape(), model.layout().slab_size(), {});
  const std::vector<TokenId> sentence = {46, 1, 2, 46};
  const Batch batch = batch_of({&sentence, 1}, 8);
  adam.backward_step(model.loss(batch).mean, 0.01, false);
  const auto weight = model.parameter("layers.0.mlp.hidden", 1, 2);
  CHECK_THAT(error_message<TapeError>([&] { weight.grad(); }),
             text_contains("used this gradient up"));
  model.tape().zero_grad();
  model.loss(batch).mean.backward();
  CHECK(std::isfinite(weight.grad()));
}

TEST_CASE("Adam: settings outside of their range are refused by name", "[train][optimizer]") {
  Tape<double> tape;
  const auto make = [&](const OptimizerConfig& config) {
    return [&tape, config] { Optimizer<double>(tape, 0, config); };
  };
  CHECK_THAT(error_message<ConfigError>(make({.beta1 = 1})), text_contains("beta1"));
  CHECK_THAT(error_message<ConfigError>(make({.beta1 = -0.1})), text_contains("found -0.1"));
  CHECK_THAT(error_message<ConfigError>(make({.beta2 = std::nan("")})), text_contains("beta2"));
  CHECK_THAT(error_message<ConfigError>(make({.epsilon = 0})), text_contains("epsilon"));
}

TEST_CASE("Adam: to read an element does not keep its matrix from being updated at once",
          "[train][optimizer]") {
  Gpt<float> model(drawn_weights<float>(small_shape(), 834).view());
  Optimizer<float> adam(model.tape(), model.layout().slab_size(), {});
  const auto weight = model.parameter("layers.0.mlp.hidden", 1, 2);
  REQUIRE(std::isfinite(weight.data()));
  const std::vector<TokenId> sentence = {46, 1, 2, 46};
  const Batch batch = batch_of({&sentence, 1}, 8);
  adam.backward_step(model.loss(batch).mean, 0.01, false);
  CHECK_THROWS_AS(weight.grad(), TapeError);  // so its gradient was used where it was made
}

TEST_CASE("Adam: handles of parameters are good after a step, kept or not", "[train][optimizer]") {
  Tape<double> tape;
  const auto w = tape.matrix(1, 16);
  const auto element = w(0, 3);
  Optimizer<double> adam(tape, 16, {});
  const auto loss = w(0, 3) * 2;
  loss.backward();
  adam.step(0.01);
  CHECK(element.data() != 0);
  CHECK(w.data(0, 3) == element.data());
  CHECK_THROWS_AS(loss.data(), TapeError);
}

TEST_CASE("Adam: a size that ends inside a matrix, or that covers what is no leaf, is refused",
          "[train][optimizer]") {
  Tape<double> tape;
  const auto w = tape.matrix(2, 16);
  const auto make = [&](std::size_t size) {
    return [&, size] { Optimizer<double>(tape, size, {}); };
  };
  CHECK_THAT(error_message<ConfigError>(make(16)), text_contains("expected the first 16 scalars"));
  CHECK_THAT(error_message<ConfigError>(make(48)), text_contains("expected the first 48 scalars"));
  make(32)();
  w(0, 0) * 2;  // scalar 32 is the number, a leaf, and 33 the product
  make(33)();
  CHECK_THAT(error_message<ConfigError>(make(34)), text_contains("expected the first 34 scalars"));
}

TEST_CASE("Adam: single leaves are trained as matrices are", "[train][optimizer]") {
  Tape<double> tape;
  const auto a = tape.leaf(1), b = tape.leaf(2), c = tape.leaf(3);
  tape.keep();
  Optimizer<double> adam(tape, 3, {});
  (a * 1e-3 + b * 1e-3 - c * 1e-3).backward();
  adam.step(0.01);
  CHECK(a.data() == Approx(1 - 0.00999990000099999));
  CHECK(b.data() == Approx(2 - 0.00999990000099999));
  CHECK(c.data() == Approx(3 + 0.00999990000099999));
}

TEMPLATE_TEST_CASE("Adam: frozen parameters keep their bits and the others move as ever",
                   "[train][optimizer]", float, double) {
  using T = TestType;
  for (const GptConfig& config : odd_shapes()) {
    for (const bool fused : {true, false}) {
      CAPTURE(shape_name(config), fused);
      Gpt<T> model(drawn_weights<T>(config, 835, 0.2).view()), twin(model.weights());
      const std::size_t size = model.layout().slab_size();
      std::vector<ParameterBlock> frozen;
      std::vector<char> is_frozen(size);
      for (const char* name : {"layers.0.attention.query", "layers.0.attention.value",
                               "token_embedding", "layers.0.mlp.output"}) {
        const ParameterSpec& spec = *model.layout().find(name);
        frozen.push_back(spec.in_memory());
        for (std::size_t row = 0; row < spec.rows; ++row)
          for (std::size_t col = 0; col < spec.cols; ++col) is_frozen[spec.index(row, col)] = 1;
      }
      Optimizer<T> adam(model.tape(), size, {}, frozen), twin_adam(twin.tape(), size, {});
      const std::vector<T> before(model.weights().data, model.weights().data + size);
      std::mt19937_64 bits(836);
      for (int step = 0; step < 6; ++step) {
        const auto sentence = drawn_sentence(bits, config.vocab_size, 6);
        const Batch batch = batch_of({&sentence, 1}, config.block_size);
        const StepScope<T> scope(model.tape()), twin_scope(twin.tape());
        model.tape().zero_grad();
        twin.tape().zero_grad();
        const auto loss = model.loss(batch).mean;
        if (fused) {
          adam.backward_step(loss, 0.01, step % 2 == 0);
        } else {
          loss.backward();
          adam.step(0.01);
        }
        twin.loss(batch).mean.backward();
        twin_adam.step(0.01);
        for (std::size_t i = 0; i < size; ++i)
          if (is_frozen[i]) *twin.tape().data_from(static_cast<NodeId>(i)) = before[i];
        REQUIRE(different_numbers(model.weights().data, twin.weights().data, size) == 0);
      }
    }
  }
}

TEST_CASE("Adam: what is frozen must be columns of a parameter", "[train][optimizer]") {
  Tape<double> tape;
  tape.matrix(4, 20);
  for (const ParameterBlock& block :
       {ParameterBlock{0, 3, 20, 32}, {0, 4, 21, 32}, {0, 4, 20, 16}, {16, 4, 5, 32}}) {
    CHECK_THAT(error_message<ConfigError>(
                   [&] { Optimizer<double>(tape, tape.size(), {}, std::array{block}); }),
               text_contains("whole columns"));
  }
}
