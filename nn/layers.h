// The layers, each one record on the tape. Shapes: N stacked positions, C channels, V vocabulary.
// What does not fit the operation is refused by the tape with a TapeError: an id that is not below
// its table's rows, heads that do not divide the width, sentences that do not cover the rows, a
// target that is no column.
#pragma once

#include <cstdint>
#include <span>

#include "autograd/ops.h"

namespace glassbox {

// Row n is the token's row of one table plus the position's row of the other: (N, C).
template <class T>
Matrix<T> embedding(const Matrix<T>& token_table, const Matrix<T>& position_table,
                    std::span<const std::uint32_t> tokens_then_positions) {
  return token_table.tape().record(Op::embedding, {token_table, position_table},
                                   tokens_then_positions.size() / 2, token_table.cols(),
                                   tokens_then_positions);
}

// y = x W, without a bias.
//   x        (N, K)   the positions of all sentences of the batch, stacked
//   w        (K, M)   a parameter; w(k, m) carries input k to output m, its label says [m][k]
//   returns  (N, M)   one record; its products and partial sums are virtual nodes
template <class T>
Matrix<T> linear(const Matrix<T>& x, const Matrix<T>& w) {
  return x.tape().record(Op::matmul, {x, w}, x.rows(), w.cols());
}

// Each row over the root of its mean square, without a gain: (N, C).
template <class T>
Matrix<T> rmsnorm(const Matrix<T>& x, double epsilon) {
  return x.tape().record(Op::rmsnorm, {x}, x.rows(), x.cols(), {}, {.epsilon = epsilon});
}

// Each position looks at itself and at the earlier ones of its own sentence.
//   query_key_value  (N, 3C)   side by side
//   starts           (B + 1)   first row of each sentence, then N
//   returns          (N, C)    the heads' outputs side by side
template <class T>
Matrix<T> causal_self_attention(const Matrix<T>& query_key_value,
                                std::span<const std::uint32_t> starts, std::size_t n_head) {
  return query_key_value.tape().record(Op::attention, {query_key_value}, query_key_value.rows(),
                                       query_key_value.cols() / 3, starts, {.heads = n_head});
}

// The newest position looks at every entry of a cache, its own being the last.
//   rows     where each entry's query-key-value row (1, 3C) begins on the tape
//   returns  (1, C)
template <class T>
Matrix<T> cached_attention(Tape<T>& tape, std::span<const NodeId> rows, std::size_t n_embd,
                           std::size_t n_head) {
  return tape.record(Op::cached_attention, {}, 1, n_embd, rows, {.heads = n_head});
}

// Each row's loss in nats: (N, 1). Stable for any finite logits. It is a difference of two numbers
// of the size of the largest logit z, so it is right within 8 units in the last place of
// |z| + ln V, however near to 0 it is: infer/score.h has all digits.
template <class T>
Matrix<T> cross_entropy(const Matrix<T>& logits, std::span<const std::uint32_t> targets) {
  return logits.tape().record(Op::cross_entropy, {logits}, logits.rows(), 1, targets);
}
// The same for one row.
template <class T>
Value<T> cross_entropy(const Matrix<T>& logits, std::uint32_t target) {
  return cross_entropy(logits, std::span<const std::uint32_t>(&target, 1))(0, 0);
}

}  // namespace glassbox
