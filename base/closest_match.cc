#include "base/closest_match.h"

#include <algorithm>
#include <cstddef>

namespace glassbox {

std::string closest_match(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  constexpr std::size_t kLongest = 256;  // nobody mistypes a longer one, and it would take long
  if (word.size() > kLongest) return best;
  std::size_t limit = std::max<std::size_t>(1, word.size() * 2 / 5);  // beyond it is another word
  for (const std::string& candidate : candidates) {
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
        const bool differ = word[i - 1] != candidate[j - 1];
        edits[i][j] = std::min(
            {edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (differ ? 1 : 0)});
        const bool swapped =
            i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1];
        if (swapped) edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
    const std::size_t distance = edits.back().back();
    if (distance < limit || (distance == limit && best.empty())) {
      limit = distance;
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
