// What a caller passes is checked before a kernel sees it.
#include "autograd/errors.h"
#include "autograd/scope.h"
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

TEST_CASE("layers: a cache's rows and sizes beyond 32 bits are checked as well", "[nn][layers]") {
  Tape<double> tape;
  const auto row = tape.matrix(1, 12), x = tape.matrix(4, 12);
  constexpr std::size_t kWraps = (std::size_t{1} << 32) + 2, kHuge = std::size_t{1} << 63;
  const auto attend = [&](std::vector<NodeId> rows, std::size_t width, std::size_t heads) {
    return error_message<TapeError>([&] { cached_attention<double>(tape, rows, width, heads); });
  };
  const std::size_t size = tape.size();
  CHECK_THAT(attend({row.node(0, 0), 4000000000}, 4, 2), text_contains("on the tape"));
  CHECK_THAT(attend({static_cast<NodeId>(size - 11)}, 4, 2), text_contains("rows of 12 scalars"));
  CHECK_THAT(attend({}, 4, 2), text_contains("on the tape"));
  for (const std::size_t heads : {std::size_t{0}, std::size_t{3}, kWraps, kHuge})
    CHECK_THAT(attend({row.node(0, 0)}, 4, heads), text_contains("heads that divide"));
  for (const std::size_t width : {std::size_t{0}, kWraps, kHuge, SIZE_MAX})
    CHECK_THROWS_AS(cached_attention<double>(tape, std::vector{row.node(0, 0)}, width, 1),
                    TapeError);
  CHECK_THROWS_AS(causal_self_attention<double>(x, std::vector<std::uint32_t>{0, 4}, kWraps),
                  TapeError);
  CHECK(tape.size() == size);  // what was refused has left nothing
  CHECK(cached_attention<double>(tape, std::vector{row.node(0, 0)}, 4, 2).cols() == 4);
}

TEST_CASE("Tape: a record whose operands, shape or ids do not fit is refused", "[nn][layers]") {
  Tape<double> tape;
  const auto a = tape.matrix(2, 3), b = tape.matrix(3, 2);
  CHECK_THROWS_AS(tape.record(Op::add, {a}, 2, 3), TapeError);
  CHECK_THROWS_AS(tape.record(Op::add, {a, a, a, a, a}, 2, 3), TapeError);
  CHECK_THROWS_AS(tape.record(Op::add, {a, a}, 3, 3), TapeError);
  CHECK_THROWS_AS(tape.record(Op::leaf, {}, 2, 3), TapeError);
  CHECK_THROWS_AS(tape.record(Op::matmul, {a, b}, 2, 3), TapeError);
  CHECK_THROWS_AS(tape.record(Op::rmsnorm, {a}, 4, 3), TapeError);
  CHECK_THROWS_AS(tape.record(Op::sum, {a}, 2, 1), TapeError);
  CHECK_THROWS_AS(tape.record(Op::dot, {a, b}, 1, 1), TapeError);
  CHECK_THROWS_AS(tape.record(Op::gather, {}, 1, 1, std::vector<NodeId>{4000000000}), TapeError);
  CHECK_THROWS_AS(tape.record(Op::gather, {}, 1, 3, std::vector<NodeId>{0}), TapeError);
  CHECK_THROWS_AS(tape.record(Op::add, NodeId{0}, NodeId{4000000000}), TapeError);
  CHECK_THROWS_AS(tape.record(Op::matmul, NodeId{0}, NodeId{0}), TapeError);
  CHECK_THROWS_AS(Value<double>(tape, 4000000000), TapeError);
  CHECK_THROWS_AS(Matrix<double>(tape, 2), TapeError);
  CHECK_THROWS_AS(tape.data(4000000000), TapeError);
  CHECK_THROWS_AS(tape.grad(4000000000), TapeError);
  CHECK_THROWS_AS(tape.set_data(4000000000, 1), TapeError);
  CHECK_THROWS_AS(tape.set_label(4000000000, "x"), TapeError);
  CHECK_THROWS_AS(a.data(2, 0), TapeError);
  CHECK_THROWS_AS(a(0, std::size_t{1} << 63), TapeError);
  CHECK(tape.records().empty());
  CHECK((a + a).rows() == 2);
}

TEST_CASE("layers: no rows are fine where nothing has to be chosen from them", "[nn][layers]") {
  Tape<double> tape;
  const auto none = tape.matrix(0, 6), w = tape.matrix(6, 4);
  CHECK(linear(none, w).rows() == 0);
  CHECK(rmsnorm(none, 1e-5).rows() == 0);
  CHECK(causal_self_attention<double>(none, std::vector<std::uint32_t>{0, 0}, 1).rows() == 0);
  CHECK(cross_entropy<double>(none, std::vector<std::uint32_t>{}).rows() == 0);
  CHECK(sum(none + none).data() == 0);
  sum(none).backward();
}

TEST_CASE("SentenceScope: sentences that do not follow one another are refused", "[nn][threads]") {
  Tape<double> tape;
  for (const auto& starts : {std::vector<std::uint32_t>{1, 4}, {0, 100, 5, 60}})
    CHECK_THROWS_AS(SentenceScope<double>(tape, starts), TapeError);
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

TEST_CASE("Batch: a sentence too short to predict anything is refused", "[nn][batch]") {
  Batch batch;
  CHECK_THROWS_AS(batch.add({}, 8), TapeError);
  CHECK_THROWS_AS(batch.add(std::vector<TokenId>{4}, 8), TapeError);
  CHECK(batch.rows() == 0);
}

TEST_CASE("GraphCache: what it does not hold is refused", "[nn][graph_cache]") {
  const GptConfig config = small_shape(5);
  Gpt<double> model(drawn_weights<double>(config, 724).view());
  GraphCache<double> cache(config);
  model.forward(4, 0, cache);
  CHECK_THROWS_AS(cache.key(config.n_layer, 0, 0), TapeError);
  CHECK_THROWS_AS(cache.value(0, 1, 0), TapeError);
  CHECK_THROWS_AS(cache.key(0, 0, config.n_embd), TapeError);
  CHECK_THROWS_AS(cache.append(config.n_layer, model.tape().matrix(1, 3 * config.n_embd)),
                  TapeError);
  CHECK_THROWS_AS(cache.append(0, model.tape().matrix(1, config.n_embd)), TapeError);
  CHECK(cache.size() == 1);
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
