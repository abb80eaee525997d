#include "terminal/csv.h"

#include <map>
#include <utility>

#include "terminal/words.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json &value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_quoted(value);
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const ordered_json &element : value) {
    const std::string one = element.is_string() ? element.get<std::string>() : element.dump();
    text += (text.empty() ? "" : " ") + one;
  }
  return csv_quoted(text);
}

using Fields = std::vector<std::pair<std::string, const ordered_json *>>;

void take_apart(const std::string &before, const ordered_json &object, Fields *fields) {
  for (const auto &[name, value] : object.items()) {
    if (value.is_object()) {
      take_apart(before + name + ".", value, fields);
    } else {
      fields->emplace_back(before + name, &value);
    }
  }
}

}  // namespace

std::string csv_of(const ordered_json &rows, const std::vector<std::string> &first) {
  std::vector<Fields> all;
  std::vector<std::string> names = first;
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  for (const ordered_json &row : rows) {
    take_apart("", row, &all.emplace_back());
    for (const auto &[name, value] : all.back()) {
      if (places.emplace(name, names.size()).second) names.push_back(name);
    }
  }
  // What is an object in one row and null in another has no column of its own.
  std::vector<bool> shown(names.size(), true);
  for (const std::string &name : names) {
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      const auto whole = places.find(name.substr(0, dot));
      if (whole != places.end()) shown[whole->second] = false;
    }
  }
  const auto line = [&](const auto &cell) {
    std::string text;
    bool any = false;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!shown[i]) continue;
      text += (any ? "," : "") + cell(i);
      any = true;
    }
    return text + "\n";
  };
  if (names.empty()) return "";
  std::string text = line(
      [&](size_t i) { return names[i].find_first_of(",\"\n") == std::string::npos ? names[i] : csv_quoted(names[i]); });
  for (const Fields &row : all) {
    std::vector<std::string> cells(names.size());
    for (const auto &[name, value] : row) cells[places.at(name)] = text_of(*value);
    text += line([&](size_t i) { return cells[i]; });
  }
  return text;
}

}  // namespace cairn::cli
