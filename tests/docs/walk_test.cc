// docs/walk.md and README.md, typed: every command in the page's order, and what it prints against
// what the page shows.
//
// Numbers may differ in their last shown digit (other processors round in another order), numbers
// of nodes and blanks freely; a line "..." stands for any lines.
#include <cctype>
#include <cmath>
#include <filesystem>

#include "tests/cli/program.h"

namespace glassbox {

namespace {

struct Step {
  std::string command;
  std::vector<std::string> shown;
};

std::vector<Step> steps_of(const std::string& page) {
  std::vector<Step> steps;
  bool inside = false;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && line.starts_with("$ ")) {
      steps.push_back({line.substr(2), {}});
    } else if (inside) {
      steps.back().shown.push_back(line);
    }
  }
  return steps;
}

bool same_word(const std::string& a, const std::string& b) {
  if (a == b) return true;
  // Word by word, numbers within it as numbers: "1.2%", "fused_mul#57", "[198][0]:".
  const auto number_at = [](const std::string& text, std::size_t at, double& value) {
    const char c = text[at];
    const bool sign = c == '-' || c == '+';
    if (!std::isdigit(static_cast<unsigned char>(c)) &&
        !(sign && at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1]))))
      return std::size_t{0};
    std::size_t length = 0;
    value = std::stod(text.substr(at), &length);
    return length;
  };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    double x = 0, y = 0;
    const std::size_t n = number_at(a, i, x), m = number_at(b, j, y);
    if (n == 0 || m == 0) {
      if (a[i++] != b[j++]) return false;
      continue;
    }
    const bool node = i > 0 && a[i - 1] == '#';
    const bool exact =
        i > 0 && (a[i - 1] == '[' || a[i - 1] == '.') && x == std::floor(x);  // an index
    if (exact ? x != y
              : !node && std::abs(x - y) > 2e-3 * std::max(std::abs(x), std::abs(y)) + 2e-4)
      return false;
    i += n;
    j += m;
  }
  return i == a.size() && j == b.size();
}

bool same_line(const std::string& a, const std::string& b) {
  std::istringstream one(a), other(b);
  std::string x, y;
  while (true) {
    const bool more_x = static_cast<bool>(one >> x), more_y = static_cast<bool>(other >> y);
    if (more_x != more_y) return false;
    if (!more_x) return true;
    const bool bar = x.find_first_not_of('#') == std::string::npos &&
                     y.find_first_not_of('#') == std::string::npos;
    if (!bar && !same_word(x, y)) return false;
  }
}

// The first shown line that is not printed, or "".
std::string first_missing(const std::vector<std::string>& shown,
                          const std::vector<std::string>& printed) {
  std::size_t at = 0;
  bool any = false;
  for (const std::string& line : shown) {
    if (line == "...") {
      any = true;
      continue;
    }
    while (any && at < printed.size() && !same_line(line, printed[at])) ++at;
    if (at == printed.size() || !same_line(line, printed[at])) return line;
    any = false;
    ++at;
  }
  return any || at == printed.size() ? "" : "(more is printed: " + printed[at] + ")";
}

}  // namespace

TEST_CASE("walk: lines that differ in a word or in a digit that counts are told apart", "[docs]") {
  CHECK(same_line("output[3][2]  -0.0147 fused_mul#12", "output[3][2] -0.0146 fused_mul#99"));
  CHECK(!same_line("output[3][2] -0.0147", "output[3][1] -0.0147"));
  CHECK(!same_line("is 22.40%", "is 23.40%"));
  CHECK(!same_line("is 22.40%", "has 22.40%"));
  CHECK(first_missing({"a", "...", "c"}, {"a", "b", "c"}).empty());
  CHECK(!first_missing({"a"}, {"a", "b"}).empty());
  CHECK(!first_missing({"a", "b"}, {"a"}).empty());
}

TEST_CASE("walk: every command prints what the page shows", "[docs]") {
  const auto [page, least] =
      GENERATE(table<std::string, std::size_t>({{"docs/walk.md", 20}, {"README.md", 10}}));
  CAPTURE(page);
  const Program program;
  std::filesystem::create_directory_symlink(GLASSBOX_SOURCE_DIR "/data", program.folder / "data");
  const auto steps = steps_of(file_bytes(GLASSBOX_SOURCE_DIR "/" + page));
  REQUIRE(steps.size() >= least);
  for (const Step& step : steps) {
    CAPTURE(step.command);
    REQUIRE(step.command.starts_with("glassbox "));
    const Outcome outcome = program.shell("\"$G\" " + step.command.substr(9) + " 2>&1");
    const auto printed = lines_of(outcome.out);
    CAPTURE(outcome.out);
    CHECK(first_missing(step.shown, printed) == "");
  }
}

}  // namespace glassbox
