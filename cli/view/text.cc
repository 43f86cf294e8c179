#include "cli/view/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/utf8.h"

namespace glassbox::cli {

std::string escape_controls(std::string_view text) {
  std::string result;
  const auto hex = [&](std::size_t i) {
    result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
  };
  std::size_t valid = std::min(find_invalid_utf8(text), text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (i == valid) {  // this byte is part of no character
      hex(i++);
      valid = i + std::min(find_invalid_utf8(text.substr(i)), text.size() - i);
      continue;
    }
    const std::size_t length = utf8_length(text, i);
    const std::string_view character = text.substr(i, length);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) {
      hex(i);
    } else if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      hex(i + 1);  // U+0080 to U+009F
    } else if (character == "\uFFFE" || character == "\uFFFF") {
      result += character == "\uFFFE" ? "\\ufffe" : "\\uffff";
    } else {
      result += character;
    }
    i += length;
  }
  return result;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : escape_controls(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); i += utf8_length(text, i)) ++width;
  return width;
}

std::string padded_left(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ').append(text);
}
std::string padded_right(std::string_view text, std::size_t width) {
  return std::string(text).append(width - std::min(width, width_of(text)), ' ');
}

std::string grouped(std::int64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t end = text.size(); end > (number < 0 ? 4u : 3u); end -= 3)
    text.insert(end - 3, ",");
  return text;
}

std::string rounded(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  return size >= 1e-3 && size < 1e5 ? fmt::format("{:.4f}", value) : fmt::format("{:.3e}", value);
}

std::string with_sign(double value) {
  const std::string text = rounded(value);
  return value > 0 ? '+' + text : text;
}

std::string exact(double value) {
  return std::isfinite(value) ? json_number(value) : fmt::format("{}", value);
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool left = std::find(left_.begin(), left_.end(), i) != left_.end();
      if (i > 0) line += "  ";
      line += left ? padded_right(row[i], widths[i]) : padded_left(row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

}  // namespace glassbox::cli
