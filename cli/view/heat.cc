#include "cli/view/heat.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "cli/view/text.h"

namespace glassbox::cli {

namespace {
constexpr std::string_view kMarks = " .:-=+*#%@";  // one a tenth

std::string cell(double weight, bool color) {
  const std::string number = fmt::format("{:.2f}", weight);
  if (!color) {
    const std::size_t tenth = number[0] == '0' ? number[2] - '0' : 9;
    return number + kMarks[tenth];
  }
  // The 24 greys of a 256-colour terminal, black on the light ones.
  const int grey = 232 + static_cast<int>(std::lround(std::clamp(weight, 0.0, 1.0) * 23));
  return fmt::format("\033[48;5;{};38;5;{}m{} \033[0m", grey, grey > 243 ? 16 : 255, number);
}
}  // namespace

std::string heat_text(const AttentionMap& map, const std::vector<std::string>& tokens, bool color) {
  constexpr std::size_t kNumber = 5, kWidest = 10;  // columns of a number, of a token above it
  const std::string title = fmt::format("layer {}, head {}", map.layer, map.head);
  std::vector<std::string> shown;
  std::size_t column = kNumber, margin = display_width(title);
  for (const std::string& token : tokens) {
    shown.push_back(shown_token(token));
    margin = std::max(margin, display_width(shown.back()));
    column = std::max(column, std::min(kWidest, display_width(shown.back())));
  }
  std::string text = padded_right(title, margin);
  for (const std::string& token : shown) text += ' ' + padded_left(clipped(token, column), column);
  text += '\n';
  for (std::size_t q = 0; q < map.weights.size(); ++q) {
    std::string line = padded_left(shown[q], margin);
    for (const double weight : map.weights[q])
      line += std::string(1 + column - kNumber, ' ') + cell(weight, color);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string heat_legend(bool color) {
  std::string text = color ? "the lighter, the more:" : "each mark begins at:";
  for (int tenth = color ? 0 : 1; tenth <= (color ? 10 : 9); ++tenth)
    text += ' ' + cell(tenth / 10.0, color);
  return text + '\n';
}

bool color_wanted(ColorChoice choice) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
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
