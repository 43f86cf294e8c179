// The two-layer GPT, as the chapter has it: embeddings, then per layer attention and an MLP around
// a residual stream, then logits. RMSNorm before each, none at the end; no biases.
#include "nn/gpt.h"

#include <fmt/format.h>

#include <algorithm>

#include "autograd/scope.h"
#include "nn/layers.h"

namespace glassbox {

template <class T>
Gpt<T>::Gpt(const GptConfig& config) {
  config.validate();
  layout_ = std::make_unique<ParameterLayout>(config);
  labels_.layout = layout_.get();
  for (const auto* block :
       {&layout_->token_embedding, &layout_->position_embedding, &layout_->output})
    tables_.push_back(parameter_matrix(*block));
  for (const LayerBlocks& blocks : layout_->layers)
    layers_.push_back({parameter_matrix(blocks.query_key_value),
                       parameter_matrix(blocks.attention_output),
                       parameter_matrix(blocks.mlp_hidden), parameter_matrix(blocks.mlp_output)});
  tape_.keep();
}

template <class T>
Gpt<T>::Gpt(const GptConfig& config, Random& random) : Gpt(config) {
  initialize(*layout_, tape_.data_from(0), random);
}

template <class T>
Gpt<T>::Gpt(WeightsView<T> weights) : Gpt(weights.layout->config()) {
  std::copy_n(weights.data, layout_->slab_size(), tape_.data_from(0));
}

template <class T>
Matrix<T> Gpt<T>::parameter_matrix(const ParameterBlock& block) {
  return tape_.matrix(block.rows, block.cols, labels_.parameter(block));
}

template <class T>
template <class Attend>
Matrix<T> Gpt<T>::layers(Matrix<T> x, std::size_t position, Attend attend) {
  const double epsilon = config().norm_epsilon;
  with_label(x, Stage::embedding, 0, position);
  x = with_label(rmsnorm(x, epsilon), Stage::norm, 0, position);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const auto name = [&](Matrix<T> matrix, Stage stage) {
      return with_label(matrix, stage, l, position);
    };

    auto h = name(rmsnorm(x, epsilon), Stage::attention_norm);
    h = name(linear(h, layer.query_key_value), Stage::attention_qkv);
    h = name(attend(l, h), Stage::attention_heads);
    h = name(linear(h, layer.attention_output), Stage::attention_output);
    x = name(x + h, Stage::attention_residual);

    h = name(rmsnorm(x, epsilon), Stage::mlp_norm);
    h = name(linear(h, layer.mlp_hidden), Stage::mlp_hidden);
    h = name(relu(h), Stage::mlp_activation);
    h = name(linear(h, layer.mlp_output), Stage::mlp_output);
    x = name(x + h, Stage::mlp_residual);
  }
  return with_label(linear(x, tables_[2]), Stage::logits, 0, position);
}

template <class T>
void Gpt<T>::check_ids(std::span<const std::uint32_t> tokens_then_positions) const {
  const std::size_t rows = tokens_then_positions.size() / 2;
  for (std::size_t n = 0; n < rows; ++n)
    if (tokens_then_positions[n] >= config().vocab_size ||
        tokens_then_positions[rows + n] >= config().block_size)
      throw TapeError(
          fmt::format("forward: expected a token below {} at a position below {}, found {} at {}",
                      config().vocab_size, config().block_size, tokens_then_positions[n],
                      tokens_then_positions[rows + n]));
}

template <class T>
Matrix<T> Gpt<T>::forward(const Batch& batch) {
  labels_.batch = &batch;
  ids_ = batch.tokens;
  ids_.insert(ids_.end(), batch.positions.begin(), batch.positions.end());
  check_ids(ids_);
  SentenceScope<T> sentences(tape_, batch.starts);
  const auto x = embedding(tables_[0], tables_[1], ids_);
  const auto logits =
      layers(x, LabelContext::kStacked, [&](std::size_t, const Matrix<T>& query_key_value) {
        return causal_self_attention(query_key_value, batch.starts, config().n_head);
      });
  sentences.compute();
  return logits;
}

template <class T>
Matrix<T> Gpt<T>::forward(std::uint32_t token, std::size_t position, GraphCache<T>& cache) {
  if (position != cache.size() || position >= config().block_size)
    throw TapeError(fmt::format("forward: expected position {} of a block of {}, found {}",
                                cache.size(), config().block_size, position));
  if (!cache.fits(config()))
    throw TapeError("forward: expected a cache made from the model's config");
  const std::uint32_t ids[] = {token, static_cast<std::uint32_t>(position)};
  check_ids(ids);
  const auto x = embedding(tables_[0], tables_[1], ids);
  return layers(x, position, [&](std::size_t l, const Matrix<T>& query_key_value) {
    const auto rows = cache.append(l, query_key_value);  // keys and values grow by one
    return cached_attention(tape_, rows, config().n_embd, config().n_head);
  });
}

template <class T>
typename Gpt<T>::Loss Gpt<T>::loss(const Batch& batch) {
  for (const TokenId target : batch.targets)
    if (target >= config().vocab_size)
      throw TapeError(
          fmt::format("loss: expected targets below {}, found {}", config().vocab_size, target));
  SentenceScope<T> sentences(tape_, batch.starts);
  const auto rows = with_label(cross_entropy(forward(batch), batch.targets), Stage::loss, 0,
                               LabelContext::kStacked);
  sentences.compute();
  const auto weights = tape_.matrix(batch.rows(), 1);
  for (std::size_t n = 0; n < batch.rows(); ++n)
    *tape_.data_from(weights.node(n, 0)) = static_cast<T>(batch.weights[n]);
  const auto mean = with_label(tape_.record(Op::dot, {rows, weights}, 1, 1), Stage::mean_loss, 0,
                               LabelContext::kStacked);
  return {rows, mean(0, 0)};
}

template <class T>
Value<T> Gpt<T>::parameter(const std::string& name, std::size_t row, std::size_t col) {
  const ParameterSpec* spec = layout_->find(name);
  if (!spec || row >= spec->rows || col >= spec->cols)
    throw TapeError(
        fmt::format("parameter: expected one of the model's, found {}[{}][{}]", name, row, col));
  return Value<T>(tape_, static_cast<NodeId>(spec->index(row, col)));
}

template <class T>
Matrix<T> Gpt<T>::with_label(Matrix<T> matrix, Stage stage, std::size_t layer,
                             std::size_t position) {
  return matrix.with_label(labels_.value(stage, layer, position));
}

template class Gpt<float>;
template class Gpt<double>;

}  // namespace glassbox
