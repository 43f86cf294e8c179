// Attention as a map for the terminal: numbers, shaded by their size.
#pragma once

#include <string>
#include <vector>

#include "inspect/attention_map.h"

namespace glassbox::cli {

// Rows are positions, columns what each looks back at. With colour a cell's background says its
// size, without it a mark behind the number does: one a tenth.
std::string heat_text(const AttentionMap& map, const std::vector<std::string>& tokens, bool color);

// A line that says which cell looks how.
std::string heat_legend(bool color);

enum class ColorChoice { automatic, always, never };  // --color auto|always|never
// Whether to colour standard output.
bool color_wanted(ColorChoice choice);

}  // namespace glassbox::cli
