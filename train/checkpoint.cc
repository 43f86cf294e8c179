#include "train/checkpoint.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "model/format_error.h"

namespace glassbox {
namespace {

constexpr const char* kStateKey = "glassbox.state";
constexpr const char* kMean = "optimizer.m.";
constexpr const char* kMeanSquare = "optimizer.v.";
constexpr const char* kBest = "best.";
constexpr const char* kPowers = "optimizer.powers";  // beta1^t and beta2^t
constexpr std::string_view kEnding = ".safetensors";
constexpr std::string_view kStep = ".step-";

template <class T>
std::string state_text(const typename Trainer<T>::State& state, const RunRecord& record,
                       const BestModel<T>* best) {
  JsonWriter json;
  json.begin_object()
      .member("step", state.step)
      .member("tokens", state.tokens)
      .member("command", record.command)
      .member("text", record.text)
      .member("held_out", record.held_out);
  json.key("best");
  if (best == nullptr) {
    json.null();
  } else {
    json.begin_object()
        .member("step", best->measured.step)
        .member("val_loss", best->measured.loss)
        .member("worse_since", best->worse_since)
        .end_object();
  }
  json.key("settings").begin_object();
  for (const auto& [name, value] : record.settings) json.member(name, value);
  return json.end_object().end_object().take();
}

std::uint64_t count(const FileObject& object, const char* key) {
  const std::int64_t value = object.get(key, Json::Kind::integer, "a whole number").integer();
  if (value < 0) throw object.error(key, "a whole number of at least 0");
  return static_cast<std::uint64_t>(value);
}

std::pair<double, double> read_powers(const SafetensorsReader& file) {
  const std::string where = file.path() + ": " + kPowers;
  const SafetensorsReader::Tensor* tensor = file.find(kPowers);
  if (tensor == nullptr) throw format_error(where, "a tensor of that name", "none");
  if (tensor->dtype != kDtype<double> || tensor->shape != std::vector<std::uint64_t>{2})
    throw format_error(where, "two numbers in F64",
                       tensor->dtype + ' ' + shape_text(tensor->shape));
  const std::string bytes = file.read(*tensor);
  const auto power1 = from_little_endian<double>(bytes.data());
  const auto power2 = from_little_endian<double>(bytes.data() + sizeof(double));
  for (const double power : {power1, power2})
    if (!(power >= 0 && power <= 1))
      throw format_error(where, "numbers from 0 to 1", fmt::format("{}", power));
  return {power1, power2};
}

template <class T>
std::optional<BestModel<T>> read_best(const SafetensorsReader& file, const Json& state,
                                      const ParameterLayout& layout) {
  const Json* const json = state.find("best");
  if (json != nullptr && json->kind() == Json::Kind::null) return {};
  const std::string where = file.path() + ": " + kStateKey + ": best";
  if (json == nullptr) throw format_error(where, "an object or null", "nothing");
  const FileObject object(*json, where, {"step", "val_loss", "worse_since"});
  const Json* const loss = json->find("val_loss");
  if (loss == nullptr || !loss->is_number()) throw object.error("val_loss", "a number");
  BestModel<T> best{Weights<T>(layout.config()),
                    {count(object, "step"), loss->number()},
                    count(object, "worse_since")};
  read_parameters(file, kBest, layout, best.weights.data());
  return best;
}

template <class T>
Checkpoint<T> read_as(const SafetensorsReader& file, Model<T> model) {
  const std::string where = file.path() + ": " + kStateKey;
  const Json json = Json::parse(file.metadata().at(kStateKey), where);
  const FileObject object(json, where,
                          {"step", "tokens", "command", "text", "held_out", "best", "settings"});
  typename Trainer<T>::State state{count(object, "step"), count(object, "tokens")};
  RunRecord record{object.get("command", Json::Kind::string, "a command's name").string(),
                   object.get("text", Json::Kind::string, "a fingerprint").string(),
                   object.get("held_out", Json::Kind::string, "a fingerprint").string(),
                   {}};
  for (const auto& [name, value] :
       object.get("settings", Json::Kind::object, "the run's settings").object()) {
    if (value.kind() != Json::Kind::string)
      throw format_error(where + ": settings: " + name, "a text", describe_json(&value));
    record.settings[name] = value.string();
  }
  typename Optimizer<T>::State& optimizer = state.optimizer;
  const ParameterLayout& layout = model.weights.layout();
  optimizer.m.resize(layout.slab_size());
  read_parameters(file, kMean, layout, optimizer.m.data(), NonFinite::kept);
  // SGD has none.
  if (file.find(kMeanSquare + layout.parameters().front().name) != nullptr) {
    optimizer.v.resize(layout.slab_size());
    read_parameters(file, kMeanSquare, layout, optimizer.v.data(), NonFinite::kept);
  }
  std::tie(optimizer.power1, optimizer.power2) = read_powers(file);
  optimizer.step = static_cast<std::uint32_t>(state.step);
  auto best = read_best<T>(file, json, layout);
  return {std::move(model), std::move(state), std::move(record), std::move(best)};
}

}  // namespace

std::string checkpoint_path(const std::string& model_path, std::uint64_t step) {
  std::string_view stem = model_path;
  if (stem.ends_with(kEnding)) stem.remove_suffix(kEnding.size());
  return fmt::format("{}{}{:08}{}", stem, kStep, step, kEnding);
}

std::string model_path_of(const std::string& checkpoint_path) {
  std::string_view path = checkpoint_path;
  if (!path.ends_with(kEnding)) return "";
  path.remove_suffix(kEnding.size());
  const std::size_t digits = path.size() - (path.find_last_not_of("0123456789") + 1);
  path.remove_suffix(digits);
  if (digits < 8 || !path.ends_with(kStep)) return "";
  path.remove_suffix(kStep.size());
  return std::string(path) + std::string(kEnding);
}

template <class T>
void write_checkpoint(const std::string& path, Trainer<T>& trainer, const RunRecord& record,
                      const BestModel<T>* best) {
  const typename Trainer<T>::State state = trainer.state();
  const WeightsView<T> weights = trainer.weights();
  std::vector<TensorToWrite> tensors;
  append_parameters(weights, "", path, tensors);
  for (const auto& [prefix, moments] :
       {std::pair{kMean, &state.optimizer.m}, {kMeanSquare, &state.optimizer.v}})
    if (!moments->empty())
      append_parameters(WeightsView<T>{weights.layout, moments->data()}, prefix, path, tensors,
                        NonFinite::kept);
  if (best != nullptr) append_parameters(best->weights.view(), kBest, path, tensors);
  TensorToWrite powers{kPowers, kDtype<double>, {2}, ""};
  append_little_endian(state.optimizer.power1, powers.bytes);
  append_little_endian(state.optimizer.power2, powers.bytes);
  tensors.push_back(std::move(powers));
  auto metadata =
      model_metadata(weights.layout->config(), trainer.tokenizer(), trainer.provenance());
  metadata[kStateKey] = state_text<T>(state, record, best);
  write_file(path, safetensors_bytes(std::move(tensors), metadata));
}

AnyCheckpoint read_checkpoint(const std::string& path) {
  const SafetensorsReader file(path);
  AnyModel model = read_model(file);
  if (!file.metadata().contains(kStateKey))
    throw format_error(path, "a checkpoint", "a model without the optimiser's state",
                       "train it further with glassbox finetune");
  return std::visit([&](auto& m) -> AnyCheckpoint { return read_as(file, std::move(m)); }, model);
}

template void write_checkpoint(const std::string&, Trainer<float>&, const RunRecord&,
                               const BestModel<float>*);
template void write_checkpoint(const std::string&, Trainer<double>&, const RunRecord&,
                               const BestModel<double>*);

}  // namespace glassbox
