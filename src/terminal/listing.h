// A list that a verb prints as a table, or as JSON: its columns and cells are said once, both forms follow.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn::cli {

class Output;

/// One value in both forms.
struct Cell {
  std::string text;
  nlohmann::ordered_json json;
  size_t place = 0;  ///< so much of the text's beginning says where, and is the last to be shortened; 0: there is none
};
Cell nothing();                           ///< "-", null
Cell words(const std::string &text);      ///< as it is; in JSON valid UTF-8
Cell count(uint64_t number);              ///< 12,345
Cell duration(uint64_t nanoseconds);      ///< 1.23 ms; in JSON seconds
Cell share(uint64_t part, uint64_t all);  ///< per cent, "-" of nothing; in JSON of 1

/// Strings as JSON can hold them.
nlohmann::ordered_json json_of(const std::vector<std::string> &strings);
/// null for nothing.
template <typename T>
nlohmann::ordered_json json_of(const std::optional<T> &value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

struct Column {
  const char *head = nullptr;    ///< of the table; nullptr: only in JSON
  const char *member = nullptr;  ///< of JSON; nullptr: only in the table
  bool left = false;             ///< texts stand to the left, numbers to the right
  uint8_t least = 0;             ///< where the terminal is narrow, the columns of the greatest number go first; 0: last
};

class Listing {
 public:
  explicit Listing(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// A cell for each column. A dash in the table is null in JSON.
  void add(std::vector<Cell> cells);
  /// A line of its own below the one added last, in the table only, shortened to the terminal's width.
  void add_below(Cell cell) { below_.back().push_back(std::move(cell)); }
  /// Lined up, the heads first, and at most `most` lines of others. As wide as the terminal: texts but the first are
  /// shortened in the middle, or behind the place they begin with, and columns that say least go, which is told below.
  void print(Output &out, uint64_t most = UINT64_MAX) const;
  /// An array of objects.
  [[nodiscard]] nlohmann::ordered_json json() const;
  /// These as CSV (csv.h), the names of the members first.
  [[nodiscard]] std::string csv() const;

 private:
  struct Layout {
    std::vector<size_t> widths;  ///< of each column; 0: it is not shown
    size_t gap = 2;              ///< between them
  };
  [[nodiscard]] Layout layout(size_t terminal) const;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::vector<Cell>> below_;  ///< each row
};

}  // namespace cairn::cli
