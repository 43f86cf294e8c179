// The model file: safetensors with the configuration and the vocabulary inside, so that sampling
// needs nothing else. docs/formats.md describes it.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "data/tokenizer.h"
#include "model/safetensors.h"
#include "model/weights.h"

namespace glassbox {

// What a model file holds.
template <class T>
struct Model {
  Tokenizer tokenizer;
  Weights<T> weights;
  std::string training;  // provenance: a JSON object as text, "{}" if unknown

  const GptConfig& config() const { return weights.config(); }
};

// Float if the file's tensors are F32, double if they are F64.
using AnyModel = std::variant<Model<float>, Model<double>>;

// Throws FileError, or FormatError with the path, the place, what was expected and what was found.
// Nothing is allocated before its size is checked against the file's.
AnyModel read_model(const std::string& path);
// From the bytes of that file.
AnyModel parse_model(std::string bytes, const std::string& path);
AnyModel read_model(const SafetensorsReader& file);
// The same model, rounded or widened to T where the file holds the other precision.
template <class T>
Model<T> model_as(AnyModel model, const std::string& path);
template <class T>
Model<T> read_model_as(const std::string& path) {
  return model_as<T>(read_model(path), path);
}

// Written whole or not at all. The same model gives the same bytes. Throws NumericError, naming
// tensor and index, if a weight is not finite, FileError if the file can't be written.
template <class T>
void write_model(const std::string& path, WeightsView<T> weights, const Tokenizer& tokenizer,
                 const std::string& training);

// The parts of a model file, for files that hold more than a model, such as a checkpoint. What lies
// under the prefixes `optimizer.`, `best.` and `lora.` a model's reader passes over.

// What `__metadata__` says of a model.
std::map<std::string, std::string> model_metadata(const GptConfig& config,
                                                  const Tokenizer& tokenizer,
                                                  const std::string& training);
// What becomes of NaN and infinities. A weight must be finite; an optimiser's moment need not be: a
// mean square that overflowed holds its weight still, and the run goes on.
enum class NonFinite { refused, kept };
// Appends every parameter as the tensor PREFIX + its name. Throws NumericError as write_model does;
// `where` begins its message.
template <class T>
void append_parameters(WeightsView<T> weights, const std::string& prefix, const std::string& where,
                       std::vector<TensorToWrite>& tensors,
                       NonFinite non_finite = NonFinite::refused);
// Reads them into a slab. Throws FormatError for a tensor that is missing, of another shape or
// precision, or not finite.
template <class T>
void read_parameters(const SafetensorsReader& file, const std::string& prefix,
                     const ParameterLayout& layout, T* slab,
                     NonFinite non_finite = NonFinite::refused);

}  // namespace glassbox
