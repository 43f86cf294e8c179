#include "inspect/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "autograd/scope.h"
#include "base/closest_match.h"
#include "inspect/lookup.h"
#include "inspect/scale.h"

namespace glassbox {

ParameterSummary summarize_parameter(const ParameterSpec& spec, const double* values) {
  double largest = 0;
  spec.for_each_element([&](std::size_t, std::size_t, std::size_t at) {
    if (std::abs(values[at]) > std::abs(largest)) largest = values[at];
  });
  const double scale = scale_to_one(largest);
  double sum = 0, squares = 0;
  spec.for_each_element([&](std::size_t, std::size_t, std::size_t at) {
    const double x = values[at] * scale;
    sum += x;
    squares += x * x;
  });
  const auto size = static_cast<double>(spec.size());
  const double mean = sum / size;
  // In a second pass, because the difference of two sums would lose digits.
  double spread = 0;
  spec.for_each_element([&](std::size_t, std::size_t, std::size_t at) {
    const double x = values[at] * scale - mean;
    spread += x * x;
  });
  return {&spec, mean / scale, std::sqrt(spread / size) / scale, std::sqrt(squares) / scale,
          largest};
}

std::string ParameterElement::name() const {
  return fmt::format("{}[{}][{}]", spec->name, row, col);
}

std::vector<ParameterElement> largest_elements(const ParameterLayout& layout, const double* values,
                                               std::size_t count) {
  const auto size = [](double x) { return std::isnan(x) ? HUGE_VAL : std::abs(x); };
  const auto is_larger = [&](const ParameterElement& a, const ParameterElement& b) {
    return size(a.value) > size(b.value);
  };
  std::vector<ParameterElement> largest;  // with up to as many candidates again
  const auto keep_largest = [&] {
    std::ranges::stable_sort(largest, is_larger);
    if (largest.size() > count) largest.resize(count);
  };
  for (const ParameterSpec& spec : layout.parameters())
    spec.for_each_element([&](std::size_t row, std::size_t col, std::size_t i) {
      const ParameterElement element{&spec, row, col, values[i]};
      if (largest.size() >= count && (count == 0 || !is_larger(element, largest[count - 1])))
        return;
      largest.push_back(element);
      if (largest.size() >= 2 * count) keep_largest();
    });
  keep_largest();
  return largest;
}

std::vector<ParameterElement> parameter_elements(const ParameterLayout& layout,
                                                 const double* values, std::string_view text,
                                                 const Tokenizer& tokenizer) {
  const auto name = parse_scalar_name(text.empty() ? "all" : text);
  if (!name || name->position)
    refuse_name(text, "a parameter's name, with a row and a column in brackets or without",
                "write layers.0.attention.query[7][3]");
  std::vector<ParameterElement> result;
  std::vector<std::string> names;
  for (const ParameterSpec& spec : layout.parameters()) {
    names.push_back(spec.name);
    if (!text.empty() && name->name != spec.name) continue;
    const ElementIndex at = element_index(text, *name, spec, tokenizer);
    for (std::size_t row = at.row.value_or(0); row < (at.row ? *at.row + 1 : spec.rows); ++row)
      for (std::size_t col = at.col.value_or(0); col < (at.col ? *at.col + 1 : spec.cols); ++col)
        result.push_back({&spec, row, col, values[spec.index(row, col)]});
  }
  if (result.empty())
    refuse_name(text, "the name of a parameter",
                suggestion(name->name, names, "inspect params lists them"));
  return result;
}

std::vector<PlaceNorm> norms_by_place(const ParameterLayout& layout, const double* gradients) {
  std::vector<std::pair<std::string, std::vector<double>>> places;  // norms of its parameters
  for (const ParameterSpec& spec : layout.parameters()) {
    std::string place = spec.name;
    if (place.starts_with("layers."))
      place = place.substr(0, place.find('.', 7));
    else if (place.ends_with("_embedding"))
      place = "embeddings";
    if (places.empty() || places.back().first != place) places.push_back({place, {}});
    places.back().second.push_back(summarize_parameter(spec, gradients).norm);
  }
  std::vector<PlaceNorm> result;
  for (const auto& [place, norms] : places) result.push_back({place, norm_of(norms)});
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
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i].norm /= std::max(sizes[i].norm, std::numeric_limits<double>::denorm_min());
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
