#include "terminal/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {

using nlohmann::ordered_json;

Cell nothing() { return {"-", nullptr}; }
Cell words(const std::string &text) { return {text, valid_utf8(text)}; }
Cell count(uint64_t number) { return {grouped(number), number}; }
Cell duration(uint64_t nanoseconds) { return {time_text(nanoseconds), static_cast<double>(nanoseconds) * 1e-9}; }
Cell share(uint64_t part, uint64_t all) {
  if (all == 0) return nothing();
  const double value = static_cast<double>(part) / static_cast<double>(all);
  return {fmt::format("{:.1f}", 100 * value), value};
}

ordered_json json_of(const std::vector<std::string> &strings) {
  ordered_json list = ordered_json::array();
  for (const std::string &each : strings) list.push_back(valid_utf8(each));
  return list;
}

void Listing::print(Output &out, uint64_t most) const {
  std::vector<size_t> widths;
  for (const Column &column : columns_) widths.push_back(column.head == nullptr ? 0 : std::string(column.head).size());
  for (const auto &row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].text.size());
  }
  const auto line = [&](const auto &cell) {
    std::string text;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].head == nullptr) continue;
      if (!text.empty()) text += "  ";
      text += columns_[i].left ? fmt::format("{:<{}}", cell(i), widths[i]) : fmt::format("{:>{}}", cell(i), widths[i]);
    }
    text.resize(text.find_last_not_of(' ') + 1);
    return text;
  };
  out.write(out.bold() + line([&](size_t i) -> std::string { return columns_[i].head; }) + out.plain() + "\n");
  for (size_t i = 0; i < rows_.size() && i < most; ++i) {
    out.write(line([&](size_t column) -> const std::string & { return rows_[i][column].text; }) + "\n");
  }
}

ordered_json Listing::json() const {
  ordered_json list = ordered_json::array();
  for (const auto &row : rows_) {
    ordered_json &object = list.emplace_back(ordered_json::object());
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].member != nullptr) object[columns_[i].member] = row[i].json;
    }
  }
  return list;
}

}  // namespace cairn::cli
