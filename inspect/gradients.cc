#include "inspect/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "autograd/scope.h"
#include "base/closest_match.h"
#include "inspect/lookup.h"

namespace glassbox {

ParameterSummary summarize_parameter(const ParameterSpec& spec, const double* values) {
  double sum = 0, squares = 0, largest = 0;
  spec.for_each_element([&](std::size_t, std::size_t, std::size_t at) {
    const double x = values[at];
    sum += x;
    squares += x * x;
    if (std::abs(x) > std::abs(largest)) largest = x;
  });
  const auto size = static_cast<double>(spec.size());
  const double mean = sum / size;
  // In a second pass, because the difference of two sums would lose digits.
  double spread = 0;
  spec.for_each_element([&](std::size_t, std::size_t, std::size_t at) {
    spread += (values[at] - mean) * (values[at] - mean);
  });
  return {&spec, mean, std::sqrt(spread / size), std::sqrt(squares), largest};
}

std::string ParameterElement::name() const {
  return fmt::format("{}[{}][{}]", spec->name, row, col);
}

std::vector<ParameterElement> largest_elements(const ParameterLayout& layout, const double* values,
                                               std::size_t count) {
  auto all = parameter_elements(layout, values, "");
  std::ranges::stable_sort(all, std::greater(), [](const auto& e) { return std::abs(e.value); });
  if (count < all.size()) all.resize(count);
  return all;
}

std::vector<ParameterElement> parameter_elements(const ParameterLayout& layout,
                                                 const double* values, std::string_view text) {
  const auto name = parse_scalar_name(text.empty() ? "all" : text);
  const auto at = name ? name->numbers() : std::nullopt;
  if (!at || name->position || at->size() > 2)
    refuse_name(text, "a parameter's name, with a row and a column in brackets or without",
                "write layers.0.attention.query[7][3]");
  std::vector<ParameterElement> result;
  std::vector<std::string> names;
  for (const ParameterSpec& spec : layout.parameters()) {
    names.push_back(spec.name);
    if (!text.empty() && name->name != spec.name) continue;
    if (at->size() > 0) checked_index(text, "a row", (*at)[0], spec.rows);
    if (at->size() > 1) checked_index(text, "a column", (*at)[1], spec.cols);
    spec.for_each_element([&](std::size_t row, std::size_t col, std::size_t i) {
      if ((at->empty() || row == (*at)[0]) && (at->size() < 2 || col == (*at)[1]))
        result.push_back({&spec, row, col, values[i]});
    });
  }
  if (result.empty())
    refuse_name(text, "the name of a parameter",
                suggestion(name->name, names, "inspect params lists them"));
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
    auto found = std::ranges::find(result, place, &PlaceNorm::place);
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
