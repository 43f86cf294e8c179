#include "inspect/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "autograd/scope.h"
#include "base/closest_match.h"
#include "base/error.h"

namespace glassbox {

ParameterSummary summarize_parameter(const ParameterSpec& spec, const double* values) {
  double sum = 0, squares = 0, largest = 0;
  for (std::size_t r = 0; r < spec.rows; ++r)
    for (std::size_t c = 0; c < spec.cols; ++c) {
      const double x = values[spec.index(r, c)];
      sum += x;
      squares += x * x;
      if (std::abs(x) > std::abs(largest)) largest = x;
    }
  const double mean = sum / static_cast<double>(spec.size());
  double spread =
      0;  // around the mean, in a second pass: the difference of two sums would lose digits
  for (std::size_t r = 0; r < spec.rows; ++r)
    for (std::size_t c = 0; c < spec.cols; ++c)
      spread += (values[spec.index(r, c)] - mean) * (values[spec.index(r, c)] - mean);
  return {&spec, mean, std::sqrt(spread / static_cast<double>(spec.size())), std::sqrt(squares),
          largest};
}

std::string ParameterElement::name() const {
  return fmt::format("{}[{}][{}]", spec->name, row, col);
}

std::vector<ParameterElement> largest_elements(const ParameterLayout& layout, const double* values,
                                               std::size_t count, const ParameterSpec* only) {
  std::vector<ParameterElement> all;
  for (const ParameterSpec& spec : layout.parameters()) {
    if (only && only->name != spec.name) continue;
    for (std::size_t r = 0; r < spec.rows; ++r)
      for (std::size_t c = 0; c < spec.cols; ++c)
        all.push_back({&spec, r, c, values[spec.index(r, c)]});
  }
  count = std::min(count, all.size());
  std::stable_sort(all.begin(), all.end(),
                   [](const ParameterElement& a, const ParameterElement& b) {
                     return std::abs(a.value) > std::abs(b.value);
                   });
  all.resize(count);
  return all;
}

std::vector<ParameterElement> parameter_elements(const ParameterLayout& layout,
                                                 const double* values, std::string_view text) {
  const auto name = parse_scalar_name(text.empty() ? "all" : text);
  const auto at = name ? name->numbers() : std::nullopt;
  if (!at || name->position || at->size() > 2)
    throw ConfigError(
        fmt::format("{}: expected a parameter's name, with a row and a column in brackets "
                    "or without; write layers.0.attention.query[7][3]",
                    text));
  std::vector<ParameterElement> result;
  std::vector<std::string> names;
  for (const ParameterSpec& spec : layout.parameters()) {
    names.push_back(spec.name);
    if (!text.empty() && name->name != spec.name) continue;
    const std::size_t limits[] = {spec.rows, spec.cols};
    for (std::size_t i = 0; i < at->size(); ++i)
      if ((*at)[i] >= limits[i])
        throw ConfigError(fmt::format("{}: expected a {} from 0 to {}, found {}; count from 0",
                                      text, i == 0 ? "row" : "column", limits[i] - 1, (*at)[i]));
    for (std::size_t r = 0; r < spec.rows; ++r)
      for (std::size_t c = 0; c < spec.cols; ++c)
        if ((at->empty() || r == (*at)[0]) && (at->size() < 2 || c == (*at)[1]))
          result.push_back({&spec, r, c, values[spec.index(r, c)]});
  }
  if (result.empty()) {
    const std::string near = closest_match(name->name, names);
    throw ConfigError(fmt::format(
        "{}: expected the name of a parameter; {}", text,
        near.empty() ? "inspect params lists them" : fmt::format("did you mean {}?", near)));
  }
  return result;
}

std::vector<PlaceNorm> norms_by_place(const ParameterLayout& layout, const double* gradients) {
  std::vector<PlaceNorm> result;
  for (const ParameterSpec& spec : layout.parameters()) {
    std::string place = spec.name;
    if (place.starts_with("layers."))
      place = place.substr(0, place.find('.', 7));
    else if (place.ends_with("_embedding"))
      place = "embeddings";
    auto found =
        std::find_if(result.begin(), result.end(), [&](const auto& p) { return p.place == place; });
    if (found == result.end()) found = result.insert(result.end(), {place, 0});
    const double norm = summarize_parameter(spec, gradients).norm;
    found->norm += norm * norm;
  }
  for (PlaceNorm& place : result) place.norm = std::sqrt(place.norm);
  return result;
}

template <class T>
std::vector<PlaceNorm> gradient_norms(Gpt<T>& model, const Batch& batch) {
  Tape<T>& tape = model.tape();
  const StepScope<T> scope(tape);
  tape.zero_grad();
  model.loss(batch).mean.backward();
  const T* grad = tape.grad_from(0);
  return norms_by_place(model.layout(),
                        std::vector<double>(grad, grad + model.layout().slab_size()).data());
}

template <class T>
std::vector<PlaceNorm> update_ratios(const ParameterLayout& layout, const T* before,
                                     const T* after) {
  std::vector<double> moved(layout.slab_size()), size(layout.slab_size());
  for (std::size_t i = 0; i < moved.size(); ++i) {
    size[i] = static_cast<double>(before[i]);
    moved[i] = static_cast<double>(after[i]) - size[i];
  }
  auto result = norms_by_place(layout, moved.data());
  const auto sizes = norms_by_place(layout, size.data());
  for (std::size_t i = 0; i < result.size(); ++i) result[i].norm /= std::max(sizes[i].norm, 1e-300);
  return result;
}

template std::vector<PlaceNorm> gradient_norms(Gpt<float>&, const Batch&);
template std::vector<PlaceNorm> gradient_norms(Gpt<double>&, const Batch&);
template std::vector<PlaceNorm> update_ratios(const ParameterLayout&, const float*, const float*);
template std::vector<PlaceNorm> update_ratios(const ParameterLayout&, const double*, const double*);

const double* parameter_gradients(Inspection& inspection) { return inspection.tape().grad_from(0); }

ParameterNudge nudge_parameter(Inspection& inspection, const ParameterElement& entry,
                               double delta) {
  const auto id = static_cast<NodeId>(entry.spec->index(entry.row, entry.col));
  Tape<double>& tape = inspection.tape();
  const double before = inspection.recompute_loss(), weight = tape.data(id);
  *tape.data_from(id) = weight + delta;
  const double after = inspection.recompute_loss();
  *tape.data_from(id) = weight;
  return {tape.grad(id) * delta, after - before};
}

}  // namespace glassbox
