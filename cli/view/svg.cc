#include "cli/view/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "cli/view/text.h"

namespace glassbox::cli {

namespace {

// One style for every picture; --ink and --paper change places in the dark.
constexpr std::string_view kStyle =
    "<style>svg{--ink:#1b1f24;--soft:#59636e;--line:#b6bec8;--paper:#fff;--leaf:#e8f1fb;--heat:#"
    "0b62c4}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--soft:#9aa5b1;--line:#48515b;--paper:#"
    "0f1318;"
    "--leaf:#17283c;--heat:#58a6ff}}"
    "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink)}"
    ".soft,.local{fill:var(--soft)}.local{stroke:var(--paper);stroke-width:4;paint-order:stroke}."
    "paper{fill:var(--paper)}"
    ".box{fill:var(--paper);stroke:var(--line)}.leaf{fill:var(--leaf);stroke:var(--line)}"
    ".arrow{fill:none;stroke:var(--line)}.heat{fill:var(--heat)}.grid{fill:none;stroke:var(--line)}"
    "</style>";

std::string svg_open(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n<title>{2}</title>\n{3}\n"
      "<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
      width, height, escaped(title), kStyle);
}

std::string svg_text(double x, double y, std::string_view text, const char* attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y,
                     *attributes ? " " : "", attributes, escaped(text));
}

constexpr double kLetter = 7.3, kLine = 16;  // of 12 px monospace
constexpr double kGap = 120;                 // between columns: a label at either end of an arrow

}  // namespace

Drawing drawing_of(const ScalarGraph& graph, const std::string& title) {
  Drawing drawing{title, {}, {}};
  for (const auto& node : graph.nodes) {
    const bool leaf = node.op == "leaf";
    std::vector<std::string> lines = {node.name.starts_with(node.op + "#") ? node.op : node.name};
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
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const MatrixRow& run = runs[i];
    std::vector<std::string> lines = {run.name};
    if (run.op != "leaf") lines.push_back(run.op);
    lines.push_back(fmt::format("{} x {} = {} scalars", run.rows, run.cols, run.rows * run.cols));
    if (run.plain_nodes > 0) lines.push_back(fmt::format("{} operations", run.plain_nodes));
    drawing.boxes.push_back({std::move(lines), run.op == "leaf"});
    for (const std::size_t operand : run.operands) drawing.arrows.push_back({operand, i, ""});
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

std::string as_svg(const Drawing& drawing) {
  const std::size_t count = drawing.boxes.size();
  // Column: one more than the furthest operand. Arrows always lead from what is computed first.
  std::vector<std::size_t> column(count, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& arrow : drawing.arrows)
      if (column[arrow.to] <= column[arrow.from])
        column[arrow.to] = column[arrow.from] + 1, moved = true;
  }
  // What has no operands stands right before its first user.
  std::vector<std::size_t> operands(count, 0), first_user(count, count);
  for (const auto& arrow : drawing.arrows) {
    ++operands[arrow.to];
    first_user[arrow.from] = std::min(first_user[arrow.from], column[arrow.to]);
  }
  for (std::size_t i = 0; i < count; ++i)
    if (operands[i] == 0 && first_user[i] < count && first_user[i] > 0)
      column[i] = first_user[i] - 1;
  std::map<std::size_t, std::vector<std::size_t>> columns;
  for (std::size_t i = 0; i < count; ++i) columns[column[i]].push_back(i);

  std::vector<double> x(count), y(count), w(count), h(count);
  double left = 16, tallest = 0;
  for (const auto& [c, boxes] : columns) {
    double widest = 0, top = 16;
    for (const std::size_t i : boxes) {
      std::size_t letters = 0;
      for (const std::string& line : drawing.boxes[i].lines)
        letters = std::max(letters, width_of(escape_controls(line)));
      w[i] = static_cast<double>(letters) * kLetter + 16;
      h[i] = static_cast<double>(drawing.boxes[i].lines.size()) * kLine + 10;
      x[i] = left;
      y[i] = top;
      top += h[i] + 14;
      widest = std::max(widest, w[i]);
    }
    for (const std::size_t i : boxes) w[i] = widest;
    tallest = std::max(tallest, top);
    left += widest + kGap;
  }
  for (const auto& [c, boxes] : columns) {  // every column in the middle
    const double shift = (tallest - (y[boxes.back()] + h[boxes.back()] + 14)) / 2;
    for (const std::size_t i : boxes) y[i] += shift;
  }

  // A label stands at that end of its arrow where fewer arrows meet; those at one end, one below
  // the other.
  std::vector<std::size_t> users(count, 0), at_start(count, 0), at_end(count, 0);
  std::vector<std::size_t> all_start(count, 0), all_end(count, 0);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> alike,
      drawn;  // a*a: two arrows, side by side
  for (const auto& arrow : drawing.arrows) {
    ++users[arrow.from];
    ++alike[{arrow.from, arrow.to}];
  }
  const auto at_its_start = [&](const Drawing::Arrow& arrow) {
    return users[arrow.from] <= operands[arrow.to];
  };
  for (const auto& arrow : drawing.arrows)
    ++(at_its_start(arrow) ? all_start[arrow.from] : all_end[arrow.to]);
  // Past other boxes an arrow goes below them, and its label stands below the others'.
  const auto is_past = [&](const Drawing::Arrow& arrow) {
    return column[arrow.to] > column[arrow.from] + 1;
  };
  std::vector<Drawing::Arrow> in_order = drawing.arrows;
  std::stable_partition(in_order.begin(), in_order.end(), std::not_fn(is_past));
  std::string arrows, labels, boxes;
  bool under = false;
  for (const auto& arrow : in_order) {
    const std::pair ends(arrow.from, arrow.to);
    const double aside =
        (static_cast<double>(drawn[ends]++) - static_cast<double>(alike[ends] - 1) / 2) * 13;
    const double x1 = x[arrow.from] + w[arrow.from], y1 = y[arrow.from] + h[arrow.from] / 2 + aside;
    const double x2 = x[arrow.to], y2 = y[arrow.to] + h[arrow.to] / 2 + aside, bend = (x2 - x1) / 2;
    const bool past = is_past(arrow);
    const double down_1 = past ? tallest + 30 : y1, down_2 = past ? tallest + 30 : y2;
    const double out = past ? 60 : bend;
    under = under || past;
    arrows += fmt::format(
        "<path class=\"arrow\" d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
        x1, y1, x1 + out, down_1, x2 - out, down_2, x2, y2);
    if (arrow.label.empty()) continue;
    const bool start = at_its_start(arrow);
    const std::size_t all = start ? all_start[arrow.from] : all_end[arrow.to];
    const std::size_t place = start ? at_start[arrow.from]++ : at_end[arrow.to]++;
    const double down =
        (static_cast<double>(place) - static_cast<double>(all - 1) / 2) * 13 + 4 - aside;
    labels += start
                  ? svg_text(x1 + 5, y1 + down, arrow.label, "class=\"local\"")
                  : svg_text(x2 - 5, y2 + down, arrow.label, "class=\"local\" text-anchor=\"end\"");
  }
  for (std::size_t i = 0; i < count; ++i) {
    boxes += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"5\"/>\n",
        drawing.boxes[i].leaf ? "leaf" : "box", x[i], y[i], w[i], h[i]);
    for (std::size_t l = 0; l < drawing.boxes[i].lines.size(); ++l)
      boxes +=
          svg_text(x[i] + 8, y[i] + 17 + static_cast<double>(l) * kLine, drawing.boxes[i].lines[l],
                   l == 0 ? "font-weight=\"bold\"" : "class=\"soft\"");
  }
  return svg_open(left - kGap + 16, tallest + (under ? 30 : 2), drawing.title) + arrows + boxes +
         labels + "</svg>\n";
}

std::string attention_svg(const std::vector<AttentionMap>& maps,
                          const std::vector<std::string>& tokens) {
  std::size_t letters = 0, heads = 0, layers = 0;
  for (const std::string& token : tokens)
    letters = std::max(letters, width_of(escape_controls(token)));
  for (const AttentionMap& map : maps) {
    heads = std::max(heads, map.head + 1);
    layers = std::max(layers, map.layer + 1);
  }
  std::vector<std::size_t> used_layers, used_heads;
  for (std::size_t l = 0; l < layers; ++l)
    if (std::any_of(maps.begin(), maps.end(), [&](const auto& m) { return m.layer == l; }))
      used_layers.push_back(l);
  for (std::size_t h = 0; h < heads; ++h)
    if (std::any_of(maps.begin(), maps.end(), [&](const auto& m) { return m.head == h; }))
      used_heads.push_back(h);

  constexpr double kCell = 30;
  const double margin = static_cast<double>(letters) * kLetter + 12;
  const double size = static_cast<double>(tokens.size()) * kCell;
  const double step_x = margin + size + 24, step_y = margin + size + 44;
  std::string text = svg_open(16 + step_x * static_cast<double>(used_heads.size()),
                              16 + step_y * static_cast<double>(used_layers.size()), "attention");
  for (const AttentionMap& map : maps) {
    const auto place = [](const std::vector<std::size_t>& all, std::size_t one) {
      return static_cast<double>(std::find(all.begin(), all.end(), one) - all.begin());
    };
    const double x0 = 8 + step_x * place(used_heads, map.head),
                 y0 = 8 + step_y * place(used_layers, map.layer);
    const double left = x0 + margin, top = y0 + 24 + margin;
    text += svg_text(x0, y0 + 14, fmt::format("layer {}, head {}", map.layer, map.head),
                     "font-weight=\"bold\"");
    for (std::size_t q = 0; q < tokens.size(); ++q) {
      const double at = (static_cast<double>(q) + 0.5) * kCell + 4;
      text += svg_text(left - 6, top + at, tokens[q], "text-anchor=\"end\"");
      text += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n",
                          left + at, top - 6, escaped(tokens[q]));
      for (std::size_t k = 0; k <= q; ++k) {
        const double x = left + static_cast<double>(k) * kCell,
                     y = top + static_cast<double>(q) * kCell;
        text += fmt::format(
            "<g><title>{} looks back at {}: {:.4f}</title><rect class=\"heat\" x=\"{:.1f}\" "
            "y=\"{:.1f}\" "
            "width=\"{}\" height=\"{}\" fill-opacity=\"{:.3f}\"/><rect class=\"grid\" x=\"{:.1f}\" "
            "y=\"{:.1f}\" "
            "width=\"{}\" height=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
            "style=\"font-size:9px\">{:.2f}</text></g>\n",
            escaped(tokens[q]), escaped(tokens[k]), map.weights[q][k], x, y, kCell, kCell,
            0.85 * map.weights[q][k], x, y, kCell, kCell, x + kCell / 2, y + kCell / 2 + 3,
            map.weights[q][k]);
      }
    }
  }
  return text + "</svg>\n";
}

}  // namespace glassbox::cli
