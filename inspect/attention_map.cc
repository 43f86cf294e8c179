#include "inspect/attention_map.h"

#include "inspect/lookup.h"

namespace glassbox {

namespace {
// The scores and weights of the row of attention that a node lies in, by (head, position).
struct InnerRow {
  InnerRow(const Value<double>& row, std::size_t heads, std::size_t positions)
      : scores(heads, std::vector<double>(positions)), weights(scores) {
    const auto plain = row.expand();
    for (const auto& named : plain.inner_nodes())
      (named.what == "scores" ? scores : weights)[named.i][named.j] = plain.tape().data(named.node);
  }
  std::vector<std::vector<double>> scores, weights;
};
}  // namespace

std::vector<AttentionMap> attention_maps(Inspection& inspection) {
  const GptConfig& config = inspection.config();
  std::vector<AttentionMap> maps;
  for (std::size_t l = 0; l < config.n_layer; ++l) {
    for (std::size_t h = 0; h < config.n_head; ++h) maps.push_back({l, h, {}, {}});
    const Matrix<double> heads = inspection.matrix(Stage::attention_heads, l);
    for (std::size_t q = 0; q < inspection.positions(); ++q) {
      const InnerRow row(heads(q, 0), config.n_head, q + 1);
      for (std::size_t h = 0; h < config.n_head; ++h) {
        maps[l * config.n_head + h].scores.push_back(row.scores[h]);
        maps[l * config.n_head + h].weights.push_back(row.weights[h]);
      }
    }
  }
  return maps;
}

std::vector<CacheStep> cache_growth(Inspection& inspection) {
  const GptConfig& config = inspection.config();
  Tape<double>& tape = inspection.tape();
  GraphCache<double> cache(config);
  std::vector<CacheStep> steps;
  for (std::size_t t = 0; t < inspection.positions(); ++t) {
    const std::size_t first_matrix = tape.matrices().size();
    inspection.gpt().forward(inspection.batch().tokens[t], t, cache);
    CacheStep& step = steps.emplace_back(CacheStep{inspection.token(t), {}});
    for (std::size_t l = 0; l < config.n_layer; ++l) {
      CacheStep::Layer& layer = step.layers.emplace_back();
      for (std::size_t p = 0; p <= t; ++p) {
        auto& keys = layer.keys.emplace_back();
        auto& values = layer.values.emplace_back();
        for (std::size_t c = 0; c < config.n_embd; ++c) {
          keys.push_back(cache.key(l, p, c).data());
          values.push_back(cache.value(l, p, c).data());
        }
      }
    }
    std::size_t l = 0;
    for (std::size_t i = first_matrix; i < tape.matrices().size(); ++i) {
      if (tape.matrices()[i].op != kernels::Op::cached_attention) continue;
      InnerRow row(Value<double>(tape, tape.matrices()[i].out), config.n_head, t + 1);
      step.layers[l].scores = std::move(row.scores);
      step.layers[l++].weights = std::move(row.weights);
    }
  }
  return steps;
}

}  // namespace glassbox
