#include "cli/view/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "cli/view/text.h"

namespace glassbox::cli {

namespace {

// Beyond it, sums and differences of what is drawn could overflow.
constexpr double kLargest = 1e100;

bool can_be_drawn(double x) { return std::abs(x) <= kLargest; }  // false for NaN
bool can_be_drawn(const Log::Step& point) {
  return can_be_drawn(point.step) && can_be_drawn(point.value);
}

struct Stretch {
  double step, mean, low, high;
};

// At most `count` stretches of equal numbers of points.
std::vector<Stretch> stretches(const std::vector<Log::Step>& all, std::size_t count) {
  std::vector<Log::Step> points;
  for (const Log::Step& point : all)
    if (can_be_drawn(point)) points.push_back(point);
  std::vector<Stretch> result;
  const std::size_t size = std::max<std::size_t>(1, (points.size() + count - 1) / count);
  for (std::size_t begin = 0; begin < points.size(); begin += size) {
    const std::size_t end = std::min(points.size(), begin + size);
    Stretch s{0, 0, kLargest, -kLargest};
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
  const double raw = range / count, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

struct Interval {
  double low = std::numeric_limits<double>::infinity(),
         high = -std::numeric_limits<double>::infinity();
  void take(double x) {
    if (!can_be_drawn(x)) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  // Has a length afterwards, also where doubles lie far apart.
  void widen() {
    if (!(high >= low)) *this = {0, 1};
    const double pad = std::max(std::abs(low), std::abs(high)) * 1e-6;
    if (high - low > pad) return;
    low -= std::max(0.5, pad);
    high += std::max(0.5, pad);
  }
  double share(double x) const { return std::clamp((x - low) / (high - low), 0.0, 1.0); }
  // Counted, not added up: where doubles lie further apart than `step`, a sum would never arrive.
  std::vector<double> ticks(double step) const {
    std::vector<double> result;
    const double first = std::ceil(low / step);
    for (int i = 0; i < 16 && (first + i) * step <= high + step * 1e-9; ++i)
      result.push_back((first + i) * step);
    return result;
  }
};

struct Axes {
  Interval x, y;
  double step_x, step_y;
};
Axes axes_of(const Chart& chart, Interval y, int ticks_x, int ticks_y) {
  Axes axes{{}, y, 0, 0};
  for (const auto& series : chart.series)
    for (const auto& p : series.points) axes.x.take(p.step);
  if (chart.steps) axes.x = {chart.steps->first, chart.steps->second};
  axes.x.widen();
  axes.y.take(0);
  if (chart.line) axes.y.take(*chart.line);
  if (axes.y.low == 0 && axes.y.high <= 0) axes.y.high = 1;
  axes.y.widen();
  axes.step_x = std::max(1.0, nice_step(axes.x.high - axes.x.low, ticks_x));
  axes.step_y = nice_step(axes.y.high - axes.y.low, ticks_y);
  // A whole tick is the top and the bottom, so no curve touches the frame without a number at it.
  axes.y.high = std::ceil(axes.y.high / axes.step_y - 1e-9) * axes.step_y;
  axes.y.low = std::floor(axes.y.low / axes.step_y + 1e-9) * axes.step_y;
  return axes;
}

std::string axis_number(double x) {
  return std::abs(x) < 1e7 && x == std::floor(x) ? grouped(static_cast<std::int64_t>(x))
                                                 : fmt::format("{:.4g}", x);
}

// What a mark says: "step 12: loss is not a number".
std::string mark_name(const Chart& chart, const Chart::Series& series, const Log::Step& point) {
  const char* const what = std::isnan(point.value)      ? "not a number"
                           : !can_be_drawn(point.value) ? "too large to be drawn"
                                                        : "at a step too large to be drawn";
  return fmt::format("step {}: {} is {}",
                     can_be_drawn(point.step) ? axis_number(point.step) : "beyond the axis",
                     chart.series.size() > 1 ? series.name : chart.title, what);
}

constexpr std::size_t kColors = 6;  // .c0 to .c5; more series begin again, dashed
// The colours of Okabe and Ito, which colour-blind readers tell apart, darkened on white until they
// stand out from it; the level to compare with has the colour of text.
constexpr std::string_view kChartStyle =
    "<style>.chart{--ink:#1b1f24;--soft:#59636e;--line:#d5dbe1;--paper:#fff;--c0:#0072b2;"
    "--c1:#d55e00;--c2:#008a63;--c3:#b5588f;--c4:#a87400;--c5:#2f8fc4}"
    "@media(prefers-color-scheme:dark){.chart{--ink:#e6edf3;--soft:#9aa5b1;--line:#333c46;"
    "--paper:#0f1318;--c0:#4ba3e3;--c1:#f0803c;--c2:#2fc296;--c3:#e39bc5;--c4:#e6a817;--c5:#8fd0f5}"
    "}"
    ".chart text{font:12px system-ui,sans-serif;fill:var(--soft)}"
    ".chart .t{fill:var(--ink);font-weight:600;font-size:14px}.chart .paper{fill:var(--paper)}"
    ".chart path{fill:none;stroke-width:1.8}.chart .g{stroke:var(--line);stroke-width:1}"
    ".chart .b{stroke:none;opacity:.18}.chart .d{stroke-dasharray:5 4}"
    ".chart .guess{stroke:var(--ink);stroke-dasharray:2 4}.chart .name{fill:var(--ink);"
    "stroke:var(--paper);stroke-width:4;paint-order:stroke}.chart .at{fill:transparent}"
    ".chart .at:hover{fill:var(--ink);fill-opacity:.12}";

// What the chart says where someone points: a strip for every point of the longest curve.
std::string tooltips(const std::vector<std::vector<Stretch>>& curves, const Chart& chart,
                     const Interval& x, double left, double width, double top, double height) {
  const auto longest = std::max_element(curves.begin(), curves.end(),
                                        [](auto& a, auto& b) { return a.size() < b.size(); });
  if (longest == curves.end()) return "";
  std::string text;
  for (std::size_t i = 0; i < longest->size(); ++i) {
    const double step = (*longest)[i].step;
    const auto border = [&](std::size_t a, std::size_t b) {
      return left + width * (x.share((*longest)[a].step) + x.share((*longest)[b].step)) / 2;
    };
    const double begin = i == 0 ? left : border(i - 1, i);
    const double end = i + 1 == longest->size() ? left + width : border(i, i + 1);
    std::string title = "step " + axis_number(std::round(step));
    for (std::size_t s = 0; s < curves.size(); ++s) {
      if (curves[s].empty()) continue;
      const Stretch& near = *std::min_element(
          curves[s].begin(), curves[s].end(),
          [&](auto& a, auto& b) { return std::abs(a.step - step) < std::abs(b.step - step); });
      title += fmt::format("\n{}: {:.4g}", escaped(chart.series[s].name), near.mean);
      if (near.low < near.high) title += fmt::format(" ({:.4g} to {:.4g})", near.low, near.high);
    }
    text += fmt::format(
        "<rect class=\"at\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\">"
        "<title>{}</title></rect>\n",
        begin, top, std::max(0.1, end - begin), height, title);
  }
  return text;
}

}  // namespace

std::string chart_svg(const Chart& chart, const ChartSize& size) {
  Interval all;
  std::size_t longest = 0;
  for (const auto& series : chart.series) {
    longest = std::max(longest, display_width(escape_controls(series.name)));
    for (const auto& p : series.points)
      if (can_be_drawn(p.step)) all.take(p.value);
  }
  const double width = size.width, height = size.height;
  const Axes axes = axes_of(chart, all, width < 500 ? 3 : 6, 5);
  const auto columns = static_cast<std::size_t>(
      std::clamp((width - 16) / (static_cast<double>(longest) * 7 + 40), 1.0, 6.0));
  const double left = 58, right = 26, bottom = 40;
  const double top =
      36 + 18 * std::ceil(static_cast<double>(chart.series.size()) / static_cast<double>(columns));
  const double plot_width = width - left - right, plot_height = height - bottom - top;
  const auto at_x = [&](double v) { return left + axes.x.share(v) * plot_width; };
  const auto at_y = [&](double v) { return top + (1 - axes.y.share(v)) * plot_height; };

  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\" "
      "data-frame=\"{3:.0f} {4:.0f} {5:.0f} {6:.0f} {7:.17g} {8:.17g} {9:.17g} {10:.17g}\">\n{11}",
      width, height, escaped(chart.title), left, width - right, top, height - bottom, axes.x.low,
      axes.x.high, axes.y.low, axes.y.high, kChartStyle);
  for (std::size_t c = 0; c < kColors; ++c)
    text += fmt::format(".chart .c{0}{{stroke:var(--c{0})}}.chart .b.c{0}{{fill:var(--c{0})}}", c);
  text += fmt::format(
      "</style><rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>"
      "<text class=\"t\" x=\"12\" y=\"20\">{}</text>\n",
      width, height, escaped(chart.title));
  const auto put_text = [&](double x, double y, const char* attributes, std::string_view words) {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes,
                        escaped(words));
  };
  for (const double v : axes.y.ticks(axes.step_y)) {
    text += fmt::format("<path class=\"g\" d=\"M{:.0f} {:.1f}H{:.0f}\"/>", left, at_y(v),
                        width - right);
    put_text(left - 6, at_y(v) + 4, " text-anchor=\"end\"",
             axis_number(std::abs(v) < axes.step_y / 1e6 ? 0 : v));
  }
  for (const double v : axes.x.ticks(axes.step_x))
    put_text(at_x(v), height - bottom + 16, " text-anchor=\"middle\"", axis_number(v));
  put_text(width - right, height - 6, " text-anchor=\"end\"", "step");
  put_text(width - right, 20, " text-anchor=\"end\"", chart.unit);

  std::vector<std::vector<Stretch>> curves;
  std::string marks;
  for (std::size_t index = 0; index < chart.series.size(); ++index) {
    const auto& series = chart.series[index];
    const auto& parts = curves.emplace_back(stretches(series.points, size.stretches));
    const std::string color = fmt::format("c{}{}", index % kColors, index < kColors ? "" : " d");
    std::string line, band, back;
    bool has_band = false;
    for (const Stretch& s : parts) {
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? 'M' : 'L', at_x(s.step), at_y(s.mean));
      band += fmt::format("{}{:.1f} {:.1f}", band.empty() ? 'M' : 'L', at_x(s.step), at_y(s.high));
      back.insert(0, fmt::format("L{:.1f} {:.1f}", at_x(s.step), at_y(s.low)));
      has_band = has_band || s.low < s.high;
    }
    if (has_band) text += fmt::format("<path class=\"b {}\" d=\"{}{}Z\"/>", color, band, back);
    text += fmt::format("<path class=\"{}\" data-name=\"{}\" d=\"{}\"/>\n", color,
                        escaped(series.name), line);
    if (parts.size() == 1)  // a line of one point cannot be seen
      text += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}m-3 0h6m-3 -3v6\"/>\n", color,
                          at_x(parts[0].step), at_y(parts[0].mean));
    const double legend_x =
        16 + static_cast<double>(index % columns) * (width - 20) / static_cast<double>(columns);
    const double legend_y = 40 + 18 * static_cast<double>(index / columns);
    text +=
        fmt::format("<path class=\"{}\" d=\"M{:.0f} {:.0f}h16\"/>", color, legend_x, legend_y - 4);
    put_text(legend_x + 22, legend_y, "", series.name);
    double last_mark = -1;
    for (const auto& point : series.points) {
      if (can_be_drawn(point)) continue;
      const double x = std::isnan(point.step) ? left : at_x(point.step);
      if (x < last_mark + 2) continue;  // on top of another
      last_mark = x;
      marks += fmt::format(
          "<path class=\"bad {}\" d=\"M{:.1f} {:.1f}l8 8m0 -8l-8 8\"><title>{}</title></path>\n",
          color, x - 4, top - 4, escaped(mark_name(chart, series, point)));
    }
  }
  if (chart.line) {
    text += fmt::format("<path class=\"guess\" d=\"M{:.0f} {:.1f}H{:.0f}\"/>", left,
                        at_y(*chart.line), width - right);
    put_text(width - right - 4, at_y(*chart.line) - 5, " class=\"name\" text-anchor=\"end\"",
             chart.line_name);
  }
  if (!marks.empty())
    put_text(left, height - 6, "", "\u00d7 marks a step without a number that can be drawn");
  if (size.tooltips) text += tooltips(curves, chart, axes.x, left, plot_width, top, plot_height);
  return text + marks + "</svg>\n";
}

std::string chart_text(const Chart& chart, std::size_t columns, std::size_t rows) {
  constexpr std::string_view kMarks = "*o+x#@";
  const std::size_t margin = 9, across = std::max<std::size_t>(20, columns - margin - 1);
  Interval drawn;  // the means, not each point
  for (const auto& series : chart.series)
    for (const Stretch& s : stretches(series.points, across)) drawn.take(s.mean);
  const Axes axes = axes_of(chart, drawn, 6, 5);
  std::vector<std::string> field(rows, std::string(across, ' '));
  const auto row_of = [&](double v) {
    return static_cast<std::size_t>(
        std::lround((1 - axes.y.share(v)) * static_cast<double>(rows - 1)));
  };
  const auto column_of = [&](double step) {
    return static_cast<std::size_t>(
        std::lround(axes.x.share(step) * static_cast<double>(across - 1)));
  };
  if (chart.line) field[row_of(*chart.line)].assign(across, '-');
  std::string legend, bad;
  for (std::size_t index = 0; index < chart.series.size(); ++index) {
    const auto& series = chart.series[index];
    const char mark = kMarks[index % kMarks.size()];
    for (const Stretch& s : stretches(series.points, across))
      field[row_of(s.mean)][column_of(s.step)] = mark;
    for (const auto& point : series.points) {
      if (can_be_drawn(point)) continue;
      field[0][std::isnan(point.step) ? 0 : column_of(point.step)] = '!';
      if (bad.empty()) bad = mark_name(chart, series, point);
    }
    legend +=
        fmt::format("{}{} {}", legend.empty() ? "" : "   ", mark, escape_controls(series.name));
  }
  if (chart.line) legend += fmt::format("   - {}", chart.line_name);
  std::string text =
      escape_controls(chart.title) + (chart.unit.empty() ? "\n" : ", " + chart.unit + '\n');
  for (std::size_t r = 0; r < rows; ++r) {
    const double value = axes.y.high - (axes.y.high - axes.y.low) * static_cast<double>(r) /
                                           static_cast<double>(rows - 1);
    const std::string level = r % 5 == 0 || r + 1 == rows ? fmt::format("{:.3g}", value) : "";
    std::string line = fmt::format("{:>{}} |{}", level, margin - 1, field[r]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  const std::string low = axis_number(axes.x.low), high = "step " + axis_number(axes.x.high);
  text += std::string(margin + 1, ' ') + low +
          std::string(across - std::min(across, low.size() + high.size()), ' ') + high + '\n';
  if (!bad.empty()) text += std::string(margin + 1, ' ') + "! " + escape_controls(bad) + '\n';
  return text + std::string(margin + 1, ' ') + legend + '\n';
}

}  // namespace glassbox::cli
