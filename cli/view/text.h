// Tables and words as a terminal shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace glassbox::cli {

// What would move a cursor, break a line, turn the writing's direction or make a page that cannot
// be read is escaped: control characters, line and paragraph separators, bidirectional overrides,
// bytes that are not UTF-8, U+FFFE and U+FFFF.
std::string escape_controls(std::string_view text);
// A token as a column shows it: escaped, of a long one the beginning; a blank in quotes, and what
// has no width of its own as a code point, so that every token can be seen.
std::string shown_token(std::string_view token);
// A scalar's name as a column or a box shows it: escaped, of a long one the beginning.
std::string shown_name(std::string_view name);
// For text and attributes of XML and HTML, where every text from outside goes through here: control
// characters as above, and what would be markup as entities.
std::string escaped(std::string_view text);
// To `width` columns of the terminal with blanks, before it or behind it. REQUIRES: valid UTF-8.
std::string padded_left(std::string_view text, std::size_t width);
std::string padded_right(std::string_view text, std::size_t width);
// What fits into `width` columns; of a wider text the beginning and a tilde.
std::string clipped(std::string_view text, std::size_t width);

// 63,296
std::string grouped(std::int64_t number);
// For people: four digits behind the point, or an exponent where those would say nothing.
std::string rounded(double value);
// With its sign, for what adds up.
std::string with_sign(double value);
// The shortest text that reads back the same.
std::string exact(double value);
// One cell of a CSV file, quoted where it must be.
std::string csv_cell(std::string_view text);

// Rows of cells, a column as wide as its widest. The columns named in `left` stand to the left, the
// others to the right.
class Table {
 public:
  explicit Table(std::vector<std::size_t> left = {0}) : left_(std::move(left)) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }
  std::string text() const;

 private:
  std::vector<std::size_t> left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace glassbox::cli
