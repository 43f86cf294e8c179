#include "inspect/lookup.h"

#include <bit>
#include <cstdint>

#include "base/error.h"
#include "inspect/attention_map.h"
#include "inspect/graph.h"
#include "tests/catch_compat.hpp"
#include "tests/inspect/fixture.h"
#include "tests/support/error_message.h"

namespace glassbox {

namespace {
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
}  // namespace

TEST_CASE("find_scalar: every label on the tape finds its own node", "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  std::size_t found = 0;
  for (const MatrixInfo& run : inspection.tape().matrices())
    for (std::size_t n = 0; n < run.rows; ++n)
      for (NodeId m = 0; m < run.cols; ++m) {
        const auto id = static_cast<NodeId>(run.out + n * run.pitch) + m;
        const std::string label = inspection.tape().label(id);
        if (label.empty()) continue;  // the positions' weights in the mean
        CAPTURE(label);
        REQUIRE(find_scalar(inspection, label).value.id() == id);
        ++found;
      }
  REQUIRE(found > inspection.config().parameter_count());
}

TEST_CASE("find_scalar: an inner node of a run has the data of the whole plain graph in equal bits",
          "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto whole = Expansion<double>::of_tape(inspection.tape());
  REQUIRE(whole.inner_nodes().size() > 100);
  for (const auto& inner : whole.inner_nodes()) {
    const auto row = parse_scalar_name(inspection.tape().label(inner.row_output));
    const std::string place = row->name.substr(0, row->name.rfind('.') + 1);
    const std::string name =
        inner.what == "scale" ? row->name + ".scale@" + std::to_string(*row->position)
                              : place + inner.what + "@" + std::to_string(*row->position) + "[" +
                                    std::to_string(inner.i) + "][" + std::to_string(inner.j) + "]";
    CAPTURE(name);
    const NamedScalar scalar = find_scalar(inspection, name);
    REQUIRE(bits(scalar.value.data()) == bits(whole.tape().data(inner.node)));
  }
}

TEST_CASE(
    "find_scalar: an inner node of a run has the gradient of the whole plain graph in equal bits",
    "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto whole = Expansion<double>::of_tape(inspection.tape());
  whole.tape().backward(whole.at(inspection.loss().id()).id());
  bool any = false;
  for (const auto& inner : whole.inner_nodes()) {
    const auto row = expand_named(Value<double>(inspection.tape(), inner.row_output));
    for (const auto& mine : row->inner_nodes()) {
      if (mine.what != inner.what || mine.i != inner.i || mine.j != inner.j) continue;
      CAPTURE(row->tape().label(mine.node));
      REQUIRE(bits(row->tape().grad(mine.node)) == bits(whole.tape().grad(inner.node)));
      any = any || row->tape().grad(mine.node) != 0;
    }
  }
  REQUIRE(any);
}

TEST_CASE("find_scalar: every value of every run equals its node of the plain graph in equal bits",
          "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  Tape<double>& tape = inspection.tape();
  const auto whole = Expansion<double>::of_tape(tape);
  whole.tape().backward(whole.at(inspection.loss().id()).id());
  for (const MatrixInfo& run : tape.matrices()) {
    if (run.op == kernels::Op::leaf) continue;
    for (std::size_t n = 0; n < run.rows; ++n)
      for (NodeId m = 0; m < run.cols; ++m) {
        const auto id = static_cast<NodeId>(run.out + n * run.pitch) + m;
        const auto row = Value<double>(tape, id).expand();
        CAPTURE(tape.label(id), tape.table()[run.op].name);
        REQUIRE(bits(row.root().data()) == bits(tape.data(id)));
        REQUIRE(bits(whole.at(id).data()) == bits(tape.data(id)));
        REQUIRE(bits(whole.at(id).grad()) == bits(tape.grad(id)));
      }
  }
}

TEST_CASE(
    "parents_of: a gradient is the sum over parents of their gradient times the local derivative",
    "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  for (const char* name :
       {"layers.0.attention.query[7][3]", "layers.1.mlp.hidden[30][2]", "token_embedding[1][5]",
        "position_embedding[2][0]", "output[4][1]", "embedding@2[5]", "norm@1[3]",
        "layers.0.attention.k@1[2]", "layers.0.attention.v@0[6]", "layers.1.attention.heads@3[1]",
        "layers.0.attention.residual@2[4]", "layers.1.mlp.activation@2[11]", "logits@2[w4]",
        "loss@3", "layers.0.attention.weights@2[1][0]", "layers.1.attention.scores@3[0][2]"}) {
    CAPTURE(name);
    const NamedScalar scalar = find_scalar(inspection, name);
    double sum = 0;
    for (const GraphNeighbour& parent : parents_of(scalar.value)) sum += parent.grad * parent.local;
    REQUIRE(sum == Approx(scalar.value.grad()).epsilon(1e-11).margin(1e-15));
    REQUIRE(!parents_of(scalar.value).empty());
  }
}

TEST_CASE("children_of: the value moves with a child as the local derivative says",
          "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  const NamedScalar scalar = find_scalar(inspection, "layers.0.mlp.hidden@2[7]");
  const auto children = children_of(scalar.value);
  REQUIRE(children.size() == 2 * inspection.config().n_embd);
  double sum =
      0;  // a product of each pair, so the sum over children of local * data is twice the value
  for (const GraphNeighbour& child : children) sum += child.local * child.data;
  REQUIRE(sum == Approx(2 * scalar.value.data()).epsilon(1e-12));
}

TEST_CASE("plain_operations: a linear layer's output ends its chain of products and partial sums",
          "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  const NamedScalar scalar = find_scalar(inspection, "layers.0.mlp.hidden@2[7]");
  const auto steps = plain_operations(scalar.value);
  REQUIRE(steps.size() == 2 * inspection.config().n_embd);
  REQUIRE(steps.back().name == scalar.name);
  REQUIRE(bits(steps.back().data) == bits(scalar.value.data()));
  REQUIRE(bits(steps.back().grad) == bits(scalar.value.grad()));
}

TEST_CASE("find_scalar: an inner node is found however its indices are written",
          "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  for (const auto& [spelling, name] :
       {std::pair("norm.scale@00", "norm.scale@0"), std::pair("norm.scale@0:2", "norm.scale@2"),
        std::pair("layers.0.attention.scores@02[01][0]", "layers.0.attention.scores@2[1][0]")})
    REQUIRE(bits(find_scalar(inspection, spelling).value.data()) ==
            bits(find_scalar(inspection, name).value.data()));
}

TEST_CASE("find_scalar: a wrong name is refused with the nearest one", "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto message = [&](const char* name) {
    return error_message<ConfigError>([&] { find_scalar(inspection, name); });
  };
  CHECK_THAT(message("layers.0.atention.q@2[5]"),
             text_contains("did you mean layers.0.attention.q?"));
  CHECK_THAT(message("token_embeding[1][1]"), text_contains("did you mean token_embedding?"));
  CHECK_THAT(message("logits@2[w99]"), text_contains("did you mean logits@2[w9]?"));
}

namespace {
Model<double> model_with_words(std::vector<std::string> words, bool lowercase) {
  const GptConfig shape{
      .vocab_size = words.size() + 1, .block_size = 4, .n_layer = 1, .n_head = 1, .n_embd = 4};
  return {Tokenizer::from_words(std::move(words), lowercase, "test"),
          drawn_weights<double>(shape, 7), "{}"};
}
}  // namespace

TEST_CASE("find_scalar: a word stands for an index wherever a row is a word's",
          "[inspect][lookup]") {
  Inspection inspection(model_with_words({"1", "3", "a][2", "cat", "élan"}, true), "cat cat");
  const auto name = [&](const char* text) { return find_scalar(inspection, text).name; };
  CHECK(name("token_embedding[cat][3]") == "token_embedding[3][3]");
  CHECK(name("token_embedding[CAT][3]") == "token_embedding[3][3]");
  CHECK(name("output[ÉLAN][0]") == "output[4][0]");
  CHECK(name("output[<bos>][0]") == "output[5][0]");
  CHECK(name("output[a][2][0]") == "output[2][0]");
  CHECK(name("logits@0[Cat]") == "logits@0[cat]");
  CHECK(name("logits@0[4]") == "logits@0[élan]");
  CHECK(name("logits@0[a][2]") == "logits@0[a][2]");
  // A number is a word behind logits, and a row behind a parameter unless it stands in quotes.
  CHECK(name("logits@0[3]") == "logits@0[3]");
  CHECK(find_scalar(inspection, "logits@0[3]").value.id() ==
        inspection.matrix(Stage::logits).node(0, 1));
  CHECK(name("output[3][0]") == "output[3][0]");
  CHECK(name("output[\"3\"][0]") == "output[1][0]");
  CHECK(find_scalar(inspection, "output[\"3\"][0]").token == TokenId{1});
  CHECK(!find_scalar(inspection, "position_embedding[1][0]").token);

  const auto message = [&](const char* text) {
    return error_message<ConfigError>([&] { find_scalar(inspection, text); });
  };
  CHECK_THAT(message("output[czt][3]"), text_contains("did you mean output[cat][3]?"));
  CHECK_THAT(message("output[cat]"), text_contains("two indices"));
  CHECK_THAT(message("output[cat][x]"), text_contains("a number as column"));
  CHECK_THAT(message("output[cat][4]"), text_contains("a column from 0 to 3, found 4"));
  CHECK_THAT(message("output@0[cat]"), text_contains("expected no position"));
  CHECK_THAT(message("output[\xff][0]"), text_contains("expected UTF-8"));
  CHECK_THAT(message("layers.0.attention.query[cat][0]"), text_contains("a row and a column"));
}

TEST_CASE("find_word: in text with capitals a word has its own, and the others are suggested",
          "[inspect][lookup]") {
  const auto model = model_with_words({"CAT", "Dog", "cat"}, false);
  CHECK(find_word("CAT", "CAT", model.tokenizer) == 0);
  CHECK(find_word("cat", "cat", model.tokenizer) == 2);
  CHECK_THAT(
      error_message<ConfigError>([&] { find_word("output[DOG][1]", "DOG", model.tokenizer); }),
      text_contains("did you mean output[Dog][1]?"));
}

TEST_CASE("find_scalar: an index outside is refused with its range", "[inspect][lookup]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto message = [&](const char* name) {
    return error_message<ConfigError>([&] { find_scalar(inspection, name); });
  };
  CHECK_THAT(message("embedding@6[0]"), text_contains("a position from 0 to 5, found 6"));
  CHECK_THAT(message("embedding@2[8]"), text_contains("from 0 to 7, found 8"));
  CHECK_THAT(message("layers.0.attention.query[8][0]"),
             text_contains("a row from 0 to 7, found 8"));
  CHECK_THAT(message("layers.0.attention.weights@2[2][0]"),
             text_contains("a head from 0 to 1, found 2"));
  CHECK_THAT(message("layers.0.attention.weights@2[1][3]"),
             text_contains("from 0 to 2 to look back at"));
  CHECK_THAT(message("embedding[2]"), text_contains("expected a position"));
  CHECK_THAT(message("embedding@1"), text_contains("one index"));
  CHECK_THAT(message("loss@1[0]"), text_contains("no index"));
  CHECK_THAT(message("embedding@1[x]"), text_contains("one index"));
  for (const char* name :
       {"", "@2", "embedding@", "embedding@x[1]", "embedding@2[", "embedding@2[]", "[3]"})
    CHECK_THAT(message(name), text_contains("expected a name like"));
}

TEST_CASE("Inspection: a sentence longer than the block is refused", "[inspect]") {
  const auto model = inspected_model();
  CHECK_THAT(error_message<ConfigError>([&] { Inspection(model, "w1 w1 w1 w1 w1 w1 w1 w1"); }),
             text_contains("at most 7 words"));
  REQUIRE(Inspection(model, "w1 w1 w1 w1 w1 w1 w1").positions() == 8);
}

TEST_CASE("attention_maps: weights are the softmax of the scores, each row of sum 1",
          "[inspect][attention]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto maps = attention_maps(inspection);
  REQUIRE(maps.size() == 4);
  for (const AttentionMap& map : maps)
    for (std::size_t q = 0; q < inspection.positions(); ++q) {
      REQUIRE(map.weights[q].size() == q + 1);
      const auto weights = softmax(map.scores[q]);
      for (std::size_t k = 0; k <= q; ++k)
        REQUIRE(map.weights[q][k] == Approx(weights[k]).epsilon(1e-12));
    }
}

TEST_CASE("cache_growth: each step's weights are the stacked pass's row in equal bits",
          "[inspect][cache]") {
  Inspection inspection(inspected_model(), kSentence);
  const auto maps = attention_maps(inspection);
  const auto steps = cache_growth(inspection);
  REQUIRE(steps.size() == inspection.positions());
  for (std::size_t t = 0; t < steps.size(); ++t)
    for (const AttentionMap& map : maps) {
      const auto& layer = steps[t].layers[map.layer];
      REQUIRE(layer.keys.size() == t + 1);
      REQUIRE(layer.weights[map.head] == map.weights[t]);
      REQUIRE(layer.scores[map.head] == map.scores[t]);
      REQUIRE(layer.keys[t][3] ==
              inspection.matrix(Stage::attention_qkv, map.layer).data(t, 8 + 3));
    }
}

}  // namespace glassbox
