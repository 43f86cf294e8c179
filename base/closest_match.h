// The word somebody may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glassbox {

// The candidate with the fewest edits (a letter more, less, another, or two swapped) from `word`,
// or
// "" if none is near: at most two in five letters, of what is behind the parts that both share.
std::string closest_match(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean CANDIDATE?" of the closest match, or `otherwise` if none is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates,
                       const std::string& otherwise);

}  // namespace glassbox
