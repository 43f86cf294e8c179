// The layers, each one record on the tape. Shapes: N stacked positions, C channels, V vocabulary.
#pragma once

#include <cstdint>
#include <span>

#include "autograd/errors.h"
#include "autograd/ops.h"

namespace glassbox {

// Row n is the token's row of one table plus the position's row of the other: (N, C).
// REQUIRES: ids below the tables' rows; as many positions as tokens.
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
// Throws TapeError if x.cols() != w.rows().
template <class T>
Matrix<T> linear(const Matrix<T>& x, const Matrix<T>& w) {
  if (x.cols() != w.rows())
    throw TapeError("linear: expected as many inputs as the matrix has rows");
  return x.tape().record(Op::matmul, {x, w}, x.rows(), w.cols());
}

// Each row over the root of its mean square, without a gain: (N, C).
template <class T>
Matrix<T> rmsnorm(const Matrix<T>& x, double epsilon) {
  return x.tape().record(Op::rmsnorm, {x}, x.rows(), x.cols(), {}, epsilon);
}

// Each position looks at itself and at the earlier ones of its own sentence.
//   query_key_value  (N, 3C)   side by side
//   starts           (B + 1)   first row of each sentence, then N
//   returns          (N, C)    the heads' outputs side by side
template <class T>
Matrix<T> causal_self_attention(const Matrix<T>& query_key_value,
                                std::span<const std::uint32_t> starts, std::size_t n_head) {
  return query_key_value.tape().record(Op::attention, {query_key_value}, query_key_value.rows(),
                                       query_key_value.cols() / 3, starts,
                                       static_cast<double>(n_head));
}

// The newest position looks at every entry of a cache, its own being the last.
//   rows     where each entry's query-key-value row (1, 3C) begins on the tape
//   returns  (1, C)
template <class T>
Matrix<T> cached_attention(Tape<T>& tape, std::span<const NodeId> rows, std::size_t n_embd,
                           std::size_t n_head) {
  return tape.record(Op::cached_attention, {}, 1, n_embd, rows, static_cast<double>(n_head));
}

// Each row's loss in nats: (N, 1). Stable for any finite logits. REQUIRES: targets below
// logits.cols().
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
