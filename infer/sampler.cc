#include "infer/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

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
  if (!(min_p >= 0 && min_p <= 1)) {
    throw ConfigError(fmt::format(
        "min_p: expected a number from 0 to 1, found {}; use 0 to switch it off", min_p));
  }
  if (!(repetition_penalty > 0 && repetition_penalty <= std::numeric_limits<double>::max())) {
    throw ConfigError(
        fmt::format("repetition_penalty: expected a finite number above 0, found {}; use 1 to "
                    "switch it off",
                    repetition_penalty));
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
void keep(Candidates& candidates, std::span<std::size_t> indices) {
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
  std::vector<std::size_t> order(candidates.ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto less_likely = [&logits = candidates.logits](std::size_t a, std::size_t b) {
    return logits[a] < logits[b] || (logits[a] == logits[b] && a > b);
  };
  // A heap gives the likeliest one after another, and the rest is never sorted. What it has given
  // is behind its end.
  auto end = order.end();
  std::make_heap(order.begin(), end, less_likely);
  do std::pop_heap(order.begin(), end--, less_likely);
  while (!enough(candidates.weights[*end]) && end != order.begin());
  keep(candidates, {end, order.end()});
}

// Of CTRL (Keskar et al. 2019), with the sign that others add: a negative logit divided by more
// than 1 would become more likely.
void repetition_penalty(const SamplerConfig& config, Candidates& candidates) {
  const std::size_t size = candidates.before.size(), n = config.repeat_last_n;
  const auto last = candidates.before.last(n == 0 ? size : std::min(n, size));
  const std::set<TokenId> once(last.begin(), last.end());
  for (std::size_t i = 0; i < candidates.ids.size(); ++i)
    if (once.contains(candidates.ids[i])) {
      double& logit = candidates.logits[i];
      logit = logit > 0 ? logit / config.repetition_penalty : logit * config.repetition_penalty;
    }
}

// Makes weights of logits. exp is the kernels' own: in vectors, and the same bits with every C
// library.
void temperature(const SamplerConfig& config, Candidates& candidates) {
  auto& [ids, logits, weights, before] = candidates;
  const double largest = kernels::table<double>().max(logits.data(), logits.size());
  weights.assign(kernels::padded(ids.size()), -INFINITY);
  if (std::isinf(largest) || config.temperature == 0) {  // the limit: equals share everything
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (logits[i] == largest) weights[i] = 0;
  } else {
    for (std::size_t i = 0; i < ids.size(); ++i)
      weights[i] = (logits[i] - largest) / config.temperature;
  }
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

void min_p(const SamplerConfig& config, Candidates& candidates) {
  const auto& weights = candidates.weights;
  const double least = config.min_p * *std::max_element(weights.begin(), weights.end());
  std::vector<std::size_t> likely;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] >= least) likely.push_back(i);
  keep(candidates, likely);
}

constexpr Filter kFilters[] = {
    {"repetition penalty",
     [](const SamplerConfig& config, std::size_t) { return config.repetition_penalty != 1; },
     repetition_penalty},
    {"temperature", [](const SamplerConfig&, std::size_t) { return true; }, temperature},
    {"top-k",
     [](const SamplerConfig& config, std::size_t candidates) {
       return config.top_k != 0 && config.top_k < candidates;
     },
     top_k},
    {"top-p", [](const SamplerConfig& config, std::size_t) { return config.top_p < 1; }, top_p},
    {"min-p", [](const SamplerConfig& config, std::size_t) { return config.min_p > 0; }, min_p},
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
void Sampler::filter(std::span<const T> logits, std::span<const TokenId> before) {
  const T largest = largest_of(logits);
  std::vector<TokenId>& ids = candidates_.ids;
  // What the fast path finds, the list below need not look for again.
  SamplerConfig rest = config_;
  // A penalty moves the logits that the fast path would read.
  const bool fast = config_.repetition_penalty == 1;
  if (fast && config_.temperature == 0) {
    const auto first = std::find(logits.begin(), logits.end(), largest);
    ids.assign(1, static_cast<TokenId>(first - logits.begin()));
  } else if (fast && config_.top_k != 0 && config_.top_k < logits.size()) {
    fast_.top_k(logits, largest, config_.top_k, ids);
    rest.top_k = 0;
  } else if (fast && config_.top_p < 1 && fast_.top_p(logits, config_.top_p, ids)) {
    rest.top_p = 1;
  } else {
    ids.resize(logits.size());
    std::iota(ids.begin(), ids.end(), TokenId{0});
  }
  candidates_.logits.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) candidates_.logits[i] = logits[ids[i]];
  candidates_.before = before;
  apply_filters(rest, candidates_);
}

template <class T>
std::span<const double> Sampler::probabilities(std::span<const T> logits,
                                               std::span<const TokenId> before) {
  filter(logits, before);
  const double total = candidates_.total();
  probabilities_.assign(logits.size(), 0);
  for (std::size_t i = 0; i < candidates_.ids.size(); ++i)
    probabilities_[candidates_.ids[i]] = candidates_.weights[i] / total;
  return probabilities_;
}

template <class T>
DrawTable Sampler::read_exactly(std::span<const T> logits, std::span<const TokenId> before) {
  filter(logits, before);
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
DrawTable Sampler::read(std::span<const T> logits, std::span<const TokenId> before) {
  const auto filters_on =
      std::count_if(std::begin(kFilters), std::end(kFilters),
                    [&](const Filter& filter) { return filter.on(config_, logits.size()); });
  if (filters_on == 1)  // only the temperature, which always is
    if (const auto table = fast_.read(logits)) return *table;
  return read_exactly(logits, before);
}

DrawnToken Sampler::draw(const DrawTable& table, double u) {
  if (!table.logits.empty()) {
    const auto fast = FastDraw::draw(table, u);
    return fast ? *fast : draw(read_exactly(table.logits, {}), u);
  }
  // Rounding may leave the last sum below u: then the last that can be drawn.
  const auto first = table.shares.begin();
  const auto drawn =
      std::upper_bound(first, table.shares.end() - 1, u,
                       [](double x, const DrawTable::Share& share) { return x < share.to; });
  return {drawn->token, drawn == first ? 0 : drawn[-1].to, drawn->to};
}

template std::span<const double> Sampler::probabilities(std::span<const float>,
                                                        std::span<const TokenId>);
template std::span<const double> Sampler::probabilities(std::span<const double>,
                                                        std::span<const TokenId>);
template DrawTable Sampler::read(std::span<const float>, std::span<const TokenId>);
template DrawTable Sampler::read(std::span<const double>, std::span<const TokenId>);

}  // namespace glassbox
