#include "infer/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "kernels/op.h"

namespace glassbox {

void SamplerConfig::validate() const {
  if (!(temperature >= 0 && temperature <= std::numeric_limits<double>::max())) {
    throw ConfigError(
        fmt::format("temperature: expected a finite number of at least 0, found {}; use 0 for the "
                    "most likely word",
                    temperature));
  }
  if (!(top_p >= 0 && top_p <= 1)) {
    throw ConfigError(fmt::format(
        "top_p: expected a number from 0 to 1, found {}; use 1 to switch it off", top_p));
  }
}

// In kLanes partial sums, by ids, that are added in order: a token that is not there adds nothing,
// so the sum has the same bits whether a filter took it away or a weight of 0 did.
double Candidates::total() const {
  double lanes[kernels::kLanes] = {};
  for (std::size_t i = 0; i < ids.size(); ++i) lanes[ids[i] % kernels::kLanes] += weights[i];
  return std::accumulate(std::begin(lanes), std::end(lanes), 0.0);
}

namespace {

// Leaves the candidates at those indices, which need not be in order.
void keep(Candidates& candidates, std::vector<std::size_t>& indices) {
  std::sort(indices.begin(), indices.end());
  std::size_t count = 0;
  for (const std::size_t i : indices) {
    candidates.ids[count] = candidates.ids[i];
    candidates.logits[count] = candidates.logits[i];
    candidates.weights[count++] = candidates.weights[i];
  }
  candidates.ids.resize(count);
  candidates.logits.resize(count);
  candidates.weights.resize(count);
}

// Takes the likeliest candidates, one after another, until `enough` is true of the last one's
// weight; the others go. Of equal logits the lowest ids are the likeliest.
template <class Enough>
void keep_likeliest(Candidates& candidates, Enough enough) {
  std::vector<std::size_t> heap(candidates.ids.size()), taken;
  std::iota(heap.begin(), heap.end(), std::size_t{0});
  const auto less_likely = [&logits = candidates.logits](std::size_t a, std::size_t b) {
    return logits[a] < logits[b] || (logits[a] == logits[b] && a > b);
  };
  // A heap gives the likeliest one after another, and the rest is never sorted.
  std::make_heap(heap.begin(), heap.end(), less_likely);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), less_likely);
    taken.push_back(heap.back());
    heap.pop_back();
    if (enough(candidates.weights[taken.back()])) break;
  }
  keep(candidates, taken);
}

// Makes weights of logits. exp is the kernels' own: in vectors, and the same bits with every C
// library.
void temperature(const SamplerConfig& config, Candidates& candidates) {
  auto& [ids, logits, weights] = candidates;
  const double largest = *std::max_element(logits.begin(), logits.end());
  weights.assign(kernels::padded(ids.size()), -INFINITY);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (largest == INFINITY || config.temperature == 0)  // the limit: equals share everything
      weights[i] = logits[i] == largest ? 0 : -INFINITY;
    else
      weights[i] = (logits[i] - largest) / config.temperature;
  kernels::Args<double> x;
  x.out.data = weights.data();
  x.out.rows = 1;
  x.out.cols = x.out.pitch = static_cast<std::uint32_t>(weights.size());
  x.in[0] = x.out;
  kernels::table<double>()[kernels::Op::exp].forward(x);
  weights.resize(ids.size());
  if (config.temperature == 0) keep_likeliest(candidates, [](double) { return true; });
}

void top_k(const SamplerConfig& config, Candidates& candidates) {
  keep_likeliest(candidates, [left = config.top_k](double) mutable { return --left == 0; });
}

void top_p(const SamplerConfig& config, Candidates& candidates) {
  keep_likeliest(candidates, [sum = 0.0, want = config.top_p * candidates.total()](
                                 double weight) mutable { return (sum += weight) >= want; });
}

constexpr Filter kFilters[] = {
    {"temperature", [](const SamplerConfig&, std::size_t) { return true; }, temperature},
    {"top-k",
     [](const SamplerConfig& config, std::size_t candidates) {
       return config.top_k != 0 && config.top_k < candidates;
     },
     top_k},
    {"top-p", [](const SamplerConfig& config, std::size_t) { return config.top_p < 1; }, top_p},
};

// The largest logit. Throws NumericError if one is not a number or all are minus infinity.
template <class T>
T largest_of(std::span<const T> logits) {
  const T largest = kernels::table<T>().max(logits.data(), logits.size());
  if (largest != largest) {
    const auto found = std::find_if(logits.begin(), logits.end(), [](T x) { return x != x; });
    throw NumericError(
        fmt::format("sampler: the logit of token {} is not a number", found - logits.begin()));
  }
  if (largest == -std::numeric_limits<T>::infinity()) {
    throw NumericError("sampler: no token has a logit above minus infinity");
  }
  return largest;
}

}  // namespace

std::span<const Filter> filters() { return kFilters; }

void apply_filters(const SamplerConfig& config, Candidates& candidates) {
  for (const Filter& filter : kFilters)
    if (filter.on(config, candidates.ids.size())) filter.apply(config, candidates);
}

Sampler::Sampler(const SamplerConfig& config)
    : config_((config.validate(), config)), fast_(config.temperature) {}

template <class T>
void Sampler::filter(std::span<const T> logits) {
  const T largest = largest_of(logits);
  std::vector<TokenId>& ids = candidates_.ids;
  // What the fast path finds, the list below need not look for again.
  SamplerConfig rest = config_;
  if (config_.temperature == 0) {
    const auto first = std::find(logits.begin(), logits.end(), largest);
    ids.assign(1, static_cast<TokenId>(first - logits.begin()));
  } else if (config_.top_k != 0 && config_.top_k < logits.size()) {
    fast_.top_k(logits, largest, config_.top_k, ids);
    rest.top_k = 0;
  } else if (config_.top_p < 1 && fast_.top_p(logits, config_.top_p, ids)) {
    rest.top_p = 1;
  } else {
    ids.resize(logits.size());
    std::iota(ids.begin(), ids.end(), TokenId{0});
  }
  candidates_.logits.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) candidates_.logits[i] = logits[ids[i]];
  apply_filters(rest, candidates_);
}

template <class T>
std::span<const double> Sampler::probabilities(std::span<const T> logits) {
  filter(logits);
  const double total = candidates_.total();
  probabilities_.assign(logits.size(), 0);
  for (std::size_t i = 0; i < candidates_.ids.size(); ++i)
    probabilities_[candidates_.ids[i]] = candidates_.weights[i] / total;
  return probabilities_;
}

template <class T>
DrawTable Sampler::read_exactly(std::span<const T> logits) {
  filter(logits);
  const double total = candidates_.total();
  shares_.clear();
  double to = 0;
  for (std::size_t i = 0; i < candidates_.ids.size(); ++i)
    if (const double share = candidates_.weights[i] / total; share > 0)
      shares_.push_back({to += share, candidates_.ids[i]});
  DrawTable table;
  table.shares = shares_;
  return table;
}

template <class T>
DrawTable Sampler::read(std::span<const T> logits) {
  const auto filters_on =
      std::count_if(std::begin(kFilters), std::end(kFilters),
                    [&](const Filter& filter) { return filter.on(config_, logits.size()); });
  if (filters_on == 1)  // only the temperature, which always is
    if (const auto table = fast_.read(logits)) return *table;
  return read_exactly(logits);
}

Draw Sampler::draw(const DrawTable& table, double u) {
  if (!table.logits.empty()) {
    const auto fast = FastDraw::draw(table, u);
    return fast ? *fast : draw(read_exactly(table.logits), u);
  }
  // Rounding may leave the last sum below u: then the last that can be drawn.
  const auto first = table.shares.begin();
  const auto drawn =
      std::upper_bound(first, table.shares.end() - 1, u,
                       [](double x, const DrawTable::Share& share) { return x < share.to; });
  return {drawn->token, drawn == first ? 0 : drawn[-1].to, drawn->to};
}

template std::span<const double> Sampler::probabilities(std::span<const float>);
template std::span<const double> Sampler::probabilities(std::span<const double>);
template DrawTable Sampler::read(std::span<const float>);
template DrawTable Sampler::read(std::span<const double>);

}  // namespace glassbox
