// The whole model against a plain one (tests/support/plain_gpt.h), which shares no arithmetic with
// it.
#include "nn/gpt.h"

#include <complex>

#include "autograd/errors.h"
#include "autograd/scope.h"
#include "autograd/value.h"
#include "base/error.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/plain_gpt.h"
#include "tests/support/small_models.h"

using namespace glassbox;

namespace {

using Complex = std::complex<double>;
using Sentences = std::vector<std::vector<TokenId>>;

// Of 9 tokens, all of the small block, and a short one.
Sentences two_sentences(std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  return {drawn_sentence(bits, 47, 9), drawn_sentence(bits, 47, 4)};
}

}  // namespace

TEST_CASE("Gpt: the loss equals a plain GPT's at every shape", "[nn][gpt]") {
  std::mt19937_64 bits(501);
  for (const GptConfig& config : odd_shapes()) {
    CAPTURE(shape_name(config));
    const Weights<double> weights = drawn_weights<double>(config, 502);
    Gpt<double> model(weights.view());
    const Sentences sentences = {drawn_sentence(bits, config.vocab_size, config.block_size + 3),
                                 drawn_sentence(bits, config.vocab_size, 5)};
    const Batch batch = batch_of(sentences, config.block_size);
    const plain::Gpt<double> plain(weights.view());
    CHECK(excess(model.loss(batch).mean.data(), plain.loss(sentences), 1e-13, 0) <= 1);
  }
}

TEST_CASE("Gpt: the gradient of the whole loss in every parameter equals the complex step",
          "[nn][gpt][gradient]") {
  const GptConfig config = small_shape();
  const Weights<double> weights = drawn_weights<double>(config, 503);
  const Sentences sentences = two_sentences(504);
  const Batch batch = batch_of(sentences, config.block_size);
  Gpt<double> model(weights.view());
  model.loss(batch).mean.backward();

  plain::Gpt<Complex> plain(weights.view());
  constexpr double kStep = 1e-50;
  std::size_t not_zero = 0;
  for (const ParameterSpec& p : weights.layout().parameters()) {
    for (std::size_t row = 0; row < p.rows; ++row) {
      for (std::size_t col = 0; col < p.cols; ++col) {
        Complex& weight = plain.w.at(p.name)[row][col];
        const Complex before = weight;
        weight += Complex(0, kStep);
        const double want = plain.loss(sentences).imag() / kStep;
        weight = before;
        const double got = model.tape().grad(static_cast<NodeId>(p.index(row, col)));
        CAPTURE(p.name, row, col, got, want);
        REQUIRE(excess(got, want, 2e-12, 1e-15) <= 1);  // seen: 5e-13
        not_zero += got != 0;
      }
    }
  }
  CHECK(not_zero > config.parameter_count() / 2);  // words of other sentences have none
}

TEST_CASE("Gpt: a step of plain scalar operators alone gives the same loss and every gradient",
          "[nn][gpt][gradient]") {
  const GptConfig config = small_shape();
  const Weights<double> weights = drawn_weights<double>(config, 601);
  const Sentences sentences = two_sentences(602);
  const Batch batch = batch_of(sentences, config.block_size);
  Gpt<double> model(weights.view());
  const auto loss = model.loss(batch).mean;
  loss.backward();

  Tape<double> tape;
  plain::Gpt<Value<double>> plain(weights.layout(),
                                  [&](const ParameterSpec& p, std::size_t row, std::size_t col) {
                                    return tape.leaf(weights.data()[p.index(row, col)]);
                                  });
  const Value<double> plain_loss = plain.loss(sentences);
  plain_loss.backward();
  for (const MatrixInfo& run : tape.matrices())
    FAIL("a run was recorded: " << kernels::table<double>()[run.op].name);
  CHECK(excess(loss.data(), plain_loss.data(), 1e-12, 0) <= 1);
  for (const ParameterSpec& p : weights.layout().parameters()) {
    for (std::size_t row = 0; row < p.rows; ++row) {
      for (std::size_t col = 0; col < p.cols; ++col) {
        const double want = plain.w.at(p.name)[row][col].grad();
        const double got = model.tape().grad(static_cast<NodeId>(p.index(row, col)));
        CAPTURE(p.name, row, col, got, want);
        REQUIRE(excess(got, want, 1e-12, 1e-15) <= 1);
      }
    }
  }
}

TEST_CASE("Gpt: a second backward of the same graph adds up in the parameters",
          "[nn][gpt][gradient]") {
  Gpt<double> model(drawn_weights<double>(small_shape(), 603).view());
  const Batch batch = batch_of(two_sentences(604), 8);
  const auto loss = model.loss(batch).mean;
  loss.backward();
  const std::size_t size = model.layout().slab_size();
  const std::vector<double> once(model.tape().grad_from(0), model.tape().grad_from(0) + size);
  loss.backward();
  for (std::size_t i = 0; i < size; ++i)
    REQUIRE(model.tape().grad_from(0)[i] == Approx(2 * once[i]));
}

TEST_CASE("Gpt: weights are drawn from the random numbers that the caller hands in", "[nn][gpt]") {
  const GptConfig config = small_shape();
  Random random(42), again(42);
  const Gpt<double> model(config, random);
  Weights<double> weights(config);
  initialize_weights(weights.layout(), weights.data(), again);
  const std::size_t size = model.layout().slab_size();
  CHECK(different_bits<double>({model.weights().data, size}, {weights.data(), size}) == 0);
  CHECK(random.state() == again.state());
}

TEST_CASE("Gpt: scalars_of_step is what the loss of a batch takes, within a tenth", "[nn][gpt]") {
  std::mt19937_64 bits(511);
  for (const GptConfig& config :
       {small_shape(), GptConfig{.vocab_size = 600},
        GptConfig{
            .vocab_size = 1100, .block_size = 100, .n_layer = 3, .n_head = 3, .n_embd = 30}}) {
    CAPTURE(shape_name(config));
    Gpt<float> model(drawn_weights<float>(config, 512).view());
    for (const auto& [sentences, drops_out] : {std::pair{1, false}, {3, false}, {2, true}}) {
      model.set_dropout({.rate = drops_out ? 0.5 : 0.0});
      Sentences drawn;
      for (int i = 0; i < sentences; ++i)
        drawn.push_back(drawn_sentence(bits, config.vocab_size, config.block_size + 1));
      const Batch batch = batch_of(drawn, config.block_size);
      const StepScope<float> scope(model.tape());
      const std::size_t before = model.tape().size();
      const std::size_t predicted =
          model.scalars_of_step(batch.rows(), config.block_size, drops_out);
      model.loss(batch);
      const std::size_t taken = model.tape().size() - before;
      CHECK(taken <= predicted);
      CHECK(predicted <= taken + taken / 10);
    }
  }
}

TEST_CASE("Gpt: an impossible shape is refused", "[nn][gpt]") {
  Random random(1);
  CHECK_THROWS_AS(Gpt<float>({.vocab_size = 5, .n_head = 3}, random), ConfigError);
}

TEST_CASE("Gpt: a token or a position that the tables have no row for is refused", "[nn][gpt]") {
  Gpt<float> model(drawn_weights<float>(small_shape(5), 605).view());
  const std::vector<TokenId> unknown_word = {4, 5, 4}, long_one(11, 0);
  CHECK_THROWS_AS(model.forward(batch_of({&unknown_word, 1}, 8)), TapeError);
  CHECK_THROWS_AS(model.forward(batch_of({&long_one, 1}, 9)), TapeError);
}

TEST_CASE("Gpt: a target outside of the vocabulary is refused", "[nn][gpt]") {
  Gpt<float> model(drawn_weights<float>(small_shape(5), 605).view());
  const std::vector<TokenId> unknown_last = {4, 1, 5};
  CHECK_THROWS_AS(model.loss(batch_of({&unknown_last, 1}, 8)), TapeError);
}

TEST_CASE("Gpt: a parameter is found by its name, row and column as in the file", "[nn][gpt]") {
  Gpt<double> model(drawn_weights<double>(small_shape(), 606).view());
  auto query = model.parameter("layers.0.attention.query", 7, 3);
  CHECK(query.label() == "layers.0.attention.query[7][3]");
  // In memory query, key and value lie side by side, [in][out].
  const ParameterBlock& block = model.layout().layers[0].query_key_value;
  CHECK(query.id() == block.offset + 3 * block.pitch + 7);
  CHECK_THROWS_AS(model.parameter("layers.0.attention.query", 8, 0), TapeError);
  CHECK_THROWS_AS(model.parameter("layers.1.attention.query", 0, 0), TapeError);
}
