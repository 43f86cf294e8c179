#include "cli/view/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/view/svg.h"
#include "cli/view/text.h"

namespace glassbox::cli {

namespace {

struct Stretch {
  double step, mean, low, high;
};

// At most `count` stretches of equal numbers of points.
std::vector<Stretch> stretches(const std::vector<Log::Step>& points, std::size_t count) {
  std::vector<Stretch> result;
  const std::size_t size = (points.size() + count - 1) / std::max<std::size_t>(count, 1);
  for (std::size_t begin = 0; begin < points.size(); begin += size) {
    const std::size_t end = std::min(points.size(), begin + size);
    Stretch s{0, 0, std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity()};
    for (std::size_t i = begin; i < end; ++i) {
      s.step += points[i].step / static_cast<double>(end - begin);
      s.mean += points[i].value / static_cast<double>(end - begin);
      s.low = std::min(s.low, points[i].value);
      s.high = std::max(s.high, points[i].value);
    }
    result.push_back(s);
  }
  return result;
}

// 1, 2 or 5 times a power of ten, so that about `count` of them fit.
double nice_step(double range, int count) {
  if (!(range > 0)) return 1;
  const double raw = range / count, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(),
         high = -std::numeric_limits<double>::infinity();
  void take(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
};

void ranges(const Chart& chart, Range& x, Range& y) {
  for (const auto& series : chart.series)
    for (const auto& p : series.points) {
      x.take(p.step);
      y.take(p.value);
    }
  y.take(0);
  if (chart.line) y.take(*chart.line);
  if (!(x.high >= x.low)) x = {0, 1};
  if (x.high == x.low) x.high = x.low + 1;
  if (y.high == y.low) y.high = y.low + 1;
}

constexpr std::size_t kColors = 6;  // .c0 to .c5; more series begin again, dashed

}  // namespace

std::string chart_svg(const Chart& chart, double width, double height) {
  Range x, y;
  ranges(chart, x, y);
  const double left = 58, right = 26, bottom = 40;
  const double top = 30 + 18 * std::ceil(static_cast<double>(chart.series.size()) / 3);
  const auto at_x = [&](double v) {
    return left + (v - x.low) / (x.high - x.low) * (width - left - right);
  };
  const auto at_y = [&](double v) {
    return height - bottom - (v - y.low) / (y.high - y.low) * (height - bottom - top);
  };

  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\"><title>{2}</title>\n",
      width, height, escaped(chart.title));
  text +=
      "<style>.chart{--ink:#1b1f24;--soft:#59636e;--line:#d5dbe1;--paper:#fff;--c0:#0b62c4;--c1:#"
      "b4510a;--c2:#15803d;"
      "--c3:#9d174d;--c4:#6d28d9;--c5:#0e7490}@media(prefers-color-scheme:dark){.chart{--ink:#"
      "e6edf3;--soft:#9aa5b1;"
      "--line:#333c46;--paper:#0f1318;--c0:#58a6ff;--c1:#f0883e;--c2:#56d364;--c3:#f778ba;--c4:#"
      "bc8cff;--c5:#39c5cf}}"
      ".chart text{font:12px system-ui,sans-serif;fill:var(--soft)}.chart "
      ".t{fill:var(--ink);font-weight:600;"
      "font-size:14px}.chart .paper{fill:var(--paper)}.chart path{fill:none;"
      "stroke-width:1.8}.chart .g{stroke:var(--line);stroke-width:1}.chart "
      ".b{stroke:none;opacity:.16}.chart .d{stroke-dasharray:5 4}";
  for (std::size_t c = 0; c < kColors; ++c)
    text += fmt::format(".chart .c{0}{{stroke:var(--c{0})}}.chart .b.c{0}{{fill:var(--c{0})}}", c);
  text += fmt::format(
      "</style><rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>"
      "<text class=\"t\" x=\"12\" y=\"20\">{}</text>\n",
      width, height, escaped(chart.title));

  const double step_y = nice_step(y.high - y.low, 5), step_x = nice_step(x.high - x.low, 6);
  for (double v = std::ceil(y.low / step_y) * step_y; v <= y.high; v += step_y)
    text += fmt::format(
        "<path class=\"g\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">"
        "{5:.4g}</text>\n",
        left, at_y(v), width - right, left - 6, at_y(v) + 4, std::abs(v) < step_y / 1e6 ? 0 : v);
  for (double v = std::ceil(x.low / step_x) * step_x; v <= x.high; v += step_x)
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", at_x(v),
                        height - bottom + 16, v);
  text += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">step</text><text x=\"{}\" y=\"20\" "
      "text-anchor=\"end\">{}</text>\n",
      width - right, height - 6, width - right, escaped(chart.unit));
  if (chart.line)
    text += fmt::format(
        "<path class=\"c1 d\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>\n",
        left, at_y(*chart.line), width - right, width - right - 4, at_y(*chart.line) - 5,
        escaped(chart.line_name));
  std::size_t index = 0;
  for (const auto& series : chart.series) {
    const auto parts = stretches(series.points, 240);
    const std::string color = fmt::format("c{}{}", index % kColors, index < kColors ? "" : " d");
    std::string line, band, back;
    for (const Stretch& s : parts) {
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? 'M' : 'L', at_x(s.step), at_y(s.mean));
      band += fmt::format("{}{:.1f} {:.1f}", band.empty() ? 'M' : 'L', at_x(s.step), at_y(s.high));
      back.insert(0, fmt::format("L{:.1f} {:.1f}", at_x(s.step), at_y(s.low)));
    }
    if (parts.size() < series.points.size())
      text += fmt::format("<path class=\"b {}\" d=\"{}{}Z\"/>", color, band, back);
    text += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", color, line);
    const double legend_x = 16 + static_cast<double>(index % 3) * (width - 20) / 3;
    const double legend_y = 38 + 18 * std::floor(static_cast<double>(index) / 3);
    text += fmt::format(
        "<path class=\"{}\" d=\"M{:.0f} {:.0f}h16\"/><text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
        color, legend_x, legend_y - 4, legend_x + 22, legend_y,
        escaped(escape_controls(series.name)));
    ++index;
  }
  return text + "</svg>\n";
}

std::string chart_text(const Chart& chart, std::size_t columns, std::size_t rows) {
  constexpr std::string_view kMarks = "*o+x#@";
  Range x, y;
  ranges(chart, x, y);
  y = {};  // of what is drawn: the means
  y.take(chart.line.value_or(0));
  y.take(0);
  for (const auto& series : chart.series)
    for (const Stretch& s : stretches(series.points, columns)) y.take(s.mean);
  if (y.high == y.low) y.high = y.low + 1;
  const std::size_t margin = 9, across = std::max<std::size_t>(20, columns - margin - 1);
  std::vector<std::string> field(rows, std::string(across, ' '));
  const auto row_of = [&](double v) {
    const double place = (y.high - v) / (y.high - y.low) * static_cast<double>(rows - 1);
    return std::min(rows - 1, static_cast<std::size_t>(std::lround(std::max(0.0, place))));
  };
  if (chart.line) field[row_of(*chart.line)].assign(across, '-');
  std::size_t index = 0;
  std::string legend;
  for (const auto& series : chart.series) {
    const char mark = kMarks[index++ % kMarks.size()];
    for (const Stretch& s : stretches(series.points, across)) {
      const double place = (s.step - x.low) / (x.high - x.low) * static_cast<double>(across - 1);
      field[row_of(s.mean)][static_cast<std::size_t>(std::lround(place))] = mark;
    }
    legend +=
        fmt::format("{}{} {}", legend.empty() ? "" : "   ", mark, escape_controls(series.name));
  }
  if (chart.line) legend += fmt::format("   - {}", chart.line_name);
  std::string text = fmt::format("{}, {}\n", chart.title, chart.unit);
  for (std::size_t r = 0; r < rows; ++r) {
    const double value =
        y.high - (y.high - y.low) * static_cast<double>(r) / static_cast<double>(rows - 1);
    const std::string level = r % 5 == 0 || r + 1 == rows ? fmt::format("{:.3g}", value) : "";
    std::string line = fmt::format("{:>{}} |{}", level, margin - 1, field[r]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  const std::string low = fmt::format("{:g}", x.low), high = fmt::format("step {:g}", x.high);
  text += std::string(margin + 1, ' ') + low +
          std::string(across - std::min(across, low.size() + high.size()), ' ') + high + '\n';
  return text + std::string(margin + 1, ' ') + legend + '\n';
}

}  // namespace glassbox::cli
