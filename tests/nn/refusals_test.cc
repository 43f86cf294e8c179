// What a caller passes is checked before a kernel sees it.
#include "autograd/errors.h"
#include "nn/gpt.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"
#include "tests/support/small_models.h"

using namespace glassbox;

TEST_CASE("layers: what does not fit is a TapeError", "[nn][layers]") {
  Tape<double> tape;
  const auto x = tape.matrix(4, 12), logits = tape.matrix(4, 3);
  using Ids = std::vector<std::uint32_t>;
  const auto attend = [&](const Ids& starts, std::size_t heads) {
    return error_message<TapeError>([&] { causal_self_attention<double>(x, starts, heads); });
  };
  for (const std::size_t heads : {0, 3})
    CHECK_THAT(attend({0, 4}, heads), text_contains("heads that divide their width 4"));
  for (const Ids& starts : {Ids{}, Ids{0}, Ids{0, 5}, Ids{1, 4}, Ids{0, 3, 2, 4}})
    CHECK_THAT(attend(starts, 2), text_contains("end at row 4"));
  const auto lose = [&](const Ids& targets) {
    return error_message<TapeError>([&] { cross_entropy<double>(logits, targets); });
  };
  CHECK_THAT(lose({0, 1, 2, 7}), text_contains("targets below 3, found 7"));
  CHECK_THAT(lose({0, 1, 2, 4000000000}), text_contains("targets below 3"));
  CHECK_THAT(lose({1}), text_contains("a target for each of 4 rows, found 1"));
  const auto embed = [&](const Matrix<double>& positions, const Ids& ids) {
    return error_message<TapeError>([&] { embedding<double>(x, positions, ids); });
  };
  CHECK_THAT(embed(logits, {0, 0}), text_contains("widths 12 and 3"));
  CHECK_THAT(embed(x, {0, 1, 2}), text_contains("found 3 ids"));
  CHECK_THAT(embed(x, {4, 0}), text_contains("a token below 4"));
  CHECK_THAT(embed(x, {0, 4}), text_contains("a position below 4, found 0 at 4"));
}

TEST_CASE("Gpt: an empty batch and one whose parts do not fit are refused", "[nn][batch]") {
  const GptConfig config = small_shape(5);
  Gpt<double> model(drawn_weights<double>(config, 721).view());
  const std::vector<TokenId> sentence = {4, 1, 2, 4};
  const Batch good = batch_of({&sentence, 1}, config.block_size);
  CHECK_THROWS_AS(model.forward(Batch{}), TapeError);
  CHECK_THROWS_AS(model.loss(Batch{}), TapeError);
  Batch batch = good;
  batch.weights.clear();
  CHECK_THAT(error_message<TapeError>([&] { model.loss(batch); }),
             text_contains("a weight for each of 3 rows, found 0"));
  batch = good;
  batch.starts = {0, 9};
  CHECK_THROWS_AS(model.loss(batch), TapeError);
  batch = good;
  batch.positions.pop_back();
  CHECK_THROWS_AS(model.loss(batch), TapeError);
  CHECK(model.loss(good).mean.data() > 0);
}

TEST_CASE("GraphCache: one that another model has filled is refused", "[nn][graph_cache]") {
  const GptConfig config = small_shape(5);
  Gpt<double> first(drawn_weights<double>(config, 722).view());
  Gpt<double> second(drawn_weights<double>(config, 723).view());
  GraphCache<double> cache(config);
  first.forward(4, 0, cache);
  CHECK_THAT(error_message<TapeError>([&] { second.forward(1, 1, cache); }),
             text_contains("found another's"));
  CHECK(cache.size() == 1);
  first.forward(1, 1, cache);
}
