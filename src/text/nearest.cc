#include "text/nearest.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

namespace cairn {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Optimal string alignment distance, in thirds of an edit: a letter in the other case is one third.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = 3 * j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = 3 * i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replace = 3;
      if (a[i - 1] == b[j - 1]) {
        replace = 0;
      } else if (lower(a[i - 1]) == lower(b[j - 1])) {
        replace = 1;
      }
      current[j] = std::min({previous[j] + 3, current[j - 1] + 3, previous[j - 1] + replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 3);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string> &candidates) {
  const std::string *best = nullptr;
  size_t best_distance = SIZE_MAX;
  for (const std::string &candidate : candidates) {
    const size_t edits = distance(word, candidate);
    if (edits < best_distance) {
      best_distance = edits;
      best = &candidate;
    }
  }
  if (best == nullptr) return {};
  // A third of the letters of the longer one, but always one whole edit.
  const size_t allowed = std::max<size_t>({3, word.size(), best->size()});
  return best_distance <= allowed ? *best : std::string();
}

bool glob_match(std::string_view pattern, std::string_view name) {
  return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), FNM_CASEFOLD | FNM_NOESCAPE) == 0;
}

}  // namespace cairn
