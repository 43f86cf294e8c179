// What a draw of one token of many needs of their logits, beside Table::max.
#pragma once

#include <cstddef>

namespace glassbox::kernels {

// The weights of a draw: 2^((logits[i] - max) * scale) within 3 units of 2^-24 besides the rounding
// of the exponent, at least 2^-126, and the sum of each kDrawBlock of them. Not for what is to have
// equal bits.
inline constexpr std::size_t kDrawBlock = 64;
struct ExpWeightsArgs {
  const float* logits;  // (size), without pads
  std::size_t size;
  float max, scale;
  float* weights;  // whole blocks: beyond `size` they become 0; or null
  float* sums;     // one a block
};

}  // namespace glassbox::kernels
