#include "base/closest_match.h"

#include <algorithm>
#include <cstddef>

namespace glassbox {

std::string closest_match(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  constexpr std::size_t kLongest = 256;  // nobody mistypes a longer one, and it would take long
  if (word.size() > kLongest) return best;
  std::size_t least = word.size() + 1;  // edits
  for (const std::string& candidate : candidates) {
    // What both begin with up to a separator, such as "inspect " or "layers.0.", makes no word
    // near.
    const auto differ = std::mismatch(word.begin(), word.end(), candidate.begin(), candidate.end());
    const std::string_view same(word.begin(), differ.first);
    const std::size_t own = word.size() - (same.find_last_of(" .-@[") + 1);
    // Beyond it is another word; a single letter is near no other.
    const std::size_t limit = std::max<std::size_t>(word.size() > 1 ? 1 : 0, own * 2 / 5);
    if (candidate.size() > word.size() + limit || word.size() > candidate.size() + limit) continue;
    // edits[i][j] turn the first i letters of the word into the first j of the candidate.
    std::vector<std::vector<std::size_t>> edits(word.size() + 1,
                                                std::vector<std::size_t>(candidate.size() + 1));
    for (std::size_t i = 0; i <= word.size(); ++i) {
      for (std::size_t j = 0; j <= candidate.size(); ++j) {
        if (i == 0 || j == 0) {
          edits[i][j] = i + j;
          continue;
        }
        const bool other = word[i - 1] != candidate[j - 1];
        edits[i][j] = std::min(
            {edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (other ? 1 : 0)});
        const bool swapped =
            i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1];
        if (swapped) edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
    const std::size_t distance = edits.back().back();
    if (distance <= limit && distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates,
                       const std::string& otherwise) {
  const std::string near = closest_match(word, candidates);
  return near.empty() ? otherwise : "did you mean " + near + "?";
}

}  // namespace glassbox
