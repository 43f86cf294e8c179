#include "base/quote.h"

#include "base/json.h"
#include "base/utf8.h"

namespace glassbox {

std::string shortened(std::string_view text, std::size_t most) {
  std::size_t end = 0;
  for (; most > 0 && end < text.size(); --most) end += character_length(text, end);
  return std::string(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

std::string quotation(std::string_view text) { return json_quote(shortened(text)); }

std::string listed(const std::vector<std::string>& items) {
  constexpr std::size_t kHandful = 5;
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < kHandful; ++i)
    text += (i == 0 ? "" : ", ") + items[i];
  if (items.size() > kHandful) text += " and " + std::to_string(items.size() - kHandful) + " more";
  return text;
}

std::string counted(std::size_t count, std::string_view unit) {
  return std::to_string(count).append(" ").append(unit).append(count == 1 ? "" : "s");
}

}  // namespace glassbox
