#include "inspect/logit_split.h"

#include <fmt/format.h>

#include <cmath>

namespace glassbox {

namespace {

// One column of the output matrix: what each channel of the stream counts for a word.
std::vector<double> word_direction(Inspection& inspection, TokenId word) {
  const ParameterSpec& output = *inspection.layout().find("output");
  std::vector<double> result;
  for (std::size_t c = 0; c < output.cols; ++c)
    result.push_back(inspection.tape().data(static_cast<NodeId>(output.index(word, c))));
  return result;
}

double dot(const Matrix<double>& run, std::size_t row, const std::vector<double>& direction,
           std::size_t begin = 0) {
  double sum = 0;
  for (std::size_t c = 0; c < direction.size(); ++c) sum += run.data(row, begin + c) * direction[c];
  return sum;
}

}  // namespace

LogitSplit logit_split(Inspection& inspection, std::size_t position, TokenId word) {
  const GptConfig& config = inspection.config();
  const std::vector<double> direction = word_direction(inspection, word);
  const auto data = [&](const ParameterSpec& spec, std::size_t row, std::size_t col) {
    return inspection.tape().data(static_cast<NodeId>(spec.index(row, col)));
  };
  LogitSplit result{{}, 0, inspection.matrix(Stage::logits).data(position, word)};

  // The stream begins as scale * (token + position).
  const Matrix<double> embedding = inspection.matrix(Stage::embedding);
  double squares = 0;
  for (std::size_t c = 0; c < config.n_embd; ++c)
    squares += std::pow(embedding.data(position, c), 2);
  const double scale =
      1 / std::sqrt(squares / static_cast<double>(config.n_embd) + config.norm_epsilon);
  const auto table_part = [&](const char* name, std::size_t row) {
    const ParameterSpec& table = *inspection.layout().find(name);
    double sum = 0;
    for (std::size_t c = 0; c < config.n_embd; ++c)
      sum += scale * data(table, row, c) * direction[c];
    result.parts.push_back({name, sum});
  };
  table_part("token_embedding", inspection.batch().tokens[position]);
  table_part("position_embedding", position);

  for (std::size_t l = 0; l < config.n_layer; ++l) {
    // A head's output goes through its own columns of the output matrix of attention.
    const ParameterSpec& mix =
        *inspection.layout().find(fmt::format("layers.{}.attention.output", l));
    const Matrix<double> heads = inspection.matrix(Stage::attention_heads, l);
    for (std::size_t h = 0; h < config.n_head; ++h) {
      double sum = 0;
      for (std::size_t c = h * config.head_dim(); c < (h + 1) * config.head_dim(); ++c)
        for (std::size_t k = 0; k < config.n_embd; ++k)
          sum += heads.data(position, c) * data(mix, k, c) * direction[k];
      result.parts.push_back({fmt::format("layers.{}.attention head {}", l, h), sum});
    }
    result.parts.push_back({fmt::format("layers.{}.mlp", l),
                            dot(inspection.matrix(Stage::mlp_output, l), position, direction)});
  }
  for (const auto& part : result.parts) result.sum += part.amount;
  return result;
}

std::vector<LayerGuess> guesses_by_layer(Inspection& inspection, std::size_t position) {
  std::vector<LayerGuess> result;
  const ParameterSpec& output = *inspection.layout().find("output");
  const auto add = [&](std::string after, const Matrix<double>& stream) {
    std::vector<double> logits(inspection.config().vocab_size);
    for (std::size_t c = 0; c < output.cols; ++c) {  // along the words: they lie side by side
      const double x = stream.data(position, c);
      const double* const weights =
          inspection.tape().data_from(static_cast<NodeId>(output.index(0, c)));
      const std::size_t stride = output.rows > 1 ? output.index(1, c) - output.index(0, c) : 1;
      for (std::size_t word = 0; word < logits.size(); ++word)
        logits[word] += x * weights[word * stride];
    }
    result.push_back({std::move(after), softmax(logits)});
  };
  add("embedding", inspection.matrix(Stage::norm));
  for (std::size_t l = 0; l < inspection.config().n_layer; ++l)
    add(fmt::format("layers.{}", l), inspection.matrix(Stage::mlp_residual, l));
  return result;
}

}  // namespace glassbox
