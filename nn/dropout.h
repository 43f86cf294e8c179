// Dropout (Srivastava et al. 2014): while a model trains, each scalar of an array is 0 with
// probability `rate` and else larger by 1 / (1 - rate), so that its mean stays.
#pragma once

#include <cstdint>
#include <span>

#include "nn/batch.h"

namespace glassbox {

// A mask follows from the numbers here, from the place in the model and from the place in the
// sentence alone: neither from what was drawn before, nor from threads, nor from how a step's
// sentences are put into batches.
struct Dropout {
  double rate = 0;  // in [0, 1); 0: none
  std::uint32_t seed = 0;
  std::uint64_t step = 0;            // below 2^32
  std::uint64_t first_sentence = 0;  // of the batch, within the step

  // The factors of the batch's array number `array`, a row of `cols` for each position, `pitch`
  // apart. REQUIRES: rate is above 0.
  template <class T>
  void fill(const Batch& batch, std::uint32_t array, std::size_t cols, std::size_t pitch,
            T* mask) const;
};

}  // namespace glassbox
