#include "inspect/logit_split.h"

#include <fmt/format.h>

#include <cmath>

#include "inspect/lookup.h"

namespace glassbox {

LogitSplit logit_split(Inspection& inspection, std::size_t position, TokenId word) {
  const GptConfig& config = inspection.config();
  const ParameterLayout& layout = inspection.layout();
  const double* const weights = inspection.gpt().weights().data;
  const ParameterSpec& output = *layout.find("output");
  LogitSplit result{{}, 0, inspection.matrix(Stage::logits).data(position, word)};
  // What the final norm, if there is one, multiplies the stream by at that position.
  const auto scale_of = [&](const char* norm) {
    return find_scalar(inspection, fmt::format("{}.scale@{}", norm, position)).value.data();
  };
  const double last_scale = config.final_norm ? scale_of("final_norm") : 1;
  // Adds the part that gives the stream's channel c the number channel(c).
  const auto add = [&](std::string name, auto channel) {
    double amount = 0;
    for (std::size_t c = 0; c < config.n_embd; ++c)
      amount += last_scale * channel(c) * weights[output.index(word, c)];
    result.sum += amount;
    result.parts.push_back({std::move(name), amount});
  };

  // The stream begins as scale * (token + position).
  const double scale = scale_of("norm");
  const auto add_embedding = [&](const char* name, std::size_t row) {
    const ParameterSpec& table = *layout.find(name);
    add(name, [&](std::size_t c) { return scale * weights[table.index(row, c)]; });
  };
  add_embedding("token_embedding", inspection.batch().tokens[position]);
  add_embedding("position_embedding", position);

  for (std::size_t l = 0; l < config.n_layer; ++l) {
    // A head's output goes through its own columns of the output matrix of attention.
    const ParameterSpec& mix = *layout.find(fmt::format("layers.{}.attention.output", l));
    const Matrix<double> heads = inspection.matrix(Stage::attention_heads, l);
    for (std::size_t begin = 0; begin < config.n_embd; begin += config.head_dim())
      add(fmt::format("layers.{}.attention head {}", l, begin / config.head_dim()),
          [&](std::size_t out) {
            double sum = 0;
            for (std::size_t in = begin; in < begin + config.head_dim(); ++in)
              sum += heads.data(position, in) * weights[mix.index(out, in)];
            return sum;
          });
    const Matrix<double> mlp = inspection.matrix(Stage::mlp_output, l);
    add(fmt::format("layers.{}.mlp", l), [&](std::size_t c) { return mlp.data(position, c); });
  }
  return result;
}

std::vector<LayerGuess> guesses_by_layer(Inspection& inspection, std::size_t position) {
  std::vector<LayerGuess> result;
  const ParameterSpec& output = *inspection.layout().find("output");
  const double* const weights = inspection.gpt().weights().data;
  const auto add = [&](std::string after, const Matrix<double>& stream) {
    const GptConfig& config = inspection.config();
    std::vector<double> logits(config.vocab_size);
    double scale = 1;
    if (config.final_norm) {
      double squares = 0;
      for (std::size_t c = 0; c < output.cols; ++c)
        squares += stream.data(position, c) * stream.data(position, c);
      scale = 1 / std::sqrt(squares / static_cast<double>(output.cols) + config.norm_epsilon);
    }
    for (std::size_t c = 0; c < output.cols; ++c) {  // along the words: they lie side by side
      const double x = scale * stream.data(position, c);
      for (std::size_t word = 0; word < logits.size(); ++word)
        logits[word] += x * weights[output.index(word, c)];
    }
    result.push_back({std::move(after), softmax(logits)});
  };
  add("embedding", inspection.matrix(Stage::norm));
  for (std::size_t l = 0; l < inspection.config().n_layer; ++l)
    add(fmt::format("layers.{}", l), inspection.matrix(Stage::mlp_residual, l));
  return result;
}

}  // namespace glassbox
