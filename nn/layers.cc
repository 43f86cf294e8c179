#include "nn/layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "autograd/errors.h"

namespace glassbox::detail {

void check_tables(std::size_t tokens, std::size_t positions, std::size_t width,
                  std::size_t position_width, std::span<const std::uint32_t> ids) {
  const std::size_t rows = ids.size() / 2;
  if (ids.size() % 2 != 0 || width != position_width)
    throw TapeError(
        fmt::format("embedding: expected a position for each token and tables of one "
                    "width, found {} ids, widths {} and {}",
                    ids.size(), width, position_width));
  for (std::size_t n = 0; n < rows; ++n)
    if (ids[n] >= tokens || ids[rows + n] >= positions)
      throw TapeError(
          fmt::format("embedding: expected a token below {} at a position below {}, found {} at {}",
                      tokens, positions, ids[n], ids[rows + n]));
}

void check_linear(std::size_t inputs, std::size_t weight_rows) {
  if (inputs != weight_rows)
    throw TapeError(
        fmt::format("linear: expected as many inputs as the {} rows of the matrix, found {}",
                    weight_rows, inputs));
}

void check_heads(std::size_t width, std::size_t heads) {
  if (heads == 0 || width % heads != 0)
    throw TapeError(fmt::format(
        "attention: expected query, key and value side by side and heads that divide their width "
        "{}, found {} heads",
        width, heads));
}

void check_sentences(std::size_t rows, std::span<const std::uint32_t> starts) {
  if (starts.size() < 2 || starts.front() != 0 || starts.back() != rows ||
      !std::is_sorted(starts.begin(), starts.end()))
    throw TapeError(
        fmt::format("sentences: expected them to begin at row 0 and to end at row "
                    "{}, one after the other",
                    rows));
}

void check_targets(std::size_t rows, std::size_t cols, std::span<const std::uint32_t> targets) {
  if (targets.size() != rows)
    throw TapeError(fmt::format("cross_entropy: expected a target for each of {} rows, found {}",
                                rows, targets.size()));
  for (const std::uint32_t target : targets)
    if (target >= cols)
      throw TapeError(
          fmt::format("cross_entropy: expected targets below {}, found {}", cols, target));
}

}  // namespace glassbox::detail
