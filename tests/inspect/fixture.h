// One small model and one sentence for the tests of inspection.
#pragma once

#include "inspect/inspection.h"
#include "tests/support/small_models.h"

namespace glassbox {

inline constexpr const char* kSentence = "w3 w1 w4 w1 w5";

// Two layers, so that names, splits and maps have a second one to confuse with the first.
inline Model<double> inspected_model(std::uint32_t seed = 501) {
  const GptConfig shape{.vocab_size = 21, .block_size = 8, .n_layer = 2, .n_head = 2, .n_embd = 8};
  return {numbered_words(shape.vocab_size), drawn_weights<double>(shape, seed), "{}"};
}

}  // namespace glassbox
