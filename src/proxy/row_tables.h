// Many calls that differ only in numbers and texts as one function with a table: where the order of calls is a table
// anyway, a function for each would be more than a compiler likes. The same of lines that stand behind each other.
//
// Plain function. Cost: the texts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/c_text.h"

namespace cairn::proxy {

struct RowTable {
  std::string call;                            ///< with "all[row].a", "all[row].b" … where they differ
  std::vector<bool> is_text;                   ///< of each column: text, else number
  std::vector<std::vector<std::string>> rows;  ///< of each call
};

/// Nothing if the calls differ in anything else, or in nothing.
std::optional<RowTable> row_table(const std::vector<std::string> &calls);
/// Calls that row_table takes together have one of these: the call without its numbers and texts.
std::string shape_of(const std::string &call);
/// The table as C: "static const struct { … } all[] = { … };".
void write_table(const RowTable &table, Source *out);
/// Lines of C: those that follow each other and that row_table takes together become a loop.
void write_lines(const std::vector<std::string> &lines, Source *out);
/// "a", "b" … "z", "a1" …
std::string column_name(size_t column);

}  // namespace cairn::proxy
