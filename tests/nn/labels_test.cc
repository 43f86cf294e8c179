#include "nn/labels.h"

#include <regex>

#include "base/file.h"
#include "nn/gpt.h"
#include "nn/layers.h"
#include "tests/catch_compat.hpp"
#include "tests/support/small_models.h"

using namespace glassbox;

namespace {

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The first column of docs/names.md's table of values, in its order: "embedding@T[C]".
std::vector<std::string> documented_values() {
  const std::string text = read_file(std::string(GLASSBOX_SOURCE_DIR) + "/docs/names.md");
  const std::regex row("\n\\| `([^`]*)` \\| \\(");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

// The labels of the runs recorded since keep(), each as its last scalar has it.
template <class T>
std::vector<std::string> last_labels(Tape<T>& tape) {
  std::vector<std::string> labels;
  for (const MatrixInfo& run : tape.matrices()) {
    if (run.op == Op::leaf) continue;
    const auto last = [&](std::size_t col) {
      return tape.label(static_cast<NodeId>(run.out + (run.rows - 1) * run.pitch + col));
    };
    const bool qkv = last(0).find(".q@") != std::string::npos;
    if (qkv) labels.insert(labels.end(), {last(run.cols / 3 - 1), last(run.cols / 3 * 2 - 1)});
    labels.push_back(last(run.cols - 1));
  }
  return labels;
}

const std::vector<TokenId> kThreeWords = {46, 10, 20, 30, 46};

}  // namespace

TEST_CASE("labels: docs/names.md lists every value of a forward pass, in order", "[nn][labels]") {
  GptConfig config = small_shape();
  config.final_norm = true;
  Gpt<double> model(drawn_weights<double>(config, 721).view());
  const Batch batch = batch_of({&kThreeWords, 1}, config.block_size);
  model.loss(batch);
  std::vector<std::string> want = documented_values();
  REQUIRE(want.size() > 15);
  for (std::string& name : want) {
    name = replace_all(name, "layers.L.", "layers.0.");
    name = replace_all(name, "@T", "@3");
    name = replace_all(name, "[V]", "[46]");
    name = replace_all(name, "[F]", "[31]");
    name = replace_all(name, "[C]", "[7]");
  }
  CHECK(last_labels(model.tape()) == want);
}

TEST_CASE("labels: one token at a time the same values have the same names", "[nn][labels]") {
  GptConfig config = small_shape();
  config.n_layer = 2;
  Gpt<double> model(drawn_weights<double>(config, 722).view());
  const Batch batch = batch_of({&kThreeWords, 1}, config.block_size);
  model.forward(batch);
  const auto want = last_labels(model.tape());
  model.tape().clear();
  GraphCache<double> cache(config);
  for (std::size_t t = 0; t < 4; ++t) model.forward(kThreeWords[t], t, cache);
  auto labels = last_labels(model.tape());
  labels.erase(labels.begin(), labels.end() - static_cast<std::ptrdiff_t>(want.size()));
  CHECK(labels == want);
}

TEST_CASE("labels: a logit is called by its word once the words are known", "[nn][labels]") {
  Gpt<double> model(drawn_weights<double>(small_shape(4), 723).view());
  const Tokenizer tokenizer = Tokenizer::from_words({"cat", "sat", "the"}, true, "test");
  const std::vector<TokenId> sentence = {3, 2, 0, 1, 3};
  const Batch batch = batch_of({&sentence, 1}, 8);
  const auto logits = model.forward(batch);
  CHECK(logits(2, 0).label() == "logits@2[0]");
  model.name_tokens(&tokenizer);
  CHECK(logits(2, 0).label() == "logits@2[cat]");
  CHECK(logits(0, 3).label() == "logits@0[<bos>]");
}

TEST_CASE("labels: in a batch of several sentences the sentence stands before the position",
          "[nn][labels]") {
  Gpt<double> model(drawn_weights<double>(small_shape(), 724).view());
  const std::vector<std::vector<TokenId>> sentences = {{46, 1, 46}, {46, 2, 3, 46}};
  const Batch batch = batch_of(sentences, 8);
  const auto loss = model.loss(batch);
  CHECK(loss.rows(1, 0).label() == "loss@0:1");
  CHECK(loss.rows(2, 0).label() == "loss@1:0");
  CHECK(loss.mean.label() == "loss");
}

TEST_CASE("labels: a parameter's says out and in, as the file does", "[nn][labels]") {
  // Every one is unique, and is the name under which Gpt::parameter finds it.
  Gpt<double> model(drawn_weights<double>(small_shape(), 725).view());
  CHECK(model.tape().label(0) == "token_embedding[0][0]");
  for (const ParameterSpec& p : model.layout().parameters())
    for (std::size_t row = 0; row < p.rows; ++row)
      for (std::size_t col = 0; col < p.cols; ++col)
        REQUIRE(model.parameter(p.name, row, col).label() ==
                p.name + "[" + std::to_string(row) + "][" + std::to_string(col) + "]");
}

TEST_CASE("labels: neither layers nor positions are cut to fewer bits", "[nn][labels]") {
  const GptConfig shape{
      .vocab_size = 2, .block_size = 300000, .n_layer = 1100, .n_head = 1, .n_embd = 1};
  const ParameterLayout layout(shape);
  const LabelContext context{&layout};
  const MatrixLabel label = context.value(Stage::mlp_hidden, 1099, 299999);
  CHECK(label.format(label.context, label.tag, 0, 3) == "layers.1099.mlp.hidden@299999[3]");
}
