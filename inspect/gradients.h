// Parameters and their gradients, as figures: what `inspect params` and `gradients` show.
#pragma once

#include <string>
#include <vector>

#include "inspect/inspection.h"

namespace glassbox {

// One parameter's scalars, be it their data or their gradients.
struct ParameterSummary {
  const ParameterSpec* spec;
  double mean, std, norm;  // std over all elements; norm: root of the sum of squares
  double largest;          // in size, with its sign
};
// `values` are in the order of the layout.
ParameterSummary summarize_parameter(const ParameterSpec& spec, const double* values);

struct ParameterElement {
  const ParameterSpec* spec;
  std::size_t row, col;  // [out][in], as in the file
  double value;

  std::string name() const;
};
// The `count` elements of all parameters that are largest in size.
std::vector<ParameterElement> largest_elements(const ParameterLayout& layout, const double* values,
                                               std::size_t count);
// "layers.0.attention.query" is all its elements, "...query[7]" a row, "...query[7][3]" one, "" all
// there are; see element_index() for words. Throws ConfigError naming the nearest name or the
// range.
std::vector<ParameterElement> parameter_elements(const ParameterLayout& layout,
                                                 const double* values, std::string_view name,
                                                 const Tokenizer& tokenizer);

// The gradient's norm of the embeddings, of each layer, of the output matrix.
struct PlaceNorm {
  std::string place;
  double norm;
};
std::vector<PlaceNorm> norms_by_place(const ParameterLayout& layout, const double* gradients);

// Of a training step, in either precision: the norms of its gradients, computed here without a
// step; and how far a step moved each part, over the size of that part.
template <class T>
std::vector<PlaceNorm> gradient_norms(Gpt<T>& model, const Batch& batch);
template <class T>
std::vector<PlaceNorm> update_ratios(const ParameterLayout& layout, const T* before,
                                     const T* after);

// The gradient of every parameter, as the layout lies, of the loss of the sentence.
const double* parameter_gradients(Inspection& inspection);

// One parameter moved by `delta`: what its gradient says the loss will do, and what it does.
struct ParameterNudge {
  double predicted, measured;
};
ParameterNudge nudge_parameter(Inspection& inspection, const ParameterElement& entry, double delta);

}  // namespace glassbox
