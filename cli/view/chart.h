// Curves over the steps of a run, as SVG or as text.
#pragma once

#include <optional>
#include <string>
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
  std::optional<double> line;  // a level to compare with
  std::string line_name;
};

// Many points are drawn as the mean of each stretch of steps within a band from its least to its
// greatest.
std::string chart_svg(const Chart& chart, double width = 720, double height = 320);
std::string chart_text(const Chart& chart, std::size_t columns, std::size_t rows = 16);

}  // namespace glassbox::cli
