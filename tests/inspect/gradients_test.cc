#include "inspect/gradients.h"

#include "inspect/embedding_map.h"

#include <cmath>

#include "base/error.h"
#include "tests/catch_compat.hpp"
#include "tests/inspect/fixture.h"
#include "tests/support/error_message.h"

namespace glassbox {

TEST_CASE("summarize: mean, spread, norm and largest of a known parameter",
          "[inspect][gradients]") {
  Weights<double> weights(
      {.vocab_size = 3, .block_size = 2, .n_layer = 1, .n_head = 1, .n_embd = 2});
  const ParameterSpec& spec = *weights.layout().find("position_embedding");
  const double values[] = {1, -5, 3, 1};
  for (std::size_t i = 0; i < 4; ++i) weights.data()[spec.index(i / 2, i % 2)] = values[i];
  const ParameterSummary summary = summarize_parameter(spec, weights.data());
  CHECK(summary.mean == 0);
  CHECK(summary.std == 3);
  CHECK(summary.norm == 6);
  CHECK(summary.largest == -5);
}

TEST_CASE("summarize: a parameter and its multiple by any power of two have the same figures",
          "[inspect][gradients]") {
  const auto model = inspected_model();
  const ParameterSpec& spec = *model.weights.layout().find("layers.1.mlp.hidden");
  const auto scaled_by = [&](int exponent) {
    auto copy = inspected_model();
    for (std::size_t i = 0; i < copy.weights.layout().slab_size(); ++i)
      copy.weights.data()[i] = std::ldexp(copy.weights.data()[i], exponent);
    return copy;
  };
  const ParameterSummary plain = summarize_parameter(spec, model.weights.data());
  const auto norms = norms_by_place(model.weights.layout(), model.weights.data());
  const auto map = embedding_map(model);
  for (const int exponent : {-1000, -700, 700, 1015}) {  // squares are beyond the range of double
    CAPTURE(exponent);
    const auto copy = scaled_by(exponent);
    const ParameterSummary summary = summarize_parameter(spec, copy.weights.data());
    CHECK(summary.mean == std::ldexp(plain.mean, exponent));
    CHECK(summary.std == std::ldexp(plain.std, exponent));
    CHECK(summary.norm == std::ldexp(plain.norm, exponent));
    const auto norms_of_copy = norms_by_place(copy.weights.layout(), copy.weights.data());
    for (std::size_t i = 0; i < norms.size(); ++i)
      CHECK(norms_of_copy[i].norm == std::ldexp(norms[i].norm, exponent));
    for (const auto& ratio : update_ratios(copy.weights.layout(), copy.weights.data(),
                                           scaled_by(exponent + 1).weights.data()))
      CHECK(ratio.norm == 1);
    CHECK(embedding_map(copy).shown == map.shown);
    CHECK(embedding_map(copy).words[5].x == std::ldexp(map.words[5].x, exponent));
    CHECK(NearestWords(copy).of(4, 1)[0].cosine == NearestWords(model).of(4, 1)[0].cosine);
  }
}

TEST_CASE("entries: a row speaks [out][in] although memory is turned", "[inspect][gradients]") {
  const auto model = inspected_model();
  const ParameterLayout& layout = model.weights.layout();
  const auto row =
      parameter_elements(layout, model.weights.data(), "layers.1.mlp.hidden[30]", model.tokenizer);
  REQUIRE(row.size() == 8);
  REQUIRE(row[3].name() == "layers.1.mlp.hidden[30][3]");
  REQUIRE(row[3].value == model.weights.data()[layout.find("layers.1.mlp.hidden")->index(30, 3)]);
}

TEST_CASE("entries: no name is every parameter", "[inspect][gradients]") {
  const auto model = inspected_model();
  REQUIRE(parameter_elements(model.weights.layout(), model.weights.data(), "", model.tokenizer)
              .size() == model.config().parameter_count());
}

TEST_CASE("entries: a wrong name or index is refused", "[inspect][gradients]") {
  const auto model = inspected_model();
  const auto message = [&](const char* name) {
    return error_message<ConfigError>([&] {
      parameter_elements(model.weights.layout(), model.weights.data(), name, model.tokenizer);
    });
  };
  CHECK_THAT(message("layers.0.attention.qery"),
             text_contains("did you mean layers.0.attention.query?"));
  CHECK_THAT(message("output[21]"), text_contains("a row from 0 to 20, found 21"));
  CHECK_THAT(message("output[0][8]"), text_contains("a column from 0 to 7, found 8"));
  CHECK_THAT(message("output[0][1][2]"), text_contains("a row and a column in brackets"));
}

TEST_CASE("entries: a word stands for its row", "[inspect][gradients]") {
  const auto model = inspected_model();
  const auto names = [&](const char* name) {
    const auto found =
        parameter_elements(model.weights.layout(), model.weights.data(), name, model.tokenizer);
    return std::pair(found.size(), found.front().name());
  };
  CHECK(names("output[w4]") == std::pair(std::size_t{8}, std::string("output[4][0]")));
  CHECK(names("token_embedding[W4][3]") ==
        std::pair(std::size_t{1}, std::string("token_embedding[4][3]")));
}

TEST_CASE("largest_elements: as sorting all of them has it, and what is no number comes first",
          "[inspect][gradients]") {
  auto model = inspected_model();
  const ParameterLayout& layout = model.weights.layout();
  model.weights.data()[layout.find("output")->index(3, 2)] = std::nan("");
  const auto some = largest_elements(layout, model.weights.data(), 7),
             all = largest_elements(layout, model.weights.data(), 1u << 20);
  REQUIRE(all.size() == model.config().parameter_count());
  REQUIRE(some.size() == 7);
  REQUIRE(largest_elements(layout, model.weights.data(), 0).empty());
  CHECK(some[0].name() == "output[3][2]");
  for (std::size_t i = 0; i < some.size(); ++i) CHECK(some[i].name() == all[i].name());
  for (std::size_t i = 2; i < all.size(); ++i)
    CHECK(std::abs(all[i].value) <= std::abs(all[i - 1].value));
}

TEST_CASE("norms_by_place: the squares add up to the whole gradient's", "[inspect][gradients]") {
  Inspection inspection(inspected_model(), kSentence);
  double places = 0, all = 0;
  for (const auto& place : norms_by_place(inspection.layout(), parameter_gradients(inspection)))
    places += place.norm * place.norm;
  for (const ParameterElement& e : parameter_elements(
           inspection.layout(), parameter_gradients(inspection), "", inspection.tokenizer()))
    all += e.value * e.value;
  REQUIRE(norms_by_place(inspection.layout(), parameter_gradients(inspection)).size() == 4);
  REQUIRE(places == Approx(all).epsilon(1e-12));
}

TEST_CASE("nudge: a small move does to the loss what the gradient predicts",
          "[inspect][gradients]") {
  Inspection inspection(inspected_model(), kSentence);
  for (const ParameterElement& entry :
       largest_elements(inspection.layout(), parameter_gradients(inspection), 5)) {
    const ParameterNudge small = nudge_parameter(inspection, entry, 1e-6);
    CAPTURE(entry.name());
    REQUIRE(small.predicted == Approx(entry.value * 1e-6));
    REQUIRE(small.measured == Approx(small.predicted).epsilon(1e-3));
  }
}

TEST_CASE("nudge: the parameter is where it was afterwards", "[inspect][gradients]") {
  Inspection inspection(inspected_model(), kSentence);
  const ParameterElement entry =
      largest_elements(inspection.layout(), parameter_gradients(inspection), 1)[0];
  const double loss = inspection.recompute_loss();
  nudge_parameter(inspection, entry, 0.5);
  REQUIRE(inspection.recompute_loss() == loss);
}

TEST_CASE("NearestWords: a copy of a word's embedding is its nearest, with cosine 1",
          "[inspect][neighbours]") {
  auto model = inspected_model();
  const ParameterSpec& table = *model.weights.layout().find("token_embedding");
  for (std::size_t c = 0; c < table.cols; ++c)
    model.weights.data()[table.index(9, c)] = 2 * model.weights.data()[table.index(4, c)];
  const auto words = NearestWords(model).of(4, 3);
  REQUIRE(words.size() == 3);
  REQUIRE(words[0].word == 9);
  REQUIRE(words[0].cosine == Approx(1));
  REQUIRE(words[1].cosine < 1);
  const std::vector<TokenId> few = {7, 9, 4};
  REQUIRE(NearestWords(model, few).of(4, 3).size() == 2);
  REQUIRE(NearestWords(model, few).of(4, 3)[0].word == 9);
}

TEST_CASE("gradient_norms: of one sentence those of its inspection", "[inspect][gradients]") {
  const auto model = inspected_model();
  Inspection inspection(model, kSentence);
  Gpt<double> gpt(model.weights.view());
  const auto norms = gradient_norms(gpt, inspection.batch());
  const auto expected = norms_by_place(inspection.layout(), parameter_gradients(inspection));
  REQUIRE(norms.size() == expected.size());
  for (std::size_t i = 0; i < norms.size(); ++i) REQUIRE(norms[i].norm == expected[i].norm);
}

TEST_CASE("update_ratios: the length of the move over that of the weights",
          "[inspect][gradients]") {
  const auto before = inspected_model();
  auto after = inspected_model();
  for (std::size_t i = 0; i < after.weights.layout().slab_size(); ++i)
    after.weights.data()[i] *= 1.25;
  for (const auto& place :
       update_ratios(before.weights.layout(), before.weights.data(), after.weights.data()))
    REQUIRE(place.norm == Approx(0.25));
}

}  // namespace glassbox
