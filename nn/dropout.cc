#include "nn/dropout.h"

#include "base/random.h"

namespace glassbox {

template <class T>
void Dropout::fill(const Batch& batch, std::uint32_t array, std::size_t cols, std::size_t pitch,
                   T* mask) const {
  const T kept = static_cast<T>(1 / (1 - rate));
  for (std::size_t s = 0; s < batch.sentences(); ++s) {
    CounterRandom random(std::uint64_t{seed} | step << 32, (first_sentence + s) << 32 | array);
    for (std::size_t row = batch.starts[s]; row < batch.starts[s + 1]; ++row)
      for (std::size_t col = 0; col < cols; ++col)
        mask[row * pitch + col] = random.uniform() < rate ? T(0) : kept;
  }
}

template void Dropout::fill(const Batch&, std::uint32_t, std::size_t, std::size_t, float*) const;
template void Dropout::fill(const Batch&, std::uint32_t, std::size_t, std::size_t, double*) const;

}  // namespace glassbox
