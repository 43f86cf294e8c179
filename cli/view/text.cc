#include "cli/view/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace glassbox::cli {

namespace {
std::string code_point_text(char32_t c) {
  return fmt::format("\\u{:04x}", static_cast<unsigned>(c));
}
}  // namespace

std::string escape_controls(std::string_view text) {
  std::string result;
  std::size_t valid = std::min(find_invalid_utf8(text), text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (i == valid) {  // this byte is part of no character
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i++]));
      valid = i + std::min(find_invalid_utf8(text.substr(i)), text.size() - i);
      continue;
    }
    std::size_t end = i;
    const char32_t c = next_code_point(text, end);
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else if (c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) ||
               (c >= 0x2066 && c <= 0x2069) || c == 0xfffe || c == 0xffff) {
      result += code_point_text(c);
    } else {
      result += text.substr(i, end - i);
    }
    i = end;
  }
  return result;
}

std::string shown_token(std::string_view token) {
  const std::string text = escape_controls(shortened(token, 40));
  if (text == " ") return "\" \"";  // as a name's look-up takes it, too
  // These have a width, and no ink: the soft hyphen, Hangul's fillers, Braille's blank.
  constexpr std::u32string_view kBlank = U"\u00ad\u115f\u1160\u2800\u3164\uffa0";
  std::string points;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t c = next_code_point(text, i);
    const bool is_blank = kBlank.find(c) != kBlank.npos;
    if (!is_blank && display_width(std::string_view(text).substr(begin, i - begin)) > 0)
      return text;
    points += code_point_text(c);
  }
  return points;
}

std::string shown_name(std::string_view name) { return escape_controls(shortened(name, 80)); }

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

std::string padded_left(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ').append(text);
}
std::string padded_right(std::string_view text, std::size_t width) {
  return std::string(text).append(width - std::min(width, display_width(text)), ' ');
}

std::string clipped(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t end = 0, next = 0;
  while (display_width(text.substr(0, next)) < width) {
    end = next;
    next_code_point(text, next);
  }
  return std::string(text.substr(0, end)) + '~';
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
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
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
