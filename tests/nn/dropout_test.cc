// Dropout's masks, and gradients through them.
#include "nn/dropout.h"

#include <cmath>

#include "autograd/scope.h"
#include "nn/gpt.h"
#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/small_models.h"

using namespace glassbox;

namespace {

std::vector<float> mask_of(const Dropout& dropout, const Batch& batch, std::uint32_t array = 0,
                           std::size_t cols = 50) {
  std::vector<float> mask(batch.rows() * cols);
  dropout.fill(batch, array, cols, cols, mask.data());
  return mask;
}

Batch drawn_batch(std::size_t sentences, std::size_t length = 9) {
  std::mt19937_64 bits(871);
  std::vector<std::vector<TokenId>> drawn;
  for (std::size_t i = 0; i < sentences; ++i) drawn.push_back(drawn_sentence(bits, 33, length));
  return batch_of(drawn, 16);
}

}  // namespace

TEST_CASE("Dropout: so many factors are 0, the others make up for them", "[nn][dropout]") {
  const Batch batch = drawn_batch(100);
  for (const double rate : {0.1, 0.5, 0.8}) {
    const auto mask = mask_of({.rate = rate, .seed = 42}, batch);
    const float kept = static_cast<float>(1 / (1 - rate));
    std::size_t zeros = 0;
    for (const float x : mask) {
      REQUIRE((x == 0 || x == kept));
      zeros += x == 0;
    }
    const double size = static_cast<double>(mask.size());  // 40,000: five standard deviations
    CHECK(std::abs(static_cast<double>(zeros) / size - rate) <
          5 * std::sqrt(rate * (1 - rate) / size));
  }
}

TEST_CASE("Dropout: another seed, step, sentence, array or position has another mask",
          "[nn][dropout]") {
  const Batch batch = drawn_batch(1);
  const Dropout dropout{.rate = 0.5, .seed = 42, .step = 7, .first_sentence = 3};
  const auto mask = mask_of(dropout, batch);
  CHECK(mask_of(dropout, batch) == mask);
  auto other = dropout;
  other.seed = 43;
  CHECK(mask_of(other, batch) != mask);
  other = dropout;
  other.step = 8;
  CHECK(mask_of(other, batch) != mask);
  other = dropout;
  other.first_sentence = 4;
  CHECK(mask_of(other, batch) != mask);
  CHECK(mask_of(dropout, batch, 1) != mask);
  CHECK(std::vector<float>(mask.begin(), mask.begin() + 50) !=
        std::vector<float>(mask.begin() + 50, mask.begin() + 100));
}

TEST_CASE("Dropout: a sentence's mask does not depend on its batch", "[nn][dropout]") {
  const Batch three = drawn_batch(3), one = drawn_batch(1);
  const auto all = mask_of({.rate = 0.5, .seed = 1, .step = 2}, three);
  for (std::size_t s = 0; s < 3; ++s) {
    const auto alone = mask_of({.rate = 0.5, .seed = 1, .step = 2, .first_sentence = s}, one);
    CHECK(std::equal(alone.begin(), alone.end(),
                     all.begin() + static_cast<std::ptrdiff_t>(s * alone.size())));
  }
}

TEST_CASE("Dropout: gradients are those of differences, with the masks of the step",
          "[nn][dropout]") {
  const GptConfig config{
      .vocab_size = 33, .n_layer = 2, .n_head = 2, .n_embd = 8, .activation = Activation::gelu};
  Gpt<double> model(drawn_weights<double>(config, 872).view());
  const Batch batch = drawn_batch(2);
  model.set_dropout({.rate = 0.4, .seed = 9, .step = 5});
  const auto loss = [&] {
    const StepScope<double> scope(model.tape());
    return model.loss(batch).mean.data();
  };
  model.tape().zero_grad();
  {
    const StepScope<double> scope(model.tape());
    model.loss(batch).mean.backward();
  }
  constexpr double kStep = 1e-5;
  std::size_t checked = 0;
  for (const ParameterSpec& p : model.layout().parameters())
    for (std::size_t i = 0; i < p.size(); i += 7) {
      const auto value = model.parameter(p.name, i / p.cols, i % p.cols);
      double* const w = model.tape().data_from(value.id());
      const double gradient = value.grad(), before = *w;
      *w = before + kStep;
      const double above = loss();
      *w = before - kStep;
      const double below = loss();
      *w = before;
      CAPTURE(value.label());
      REQUIRE(gradient == Approx((above - below) / (2 * kStep)).epsilon(1e-6).margin(1e-8));
      checked += gradient != 0;
    }
  CHECK(checked > 100);
}

TEST_CASE("Dropout: at rate 0 the pass is the one without", "[nn][dropout]") {
  const GptConfig config{.vocab_size = 33, .n_layer = 1, .n_head = 2, .n_embd = 8};
  Gpt<float> model(drawn_weights<float>(config, 873).view());
  const Batch batch = drawn_batch(2);
  const auto loss = [&](double rate) {
    const StepScope<float> scope(model.tape());
    model.set_dropout({.rate = rate, .seed = 9});
    return model.loss(batch).mean.data();
  };
  const float without = loss(0);
  CHECK(loss(0.5) != without);
  CHECK(loss(0) == without);
}
