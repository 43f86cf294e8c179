// Pictures as SVG and as Graphviz's DOT, from data. Every text is escaped; colours follow the
// reader's light or dark scheme.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inspect/attention_map.h"
#include "inspect/graph.h"

namespace glassbox::cli {

// A drawing of boxes in columns, what is computed to the right of what it is computed from. Boxes
// of several groups, such as a model's layers, stand in bands, one below the other.
struct Drawing {
  struct Box {
    std::vector<std::string> lines;  // the first is its name
    bool leaf;
    std::string group = {};
  };
  struct Arrow {
    std::size_t from, to;
    std::string label;
  };
  std::string title;
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
};
Drawing drawing_of(const ScalarGraph& graph, const std::string& title);
// Every run as a box with its counts.
Drawing drawing_of(const std::vector<MatrixRow>& runs, const std::string& title);
std::string as_dot(const Drawing& drawing);
std::string as_svg(const Drawing& drawing);

// All maps side by side, a row a layer; each cell says its number when pointed at.
std::string attention_svg(const std::vector<AttentionMap>& maps,
                          const std::vector<std::string>& sentence);

}  // namespace glassbox::cli
