#include "model/config.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace glassbox {
namespace {

// Weights and everything that a step computes share one space of 2^31 node ids. A model may take
// all of it but an eighth, which is left to the step.
constexpr double kMaxScalars = 7.0 / 8.0 * 2147483648.0;

// "1, 2, 4, 8, 16 or 32".
std::string divisors(std::size_t n) {
  std::string text = "1";
  for (std::size_t d = 2; d <= n; ++d) {
    if (n % d == 0) text += fmt::format("{}{}", d == n ? " or " : ", ", d);
  }
  return text;
}

// Scalars in memory, pads included: what ParameterLayout will lay out, in numbers that can't
// overflow.
double scalars(const GptConfig& c) {
  const auto padded = [](double width) { return 16 * std::ceil(width / 16); };
  const double V = static_cast<double>(c.vocab_size), C = static_cast<double>(c.n_embd);
  const double embeddings = (V + static_cast<double>(c.block_size)) * padded(C) + C * padded(V);
  const double layer = C * (padded(3 * C) + padded(C) + padded(4 * C)) + 4 * C * padded(C);
  return embeddings + static_cast<double>(c.n_layer) * layer;
}

}  // namespace

const char* name_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::silu:
      return "silu";
  }
  return "";
}

std::size_t GptConfig::parameter_count() const {
  return 2 * vocab_size * n_embd + block_size * n_embd + 12 * n_layer * n_embd * n_embd;
}

void GptConfig::validate() const {
  const struct {
    const char* name;
    std::size_t value;
  } sizes[] = {{"vocab_size", vocab_size},
               {"block_size", block_size},
               {"n_layer", n_layer},
               {"n_head", n_head},
               {"n_embd", n_embd}};
  for (const auto& [name, value] : sizes) {
    if (value < 1) {
      throw ConfigError(fmt::format("{}: expected at least 1, found 0; choose a larger one", name));
    }
    if (static_cast<double>(value) > kMaxScalars) {
      throw ConfigError(fmt::format("{}: expected at most {}, found {}; choose a smaller one", name,
                                    kMaxScalars, value));
    }
  }
  if (scalars(*this) > kMaxScalars) {
    throw ConfigError(fmt::format(
        "model: expected at most {} numbers in memory, found {} (n_layer {}, n_embd {}, "
        "block_size {}, vocab_size {}); choose a smaller n_embd, n_layer or block_size",
        kMaxScalars, scalars(*this), n_layer, n_embd, block_size, vocab_size));
  }
  if (n_embd % n_head != 0) {
    throw ConfigError(fmt::format("n_head: expected a divisor of n_embd ({}), found {}; choose {}",
                                  n_embd, n_head, divisors(n_embd)));
  }
  if (!(norm_epsilon > 0) || !std::isfinite(norm_epsilon)) {
    throw ConfigError(fmt::format(
        "norm_epsilon: expected a number above 0, found {}; 1e-05 is usual", norm_epsilon));
  }
}

}  // namespace glassbox
