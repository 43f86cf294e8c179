// The forward pass, written once: embeddings, then per layer attention and a perceptron around a
// residual stream, then logits. RMSNorm comes before each of them, and at the end if the config
// says so; nothing has a bias. The weights and their shapes are in model/parameters.h.
//
// The pass does not say what an operation does. That is the business of `Ops`: on a tape it
// records (nn/gpt.cc), on plain arrays it computes (infer/decoder.cc), and it may as well write a
// node of an ONNX file or count multiplications. A change here changes all of them, and their
// numbers stay equal bit for bit.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "kernels/op.h"
#include "model/parameters.h"

namespace glassbox {

// What an array of the pass holds, in the order of computation.
enum class Stage : std::uint8_t {
  embedding,           // token + position
  norm,                // of the embedding
  attention_norm,      // from here to mlp_residual: of a layer
  attention_qkv,       // q, k and v side by side
  attention_heads,     // the heads' outputs side by side
  attention_output,    // after the output matrix
  attention_residual,  // added to the stream
  mlp_norm,
  mlp_hidden,  // before the activation
  mlp_activation,
  mlp_output,
  mlp_residual,
  final_norm,  // if there is one
  logits,
  loss,       // of each position; training computes the two losses after the pass
  mean_loss,  // what a step trains on
};

// Which array of the pass: the layer is 0 for the stages outside of layers.
struct Place {
  Stage stage;
  std::size_t layer = 0;
};

// What the pass asks of its operations. Each returns a new array, which holds what `place` says:
// a tape names the values by it, and plain arrays choose their memory by it. An array has a row for
// each position that is computed; Ops knows how many there are, their tokens and their sentences.
template <class Ops>
concept ForwardOps = requires(Ops ops, const typename Ops::Array x, const ParameterBlock weight,
                              kernels::Op op, std::size_t heads, double epsilon, Place place) {
  // The row of each token in the first table plus the row of its position in the second: (N, C).
  { ops.embedding(weight, weight, place) } -> std::same_as<typename Ops::Array>;
  // Each row of x over the root of its mean square plus epsilon.
  { ops.rmsnorm(x, epsilon, place) } -> std::same_as<typename Ops::Array>;
  // x times the weight.
  { ops.linear(x, weight, place) } -> std::same_as<typename Ops::Array>;
  // From query, key and value side by side, (N, 3C), to the heads' outputs side by side, (N, C).
  // Each position looks at itself and at the earlier ones of its sentence. An Ops that computes
  // only the newest positions keeps the keys and values of the earlier ones.
  { ops.attention(x, heads, place) } -> std::same_as<typename Ops::Array>;
  // Training's dropout, where there is one: x with some scalars at 0 and the others larger. Else x.
  { ops.dropout(x) } -> std::same_as<typename Ops::Array>;
  // An elementwise operation of one or of two arrays.
  { ops.apply(op, x, place) } -> std::same_as<typename Ops::Array>;
  { ops.apply(op, x, x, place) } -> std::same_as<typename Ops::Array>;
};

inline kernels::Op operation_of(Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return kernels::Op::gelu;
    case Activation::silu:
      return kernels::Op::silu;
    default:
      return kernels::Op::relu;
  }
}

// Returns the logits, (N, V).
template <ForwardOps Ops>
typename Ops::Array forward_pass(Ops& ops, const ParameterLayout& weights) {
  using kernels::Op;
  const double epsilon = weights.config().norm_epsilon;
  const Op activation = operation_of(weights.config().activation);
  auto x = ops.embedding(weights.token_embedding, weights.position_embedding, {Stage::embedding});
  x = ops.rmsnorm(x, epsilon, {Stage::norm});
  x = ops.dropout(x);
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    const LayerBlocks& layer = weights.layers[l];

    auto h = ops.rmsnorm(x, epsilon, {Stage::attention_norm, l});
    h = ops.linear(h, layer.query_key_value, {Stage::attention_qkv, l});
    h = ops.attention(h, weights.config().n_head, {Stage::attention_heads, l});
    h = ops.linear(h, layer.attention_output, {Stage::attention_output, l});
    x = ops.apply(Op::add, x, ops.dropout(h), {Stage::attention_residual, l});

    h = ops.rmsnorm(x, epsilon, {Stage::mlp_norm, l});
    h = ops.linear(h, layer.mlp_hidden, {Stage::mlp_hidden, l});
    h = ops.apply(activation, h, {Stage::mlp_activation, l});
    h = ops.linear(h, layer.mlp_output, {Stage::mlp_output, l});
    x = ops.apply(Op::add, x, ops.dropout(h), {Stage::mlp_residual, l});
  }
  if (weights.config().final_norm) x = ops.rmsnorm(x, epsilon, {Stage::final_norm});
  return ops.linear(x, weights.output, {Stage::logits});
}

}  // namespace glassbox
