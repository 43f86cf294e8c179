// Curves over the steps of a run, as SVG or as text. Any log can be drawn: what is no finite
// number, or beyond what a chart can show, is marked at its step and left out of the curve.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/view/log_file.h"

namespace glassbox::cli {

struct Chart {
  struct Series {
    std::string name;
    std::vector<Log::Step> points;
  };
  std::string title, unit;
  std::vector<Series> series;
  std::optional<double> line = {};  // a level to compare with
  std::string line_name = {};
  // The first and the last step of the axis; without them, those of the points.
  std::optional<std::pair<double, double>> steps = {};
};

struct ChartSize {
  double width = 720, height = 320;
  std::size_t stretches = 240;  // points of a curve
  bool tooltips = true;         // numbers for whoever points at the chart; a page has its own way
};

// Many points are drawn as the mean of each stretch of steps within a band from its least to its
// greatest.
std::string chart_svg(const Chart& chart, const ChartSize& size = {});
std::string chart_text(const Chart& chart, std::size_t columns, std::size_t rows = 16);

}  // namespace glassbox::cli
