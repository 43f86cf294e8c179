// Runs of leaves with drawn values, and a scalar that depends on every element of a run
// differently.
#pragma once

#include <random>
#include <utility>

#include "autograd/matrix.h"

namespace glassbox {

template <class T>
Matrix<T> drawn_run(Tape<T>& tape, std::mt19937_64& bits, std::size_t rows, std::size_t cols) {
  const auto run = tape.matrix(rows, cols);
  for (std::size_t n = 0; n < rows; ++n)
    for (std::size_t m = 0; m < cols; ++m)
      *tape.data_from(run.node(n, m)) =
          static_cast<T>(static_cast<double>(bits() >> 11) * 0x1p-51 - 2);
  return run;
}

template <class T>
Value<T> weighted_sum(const Matrix<T>& run, std::mt19937_64& bits) {
  return dot(run, drawn_run(run.tape(), bits, run.rows(), run.cols()));
}

}  // namespace glassbox
