// The shape of a model: hyperparameters under GPT-2's names.
#pragma once

#include <cstddef>
#include <string>

namespace glassbox {

// Of the perceptron's hidden layer.
enum class Activation { relu, gelu, silu };
// "relu", as an option and a model file say it.
const char* name_of(Activation activation);

struct GptConfig {
  std::size_t vocab_size = 0;   // tokens, BOS among them
  std::size_t block_size = 16;  // positions a sentence may have
  std::size_t n_layer = 2;
  std::size_t n_head = 4;
  std::size_t n_embd = 32;     // C, the width of the residual stream
  double norm_epsilon = 1e-5;  // inside RMSNorm's square root
  Activation activation = Activation::relu;
  bool final_norm = false;  // an RMSNorm before the logits, too

  std::size_t head_dim() const { return n_embd / n_head; }
  std::size_t hidden() const { return 4 * n_embd; }
  // 2 V C + block C + 12 L C^2.
  std::size_t parameter_count() const;

  // Whether the model is of the tutorial's kind, which has sizes alone to choose.
  bool is_tutorials() const { return activation == Activation::relu && !final_norm; }
  // Throws ConfigError naming the first setting that is impossible: a zero, n_embd not divisible by
  // n_head, a size beyond what 32-bit node ids can address.
  void validate() const;

  bool operator==(const GptConfig&) const = default;
};

}  // namespace glassbox
