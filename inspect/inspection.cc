#include "inspect/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/errors.h"
#include "autograd/scope.h"
#include "base/error.h"
#include "base/quote.h"

namespace glassbox {

namespace {
std::unique_ptr<Batch> one_sentence(const Model<double>& model, std::string_view text) {
  std::vector<TokenId> tokens = model.tokenizer.encode(text, "sentence");
  tokens.insert(tokens.begin(), model.tokenizer.bos());
  tokens.push_back(model.tokenizer.bos());
  const std::size_t block = model.config().block_size;
  if (tokens.size() - 1 > block)
    throw ConfigError(
        fmt::format("sentence: expected at most {}, so that with its beginning it "
                    "fits the model's block of {}, found {}; shorten it",
                    counted(block - 1, model.tokenizer.kind().unit), block, tokens.size() - 2));
  auto batch = std::make_unique<Batch>();
  batch->add(tokens, block);
  batch->set_weights();
  return batch;
}
}  // namespace

Inspection::Inspection(const Model<double>& model, std::string_view sentence)
    : tokenizer_(model.tokenizer),
      batch_(one_sentence(model, sentence)),
      gpt_(model.weights.view()) {
  gpt_.name_tokens(&tokenizer_);
  loss_ = std::make_unique<Gpt<double>::Loss>(gpt_.loss(*batch_));
  loss_->mean.set_label("loss");
  loss_->mean.backward();
  tape().keep();
}

std::string Inspection::token(std::size_t position) const {
  return std::string(tokenizer_.word(batch_->tokens[position]));
}
std::string Inspection::target(std::size_t position) const {
  return std::string(tokenizer_.word(batch_->targets[position]));
}

Matrix<double> Inspection::matrix(Stage stage, std::size_t layer) {
  const LabelContext context{&layout()};
  const MatrixLabel wanted = context.value(stage, layer, LabelContext::kStacked);
  const auto& matrices = tape().matrices();
  for (std::size_t i = 0; i < matrices.size(); ++i)
    if (matrices[i].label.format == wanted.format && matrices[i].label.tag == wanted.tag)
      return Matrix<double>(tape(), static_cast<MatrixId>(i));
  throw TapeError(
      fmt::format("run: expected a stage of the model, found {}", stage_name(stage, layer)));
}

double Inspection::recompute_loss() {
  const StepScope<double> scope(tape());
  return gpt_.loss(*batch_).mean.data();
}

std::vector<double> softmax(const std::vector<double>& logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> result;
  for (const double logit : logits) result.push_back(std::exp(logit - highest));
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& p : result) p /= sum;
  return result;
}

std::vector<TokenId> likeliest_tokens(const std::vector<double>& values, std::size_t count) {
  std::vector<TokenId> ids(values.size());
  std::iota(ids.begin(), ids.end(), TokenId{0});
  count = std::min(count, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                    [&](TokenId a, TokenId b) {
                      return values[a] > values[b] || (values[a] == values[b] && a < b);
                    });
  ids.resize(count);
  return ids;
}

}  // namespace glassbox
