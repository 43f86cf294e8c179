#include "cli/view/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/utf8.h"
#include "cli/view/text.h"

namespace glassbox::cli {

namespace {

// One style for every picture; --ink and --paper change places in the dark.
constexpr std::string_view kGraphStyle =
    "<style>svg{--ink:#1b1f24;--soft:#59636e;--line:#b6bec8;--paper:#fff;--leaf:#e8f1fb;--heat:#"
    "0b62c4}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--soft:#9aa5b1;--line:#48515b;--paper:#"
    "0f1318;"
    "--leaf:#17283c;--heat:#58a6ff}}"
    "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink)}"
    ".name{font-weight:bold}.soft,.local{fill:var(--soft)}.head{fill:var(--soft)}.local{stroke:var("
    "--paper);stroke-width:"
    "4;paint-order:stroke}."
    "paper{fill:var(--paper)}"
    ".box{fill:var(--paper);stroke:var(--line)}.leaf{fill:var(--leaf);stroke:var(--line)}"
    ".arrow{fill:none;stroke:var(--line)}.heat{fill:var(--heat)}.grid{fill:none;stroke:var(--line)}"
    "</style>";

std::string svg_open(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n<title>{2}</title>\n{3}\n"
      "<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
      width, height, escaped(title), kGraphStyle);
}

std::string svg_text(double x, double y, std::string_view text, const char* attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y,
                     *attributes ? " " : "", attributes, escaped(text));
}

constexpr double kLetter = 7.3, kLine = 16;  // of 12 px monospace
constexpr double kMargin = 16;
constexpr double kGutter = 44;  // above a band, for its name and for arrows from other bands

}  // namespace

namespace {}  // namespace

Drawing drawing_of(const ScalarGraph& graph, const std::string& title) {
  Drawing drawing{title, {}, {}};
  for (const auto& node : graph.nodes) {
    const bool leaf = node.op == "leaf";
    std::vector<std::string> lines = {node.name.starts_with(node.op + "#") ? node.op
                                                                           : shown_name(node.name)};
    if (!leaf && lines[0] != node.op) lines.push_back(node.op);
    lines.push_back("data " + rounded(node.data));
    lines.push_back("grad " + rounded(node.grad));
    if (node.left_out > 0) lines.push_back(fmt::format("and {} more", node.left_out));
    drawing.boxes.push_back({std::move(lines), leaf});
  }
  for (const auto& edge : graph.edges)
    drawing.arrows.push_back({edge.child, edge.parent, rounded(edge.local)});
  return drawing;
}

Drawing drawing_of(const std::vector<MatrixRow>& runs, const std::string& title) {
  Drawing drawing{title, {}, {}};
  std::string group = "embedding";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const MatrixRow& run = runs[i];
    std::vector<std::string> lines = {run.name};
    if (run.op != "leaf") lines.push_back(run.op);
    const std::size_t scalars = run.rows * run.cols;
    lines.push_back(fmt::format("{} x {} = {} scalar{}", run.rows, run.cols, grouped(scalars),
                                scalars == 1 ? "" : "s"));
    if (run.plain_nodes > 0) lines.push_back(grouped(run.plain_nodes) + " operations");
    // "layers.0.mlp.norm" belongs to "layers.0.mlp", and what follows the layers to none of them. A
    // leaf stands with its first user.
    const bool leaf = run.op == "leaf";
    const std::size_t dot = run.name.rfind('.');
    if (!leaf && dot != std::string::npos) group = run.name.substr(0, dot);
    if (!leaf && dot == std::string::npos && group != "embedding") group = "output";
    drawing.boxes.push_back({std::move(lines), leaf, leaf ? "" : group});
    for (const std::size_t operand : run.operands) {
      drawing.arrows.push_back({operand, i, ""});
      if (std::string& its = drawing.boxes[operand].group; its.empty()) its = group;
    }
  }
  return drawing;
}

std::string as_dot(const Drawing& drawing) {
  const auto quoted = [](std::string_view text) {
    std::string result;
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  };
  std::string text =
      fmt::format("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=box, fontname=monospace];\n",
                  quoted(escape_controls(drawing.title)));
  for (std::size_t i = 0; i < drawing.boxes.size(); ++i) {
    std::string label;
    for (const std::string& line : drawing.boxes[i].lines)
      label += (label.empty() ? "" : "\\n") + quoted(escape_controls(line));
    text += fmt::format("  n{} [label=\"{}\"{}];\n", i, label,
                        drawing.boxes[i].leaf ? ", style=filled, fillcolor=\"#e8f1fb\"" : "");
  }
  for (const auto& arrow : drawing.arrows)
    text +=
        fmt::format("  n{} -> n{}{};\n", arrow.from, arrow.to,
                    arrow.label.empty() ? "" : fmt::format(" [label=\"{}\"]", quoted(arrow.label)));
  return text + "}\n";
}

namespace {

// Where the boxes of a drawing stand.
class Layout {
 public:
  struct Band {
    std::string name;
    double top = 0, bottom = 0;  // of its boxes
    std::size_t lanes = 0;       // of arrows that pass below them
  };

  explicit Layout(const Drawing& drawing)
      : drawing_(drawing),
        count_(drawing.boxes.size()),
        column(count_),
        band(count_),
        x(count_),
        y(count_),
        w(count_),
        h(count_) {
    choose_columns();
    choose_bands();
    place();
  }

  // Past other boxes of its band an arrow goes below them.
  bool is_past(const Drawing::Arrow& arrow) const {
    return band[arrow.from] == band[arrow.to] && column[arrow.to] > column[arrow.from] + 1;
  }
  bool labelled() const {
    return std::any_of(drawing_.arrows.begin(), drawing_.arrows.end(),
                       [](const auto& arrow) { return !arrow.label.empty(); });
  }

 private:
  // One more than the furthest operand's: arrows always lead from what is computed first. What has
  // no operands stands right before its first user.
  void choose_columns() {
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& arrow : drawing_.arrows)
        if (column[arrow.to] <= column[arrow.from])
          column[arrow.to] = column[arrow.from] + 1, moved = true;
    }
    std::vector<std::size_t> first_user(count_, count_);
    std::vector<bool> has_operands(count_);
    for (const auto& arrow : drawing_.arrows) {
      has_operands[arrow.to] = true;
      first_user[arrow.from] = std::min(first_user[arrow.from], column[arrow.to]);
    }
    for (std::size_t i = 0; i < count_; ++i)
      if (!has_operands[i] && first_user[i] < count_ && first_user[i] > 0)
        column[i] = first_user[i] - 1;
  }
  // In the order in which their groups are computed.
  void choose_bands() {
    std::vector<std::size_t> order(count_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return column[a] < column[b]; });
    for (const std::size_t i : order) {
      const auto known = std::find_if(bands.begin(), bands.end(), [&](const Band& its) {
        return its.name == drawing_.boxes[i].group;
      });
      band[i] = static_cast<std::size_t>(known - bands.begin());
      if (known == bands.end()) bands.push_back({drawing_.boxes[i].group});
    }
  }
  void place() {
    // Labels stand between the columns.
    const double gap = labelled() ? 120 : 48;
    double top = bands.size() > 1 ? kGutter : kMargin;
    const double margin =
        bands.size() > 1 ? 2 * kMargin : kMargin;  // room for arrows between bands
    for (std::size_t b = 0; b < bands.size(); ++b) {
      std::map<std::size_t, std::vector<std::size_t>> columns;
      for (std::size_t i = 0; i < count_; ++i)
        if (band[i] == b) columns[column[i]].push_back(i);
      double left = margin, tallest = 0;
      std::size_t place = 0;
      for (auto& [unused, boxes] : columns) {
        double widest = 0, down = 0;
        for (const std::size_t i : boxes) {
          std::size_t letters = 0;
          for (const std::string& line : drawing_.boxes[i].lines)
            letters = std::max(letters, display_width(escape_controls(line)));
          widest = std::max(widest, static_cast<double>(letters) * kLetter + 16);
          h[i] = static_cast<double>(drawing_.boxes[i].lines.size()) * kLine + 10;
          x[i] = left;
          y[i] = top + down;
          down += h[i] + 14;
          column[i] = place;
        }
        for (const std::size_t i : boxes) w[i] = widest;
        tallest = std::max(tallest, down - 14);
        left += widest + gap;
        ++place;
      }
      for (auto& [unused, boxes] : columns) {  // every column in the middle
        const double shift = (top + tallest - y[boxes.back()] - h[boxes.back()]) / 2;
        for (const std::size_t i : boxes) y[i] += shift;
      }
      bands[b].top = top;
      bands[b].bottom = top + tallest;
      for (const auto& arrow : drawing_.arrows)
        if (band[arrow.from] == b && is_past(arrow)) ++bands[b].lanes;
      width = std::max(width, left - gap + margin);
      height = top + tallest + 16 +
               (bands[b].lanes > 0 ? 14 * static_cast<double>(bands[b].lanes) + 8 : 0);
      top = height + kGutter;
    }
  }

  const Drawing& drawing_;
  std::size_t count_;

 public:
  std::vector<std::size_t> column, band;  // of a box; columns are counted within its band
  std::vector<double> x, y, w, h;
  std::vector<Band> bands;
  double width = 0, height = 0;
};

std::string arrow_head(double x, double y) {
  return fmt::format("<path class=\"head\" d=\"M{:.1f} {:.1f}l-8 -4v8z\"/>\n", x, y);
}

}  // namespace

std::string as_svg(const Drawing& drawing) {
  const std::size_t count = drawing.boxes.size();
  const Layout at(drawing);
  // A label stands on its arrow, nearer to that end where fewer arrows meet.
  std::vector<std::size_t> users(count, 0), operands(count, 0), lanes(at.bands.size(), 0);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> alike,
      drawn;  // a*a: two, side by side
  for (const auto& arrow : drawing.arrows) {
    ++users[arrow.from];
    ++operands[arrow.to];
    ++alike[{arrow.from, arrow.to}];
  }
  std::string arrows, labels, boxes;
  for (const auto& arrow : drawing.arrows) {
    const std::pair ends(arrow.from, arrow.to);
    const double aside =
        (static_cast<double>(drawn[ends]++) - static_cast<double>(alike[ends] - 1) / 2) * 14;
    const double x1 = at.x[arrow.from] + at.w[arrow.from], x2 = at.x[arrow.to];
    const double y1 = at.y[arrow.from] + at.h[arrow.from] / 2 + aside;
    const double y2 = at.y[arrow.to] + at.h[arrow.to] / 2 + aside;
    const auto& band = at.bands[at.band[arrow.to]];
    arrows += arrow_head(x2, y2);
    if (at.band[arrow.from] != at.band[arrow.to]) {  // through the gutter above the other band
      arrows += fmt::format(
          "<path class=\"arrow\" d=\"M{:.1f} {:.1f}h16V{:.1f}H{:.1f}V{:.1f}H{:.1f}\"/>\n", x1, y1,
          band.top - 14, x2 - 22, y2, x2 - 7);
      continue;
    }
    double out = (x2 - x1) / 2, down_1 = y1, down_2 = y2;
    if (at.is_past(arrow)) {
      out = 60;
      // A curve reaches three quarters of the way to its control points.
      const double lane = band.bottom + 10 + 14 * static_cast<double>(++lanes[at.band[arrow.to]]);
      down_1 = y1 + (lane - y1) * 4 / 3, down_2 = y2 + (lane - y2) * 4 / 3;
    }
    arrows += fmt::format(
        "<path class=\"arrow\" d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
        x1, y1, x1 + out, down_1, x2 - 7 - out, down_2, x2 - 7, y2);
    if (arrow.label.empty()) continue;
    const double t = users[arrow.from] <= operands[arrow.to] ? 0.3 : 0.7, s = 1 - t;
    const auto on_curve = [&](double a, double b, double c, double d) {
      return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
    };
    labels +=
        svg_text(on_curve(x1, x1 + out, x2 - 7 - out, x2 - 7), on_curve(y1, down_1, down_2, y2) + 4,
                 arrow.label, "class=\"local\" text-anchor=\"middle\"");
  }
  for (const auto& band : at.bands)
    if (at.bands.size() > 1)
      labels += svg_text(kMargin, band.top - 22, band.name, "class=\"name\"");
  for (std::size_t i = 0; i < count; ++i) {
    boxes += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"5\"/>\n",
        drawing.boxes[i].leaf ? "leaf" : "box", at.x[i], at.y[i], at.w[i], at.h[i]);
    for (std::size_t l = 0; l < drawing.boxes[i].lines.size(); ++l)
      boxes += svg_text(at.x[i] + 8, at.y[i] + 17 + static_cast<double>(l) * kLine,
                        drawing.boxes[i].lines[l], l == 0 ? "class=\"name\"" : "class=\"soft\"");
  }
  return svg_open(at.width, at.height, drawing.title) + arrows + boxes + labels + "</svg>\n";
}

std::string attention_svg(const std::vector<AttentionMap>& maps,
                          const std::vector<std::string>& sentence) {
  std::size_t letters = 0;
  std::vector<std::string> tokens;
  for (const std::string& token : sentence) {
    tokens.push_back(shown_token(token));
    letters = std::max(letters, display_width(tokens.back()));
  }
  std::set<std::size_t> used_layers, used_heads;
  for (const AttentionMap& map : maps) {
    used_layers.insert(map.layer);
    used_heads.insert(map.head);
  }

  constexpr double kCell = 30;
  const double margin = static_cast<double>(letters) * kLetter + 12;
  const double size = static_cast<double>(tokens.size()) * kCell;
  const double step_x = margin + size + 24, step_y = margin + size + 44;
  std::string text = svg_open(16 + step_x * static_cast<double>(used_heads.size()),
                              16 + step_y * static_cast<double>(used_layers.size()), "attention");
  for (const AttentionMap& map : maps) {
    const auto place = [](const std::set<std::size_t>& all, std::size_t one) {
      return static_cast<double>(std::distance(all.begin(), all.find(one)));
    };
    const double x0 = 8 + step_x * place(used_heads, map.head),
                 y0 = 8 + step_y * place(used_layers, map.layer);
    const double left = x0 + margin, top = y0 + 24 + margin;
    text += svg_text(x0, y0 + 14, fmt::format("layer {}, head {}", map.layer, map.head),
                     "class=\"name\"");
    for (std::size_t q = 0; q < tokens.size(); ++q) {
      const double at = (static_cast<double>(q) + 0.5) * kCell + 4;
      text += svg_text(left - 6, top + at, tokens[q], "text-anchor=\"end\"");
      text += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n",
                          left + at, top - 6, escaped(tokens[q]));
      for (std::size_t k = 0; k <= q; ++k) {
        const double x = left + static_cast<double>(k) * kCell,
                     y = top + static_cast<double>(q) * kCell;
        text += fmt::format(
            "<g><title>'{}' looks back at '{}': {:.4f}</title><rect class=\"heat\" x=\"{:.1f}\" "
            "y=\"{:.1f}\" "
            "width=\"{}\" height=\"{}\" fill-opacity=\"{:.3f}\"/><rect class=\"grid\" x=\"{:.1f}\" "
            "y=\"{:.1f}\" "
            "width=\"{}\" height=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
            "style=\"font-size:10px\">{:.2f}</text></g>\n",
            escaped(tokens[q]), escaped(tokens[k]), map.weights[q][k], x, y, kCell, kCell,
            0.6 * map.weights[q][k], x, y, kCell, kCell, x + kCell / 2, y + kCell / 2 + 3,
            map.weights[q][k]);
      }
    }
  }
  return text + "</svg>\n";
}

}  // namespace glassbox::cli
