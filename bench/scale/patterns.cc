#include "scale/patterns.h"

#include <algorithm>

namespace cairn::scale {

const std::vector<Pattern> &patterns() {
  static const std::vector<Pattern> all = [] {
    std::vector<Pattern> result;
    add_stencils(&result);
    add_solvers(&result);
    add_multipartition(&result);
    add_trees(&result);
    add_irregular(&result);
    std::sort(result.begin(), result.end(), [](const Pattern &a, const Pattern &b) { return a.name < b.name; });
    return result;
  }();
  return all;
}

const Pattern *find_pattern(std::string_view name) {
  for (const Pattern &pattern : patterns()) {
    if (pattern.name == name) return &pattern;
  }
  return nullptr;
}

std::string unfit(const Pattern &pattern, const Setting &setting) {
  const uint32_t root = square_root(setting.ranks);
  if (pattern.square && root * root != setting.ranks) return "it runs on square numbers of ranks only";
  if (pattern.dimensions == 0) return {};
  if (setting.grid.dimensions() != pattern.dimensions) {
    return "its grid has " + std::to_string(pattern.dimensions) + " dimensions";
  }
  if (setting.grid.size() != setting.ranks) return "the grid is not as large as the number of ranks";
  return {};
}

}  // namespace cairn::scale
