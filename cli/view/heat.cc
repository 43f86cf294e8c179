#include "cli/view/heat.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "cli/view/text.h"

namespace glassbox::cli {

namespace {
constexpr std::string_view kShades = " .:-=+*#%@";

std::string cell(double weight, bool color) {
  const std::string number = fmt::format("{:.2f}", weight);
  if (!color) {
    const auto shade = static_cast<std::size_t>(std::lround(weight * 9));
    return number + kShades[std::min<std::size_t>(shade, 9)];
  }
  // The 24 greys of a 256-colour terminal, black on the light ones.
  const int grey = 232 + static_cast<int>(std::lround(std::clamp(weight, 0.0, 1.0) * 23));
  return fmt::format("\033[48;5;{};38;5;{}m{} \033[0m", grey, grey > 243 ? 16 : 255, number);
}
}  // namespace

std::string heat_text(const AttentionMap& map, const std::vector<std::string>& tokens, bool color) {
  std::size_t widest = 0;
  for (const std::string& token : tokens) widest = std::max(widest, width_of(shown(token)));
  const std::size_t column = std::max<std::size_t>(5, std::min<std::size_t>(widest, 10));
  std::string text = padded_right(fmt::format("layer {}, head {}", map.layer, map.head), widest);
  const std::size_t margin = width_of(text);
  for (const std::string& token : tokens) text += ' ' + padded_left(shown(token), column);
  text += '\n';
  for (std::size_t q = 0; q < map.weights.size(); ++q) {
    std::string line = padded_left(shown(tokens[q]), margin);
    for (const double weight : map.weights[q])
      line += std::string(1 + column - 5, ' ') + cell(weight, color);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

bool color_wanted(const std::string& choice) {
  if (choice != "auto") return choice == "always";
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != 0;
  };
  const char* term = std::getenv("TERM");
  if (set("NO_COLOR")) return false;
  if (set("CLICOLOR_FORCE") && std::string_view(std::getenv("CLICOLOR_FORCE")) != "0") return true;
  if (set("CLICOLOR") && std::string_view(std::getenv("CLICOLOR")) == "0") return false;
  return isatty(1) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace glassbox::cli
