#include "nn/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace glassbox {

namespace {
struct StageName {
  const char* name;
  bool of_layer;
};
constexpr std::array<StageName, 16> kNames = {{{"embedding", false},
                                               {"norm", false},
                                               {"attention.norm", true},
                                               {"attention.", true},
                                               {"attention.heads", true},
                                               {"attention.output", true},
                                               {"attention.residual", true},
                                               {"mlp.norm", true},
                                               {"mlp.hidden", true},
                                               {"mlp.activation", true},
                                               {"mlp.output", true},
                                               {"mlp.residual", true},
                                               {"final_norm", false},
                                               {"logits", false},
                                               {"loss", false},
                                               {"loss", false}}};

// A value's tag: stage, layer, and position + 1 of a matrix of one row. For
// stacked rows it is 0, and the batch knows the positions.
constexpr int kStageBits = 4, kLayerBits = 28;
static_assert(kNames.size() <= 1u << kStageBits &&
              kNames.size() == std::size_t(Stage::mean_loss) + 1);

std::string parameter_label(const void* context, std::uint64_t offset, std::size_t row,
                            std::size_t col) {
  const auto& layout = *static_cast<const LabelContext*>(context)->layout;
  const auto& all = layout.parameters();
  const auto first = std::find_if(all.begin(), all.end(),
                                  [&](const ParameterSpec& p) { return p.offset == offset; });
  return layout.label(offset + row * first->pitch + col);
}

std::string value_label(const void* opaque, std::uint64_t tag, std::size_t row, std::size_t col) {
  const auto& context = *static_cast<const LabelContext*>(opaque);
  const auto stage = static_cast<Stage>(tag & ((1u << kStageBits) - 1));
  if (stage == Stage::mean_loss) return stage_name(stage, 0);
  const std::size_t layer = tag >> kStageBits & ((1u << kLayerBits) - 1);
  std::size_t position = tag >> (kStageBits + kLayerBits);
  std::string place;
  if (position == 0) {
    const auto& starts = context.batch->starts;
    if (starts.size() > 2)
      place = fmt::format("{}:",
                          std::upper_bound(starts.begin(), starts.end(), row) - starts.begin() - 1);
    position = context.batch->positions[row] + std::size_t{1};
  }
  place += fmt::format("{}", position - 1);
  const std::size_t width = context.layout->config().n_embd;
  const bool is_qkv = stage == Stage::attention_qkv;
  const std::string name = stage_name(stage, layer, is_qkv ? col / width : 0);
  if (stage == Stage::loss) return fmt::format("{}@{}", name, place);
  if (stage == Stage::logits && context.tokenizer)
    return fmt::format("{}@{}[{}]", name, place,
                       context.tokenizer->word(static_cast<TokenId>(col)));
  return fmt::format("{}@{}[{}]", name, place, is_qkv ? col % width : col);
}
}  // namespace

MatrixLabel LabelContext::parameter(const ParameterBlock& block) const {
  return {parameter_label, this, block.offset};
}

MatrixLabel LabelContext::value(Stage stage, std::size_t layer, std::size_t position) const {
  const std::uint64_t tag = static_cast<std::uint64_t>(stage) | std::uint64_t{layer} << kStageBits |
                            std::uint64_t{position + 1} << (kStageBits + kLayerBits);
  return {value_label, this, tag};
}

std::string stage_name(Stage stage, std::size_t layer, std::size_t part) {
  const StageName& entry = kNames[static_cast<std::size_t>(stage)];
  std::string name = entry.of_layer ? fmt::format("layers.{}.{}", layer, entry.name) : entry.name;
  if (stage == Stage::attention_qkv) name += "qkv"[part];
  return name;
}

std::vector<StageRef> all_stages(const GptConfig& config) {
  std::vector<StageRef> all;
  for (std::size_t s = 0; s < kNames.size(); ++s) {
    if (static_cast<Stage>(s) == Stage::final_norm && !config.final_norm) continue;
    for (std::size_t l = 0; l < (kNames[s].of_layer ? config.n_layer : 1); ++l)
      for (std::size_t part = 0; part < (static_cast<Stage>(s) == Stage::attention_qkv ? 3 : 1);
           ++part)
        all.push_back({static_cast<Stage>(s), l, part});
  }
  return all;
}

std::optional<StageRef> find_stage(std::string_view name, const GptConfig& config) {
  for (const StageRef& stage : all_stages(config))
    if (stage.name() == name) return stage;
  return {};
}

namespace {
std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return {};
  return value;
}
}  // namespace

std::optional<std::vector<std::size_t>> ScalarName::numbers() const {
  std::vector<std::size_t> result;
  if (!index) return result;
  std::string_view rest = *index;
  while (true) {
    const std::size_t end = std::min(rest.find("]["), rest.size());
    const auto number = whole_number(rest.substr(0, end));
    if (!number) return {};
    result.push_back(*number);
    if (end == rest.size()) return result;
    rest.remove_prefix(end + 2);
  }
}

std::optional<ScalarName> parse_scalar_name(std::string_view text) {
  ScalarName result;
  const std::size_t end = std::min(text.find_first_of("@["), text.size());
  if (end == 0) return {};
  result.name = text.substr(0, end);
  text.remove_prefix(end);
  if (!text.empty() && text[0] == '@') {
    std::string_view place = text.substr(1, text.find('[') - 1);
    text.remove_prefix(1 + place.size());
    if (const std::size_t colon = place.find(':'); colon != place.npos) {
      const auto sentence = whole_number(place.substr(0, colon));
      if (!sentence) return {};
      result.sentence = *sentence;
      place.remove_prefix(colon + 1);
    }
    result.position = whole_number(place);
    if (!result.position) return {};
  }
  if (text.empty()) return result;
  if (text.size() < 3 || text.back() != ']') return {};
  result.index = text.substr(1, text.size() - 2);
  return result;
}

}  // namespace glassbox
