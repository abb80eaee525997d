#include "report/shorten.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/rank_list.h"

namespace cairn::report {
namespace {

using nlohmann::ordered_json;

bool is_of_ranks(std::string_view name) {
  constexpr std::string_view kNames[] = {"ranks", "lacking", "incomplete_ranks", "only_first", "only_second"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

bool all_numbers(const ordered_json &list) {
  return std::all_of(list.begin(), list.end(), [](const ordered_json &one) { return one.is_number_integer(); });
}

/// To 12 digits, where it has more.
double rounded(double number) { return std::strtod(fmt::format("{:.12g}", number).c_str(), nullptr); }

}  // namespace

void shorten(ordered_json *json, size_t most) {
  if (json->is_number_float()) *json = rounded(json->get<double>());
  if (json->is_array()) {
    for (ordered_json &one : *json) shorten(&one, most);
    return;
  }
  if (!json->is_object()) return;
  std::vector<std::pair<std::string, size_t>> cut;
  for (auto &[name, value] : json->items()) {
    if (value.is_array() && is_of_ranks(name) && all_numbers(value)) {
      value = ranks_text(value.get<std::vector<uint32_t>>());
      continue;
    }
    if (value.is_array() && value.size() > most) {
      cut.emplace_back(name + "_further", value.size() - most);
      value.erase(value.begin() + static_cast<ptrdiff_t>(most), value.end());
    }
    shorten(&value, most);
  }
  for (auto &[name, count] : cut) (*json)[name] = count;
}

}  // namespace cairn::report
