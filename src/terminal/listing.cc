#include "terminal/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "terminal/csv.h"
#include "terminal/screen.h"
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

void Listing::add(std::vector<Cell> cells) {
  for (Cell &cell : cells) {
    if (cell.text == nothing().text) cell = nothing();
  }
  rows_.push_back(std::move(cells));
  below_.emplace_back();
}

Listing::Layout Listing::layout(size_t terminal) const {
  constexpr size_t kShortText = 30;  // what texts are shortened to before columns go, …
  constexpr size_t kLeastText = 16;  // … and where they have gone; what says where, only then
  Layout layout;
  std::vector<size_t> &widths = layout.widths;
  std::vector<size_t> places(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(columns_[i].head == nullptr ? 0 : columns_of(columns_[i].head));
    for (const auto &row : rows_) {
      if (columns_[i].head != nullptr) widths[i] = std::max(widths[i], columns_of(row[i].text));
      places[i] = std::max(places[i], columns_of(std::string_view(row[i].text).substr(0, row[i].place)));
    }
  }
  const std::vector<size_t> wholes = widths;
  const auto total = [&] {
    size_t sum = 0;
    for (const size_t width : widths) sum += width == 0 ? 0 : (sum == 0 ? 0 : layout.gap) + width;
    return sum;
  };
  const auto says_nothing = [&](size_t i) {
    return std::all_of(rows_.begin(), rows_.end(), [&](const auto &row) { return row[i].text == rows_[0][i].text; });
  };
  // Which column goes next: those that are told to go, then those that say the same in each line, then from the right.
  // The first stays, and texts do.
  const auto is_before = [&](size_t a, size_t b) {
    const auto key = [&](size_t i) { return std::tuple(columns_[i].least, says_nothing(i), i); };
    return key(a) > key(b);
  };
  std::vector<size_t> going;
  for (size_t i = 1; i < columns_.size(); ++i) {
    if (widths[i] != 0 && (!columns_[i].left || columns_[i].least != 0)) going.push_back(i);
  }
  std::sort(going.begin(), going.end(), is_before);
  // The widest text gives way first, down to what can still be read.
  const auto shorten = [&](size_t least, bool keeps_places) {
    const auto least_of = [&](size_t i) { return keeps_places ? std::max(least, places[i]) : least; };
    for (size_t excess = total(); excess > terminal; excess = total()) {
      size_t widest = 0;
      for (size_t i = 1; i < columns_.size(); ++i) {
        if (columns_[i].left && widths[i] > std::max(least_of(i), widest == 0 ? 0 : widths[widest])) widest = i;
      }
      if (widest == 0) return;
      widths[widest] -= std::min(widths[widest] - least_of(widest), excess - terminal);
    }
  };
  shorten(kShortText, true);
  if (total() > terminal) layout.gap = 1;
  for (const size_t i : going) {
    if (total() <= terminal) break;
    widths[i] = 0;
  }
  shorten(kLeastText, true);
  shorten(kLeastText, false);
  layout.gap = 2;
  if (total() > terminal) layout.gap = 1;
  // What columns that went have left is for the texts.
  for (size_t i = 1; i < columns_.size(); ++i) {
    if (columns_[i].left && widths[i] != 0) widths[i] = wholes[i];
  }
  shorten(kLeastText, true);
  shorten(kLeastText, false);
  return layout;
}

void Listing::print(Output &out, uint64_t most) const {
  const Layout now = layout(out.width());
  const std::vector<size_t> &widths = now.widths;
  const auto cut = [](const Cell &cell, size_t width) {
    return cell.place == 0 ? shortened(cell.text, width) : shortened_behind(cell.text, cell.place, width);
  };
  const auto line = [&](const auto &cell) {
    std::string text;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0) continue;
      if (!text.empty()) text.append(now.gap, ' ');
      const std::string shown = cut(cell(i), widths[i]);
      const std::string blanks(widths[i] - columns_of(shown), ' ');
      text += columns_[i].left ? shown + blanks : blanks + shown;
    }
    text.resize(text.find_last_not_of(' ') + 1);
    return text;
  };
  out.write(out.bold() + line([&](size_t i) { return Cell{columns_[i].head, nullptr}; }) + out.plain() + "\n");
  for (size_t i = 0; i < rows_.size() && i < most; ++i) {
    out.write(line([&](size_t column) -> const Cell & { return rows_[i][column]; }) + "\n");
    for (const Cell &cell : below_[i]) out.write(cut(cell, out.width()) + "\n");
  }
  std::string gone;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].head != nullptr && widths[i] == 0)
      gone += fmt::format("{}{}", gone.empty() ? "" : ", ", columns_[i].head);
  }
  if (!gone.empty()) out.write(fmt::format("{}(the terminal has no room for: {}){}\n", out.dim(), gone, out.plain()));
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

std::string Listing::csv() const {
  std::vector<std::string> names;
  for (const Column &column : columns_) {
    if (column.member != nullptr) names.emplace_back(column.member);
  }
  return csv_of(json(), names);
}

}  // namespace cairn::cli
