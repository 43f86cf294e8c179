#include "nn/gpt.h"

#include <fmt/format.h>

#include <algorithm>

#include "autograd/errors.h"
#include "autograd/scope.h"
#include "model/forward.h"
#include "nn/layers.h"

namespace glassbox {

namespace {

// The operations of the forward pass as records on a tape, each with the label of its stage.
// `attend` is attention: the stacked pass and the pass of one token differ in it alone.
template <class T, class Attend>
struct TapeOps {
  using Array = Matrix<T>;

  Array embedding(const ParameterBlock& tokens, const ParameterBlock& positions, Place place) {
    return label(glassbox::embedding(parameter(tokens), parameter(positions), ids), place);
  }
  Array rmsnorm(const Array& x, double epsilon, Place place) {
    return label(glassbox::rmsnorm(x, epsilon), place);
  }
  Array linear(const Array& x, const ParameterBlock& weight, Place place) {
    return label(glassbox::linear(x, parameter(weight)), place);
  }
  Array attention(const Array& query_key_value, std::size_t heads, Place place) {
    return label(attend(query_key_value, heads, place.layer), place);
  }
  Array dropout(const Array& x) {
    if (masks.empty()) return x;
    const Array mask = masks.front();
    masks = masks.subspan(1);
    return tape.record(Op::mul, {x, mask}, x.rows(), x.cols());
  }
  Array apply(Op op, const Array& x, Place place) {
    return label(tape.record(op, {x}, x.rows(), x.cols()), place);
  }
  Array apply(Op op, const Array& x, const Array& y, Place place) {
    return label(tape.record(op, {x, y}, x.rows(), x.cols()), place);
  }

  // Parameters are the tape's first nodes, in the layout's places.
  Array parameter(const ParameterBlock& block) {
    return Array(tape, tape.matrix_of(static_cast<NodeId>(block.offset)));
  }
  Array label(const Array& x, Place place) {
    return x.with_label(labels.value(place.stage, place.layer, position));
  }

  Tape<T>& tape;
  const LabelContext& labels;
  std::size_t position;                // LabelContext::kStacked for a batch
  std::span<const std::uint32_t> ids;  // tokens, then positions
  Attend attend;
  std::span<const Matrix<T>> masks = {};  // of dropout, in the order of the pass; none: no dropout
};
template <class T, class Attend>
TapeOps(Tape<T>&, const LabelContext&, std::size_t, std::span<const std::uint32_t>, Attend,
        std::span<const Matrix<T>> = {}) -> TapeOps<T, Attend>;

void check(const Batch& batch) {
  if (batch.rows() == 0 || batch.positions.size() != batch.rows())
    throw TapeError(
        fmt::format("batch: expected tokens and a position for each, found {} and {}; fill it with "
                    "Batch::add",
                    batch.rows(), batch.positions.size()));
}

}  // namespace

template <class T>
Gpt<T>::Gpt(const GptConfig& config) {
  layout_ = std::make_unique<ParameterLayout>(config);
  labels_.layout = layout_.get();
  const auto add = [&](const ParameterBlock& block) {
    tape_.matrix(block.rows, block.cols, labels_.parameter(block));
  };
  for (const auto* block :
       {&layout_->token_embedding, &layout_->position_embedding, &layout_->output})
    add(*block);
  for (const LayerBlocks& layer : layout_->layers)
    for (const auto* block :
         {&layer.query_key_value, &layer.attention_output, &layer.mlp_hidden, &layer.mlp_output})
      add(*block);
  tape_.keep();
}

template <class T>
Gpt<T>::Gpt(const GptConfig& config, Random& random) : Gpt(config) {
  initialize_weights(*layout_, tape_.data_from(0), random);
}

template <class T>
Gpt<T>::Gpt(WeightsView<T> weights) : Gpt(weights.layout->config()) {
  std::copy_n(weights.data, layout_->slab_size(), tape_.data_from(0));
}

template <class T>
Matrix<T> Gpt<T>::forward(const Batch& batch) {
  check(batch);
  labels_.batch = &batch;
  ids_ = batch.tokens;
  ids_.insert(ids_.end(), batch.positions.begin(), batch.positions.end());
  SentenceScope<T> sentences(tape_, batch.starts);
  // Before anything waits to be computed: to write leaves is to look at the tape.
  std::vector<Matrix<T>> masks;
  for (std::size_t i = 0; dropout_.rate > 0 && i < 1 + 2 * config().n_layer; ++i) {
    masks.push_back(tape_.matrix(batch.rows(), config().n_embd));
    const NodeId first = masks.back().node(0, 0);
    const std::size_t pitch = tape_.matrices().back().pitch;
    dropout_.fill(batch, static_cast<std::uint32_t>(i), config().n_embd, pitch,
                  tape_.data_from(first));
  }
  const auto attend = [&](const Matrix<T>& query_key_value, std::size_t heads, std::size_t) {
    return causal_self_attention(query_key_value, batch.starts, heads);
  };
  TapeOps ops{tape_,
              labels_,
              LabelContext::kStacked,
              std::span<const std::uint32_t>(ids_),
              attend,
              std::span<const Matrix<T>>(masks)};
  const auto logits = forward_pass(ops, *layout_);
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
  if (!cache.filled_on(tape_))
    throw TapeError("forward: expected a cache that this model has filled, found another's");
  const std::uint32_t ids[] = {token, static_cast<std::uint32_t>(position)};
  const auto attend = [&](const Matrix<T>& query_key_value, std::size_t heads, std::size_t layer) {
    const auto rows = cache.append(layer, query_key_value);  // keys and values grow by one
    return cached_attention(tape_, rows, config().n_embd, heads);
  };
  TapeOps ops{tape_, labels_, position, std::span<const std::uint32_t>(ids), attend};
  return forward_pass(ops, *layout_);
}

template <class T>
typename Gpt<T>::Loss Gpt<T>::loss(const Batch& batch) {
  check(batch);
  if (batch.weights.size() != batch.rows())
    throw TapeError(
        fmt::format("loss: expected a weight for each of {} rows, found {}; call "
                    "Batch::set_weights",
                    batch.rows(), batch.weights.size()));
  const auto label = [&](const Matrix<T>& x, Stage stage) {
    return x.with_label(labels_.value(stage, 0, LabelContext::kStacked));
  };
  SentenceScope<T> sentences(tape_, batch.starts);
  const auto rows = label(cross_entropy(forward(batch), batch.targets), Stage::loss);
  sentences.compute();
  const auto weights = tape_.matrix(batch.rows(), 1);
  for (std::size_t n = 0; n < batch.rows(); ++n)
    *tape_.data_from(weights.node(n, 0)) = static_cast<T>(batch.weights[n]);
  const auto mean = label(tape_.record(Op::dot, {rows, weights}, 1, 1), Stage::mean_loss);
  return {rows, mean(0, 0)};
}

template <class T>
std::size_t Gpt<T>::scalars_of_step(std::size_t rows, std::size_t longest, bool drops_out) const {
  using kernels::padded;
  const std::size_t width = padded(config().n_embd), vocab = padded(config().vocab_size);
  const auto saved = [&](Op op, std::size_t in_pitch, std::size_t cols) {
    const std::uint32_t starts[] = {0, static_cast<std::uint32_t>(longest)};
    kernels::Args<T> x;
    x.out.rows = x.in[0].rows = static_cast<std::uint32_t>(rows);
    x.out.cols = static_cast<std::uint32_t>(cols);
    x.in[0].pitch = static_cast<std::uint32_t>(in_pitch);
    x.ids = starts;
    x.settings.heads = config().n_head;
    return padded(tape_.table()[op].saved(x));
  };
  const std::size_t norm = rows * width + saved(Op::rmsnorm, width, config().n_embd);
  // Queries, keys and values; the heads, attention's output and what it is added to; the hidden
  // units before and after their activation; their output and what that is added to.
  const std::size_t layer =
      2 * norm + rows * (padded(3 * config().n_embd) + 5 * width + 2 * padded(config().hidden())) +
      saved(Op::attention, 0, config().n_embd);
  // A mask, and what it leaves.
  const std::size_t dropouts = drops_out ? (1 + 2 * config().n_layer) * 2 * rows * width : 0;
  return rows * width + (config().final_norm ? 2 : 1) * norm + config().n_layer * layer + dropouts +
         rows * (vocab + 2 * kernels::kLanes) + saved(Op::cross_entropy, vocab, 1) +
         kernels::kLanes;
}

template <class T>
Value<T> Gpt<T>::parameter(const std::string& name, std::size_t row, std::size_t col) {
  const ParameterSpec* spec = layout_->find(name);
  if (!spec || row >= spec->rows || col >= spec->cols)
    throw TapeError(
        fmt::format("parameter: expected one of the model's, found {}[{}][{}]", name, row, col));
  return Value<T>(tape_, static_cast<NodeId>(spec->index(row, col)));
}

template class Gpt<float>;
template class Gpt<double>;

}  // namespace glassbox
