#include "arrays/file/intervals.h"

#include <algorithm>

namespace cairn::arrays {

uint64_t Intervals::measure(Level *level, size_t low, size_t high) {
  if (low >= high) return 0;
  const size_t middle = low + (high - low) / 2;
  const uint64_t below = std::max(measure(level, low, middle), measure(level, middle + 1, high));
  return level->reach[middle] = std::max(level->sorted[middle].end, below);
}

void Intervals::add(std::vector<Interval> added) {
  if (added.empty()) return;
  std::ranges::sort(added, {}, &Interval::begin);
  while (!levels_.empty() && levels_.back().sorted.size() < 2 * added.size()) {
    std::vector<Interval> merged;
    merged.reserve(levels_.back().sorted.size() + added.size());
    std::ranges::merge(levels_.back().sorted, added, std::back_inserter(merged), {}, &Interval::begin,
                       &Interval::begin);
    added = std::move(merged);
    levels_.pop_back();
  }
  Level level;
  level.reach.resize(added.size());
  level.sorted = std::move(added);
  measure(&level, 0, level.sorted.size());
  levels_.push_back(std::move(level));
}

void Intervals::find_in(const Level &level, size_t low, size_t high, const Interval &wanted,
                        std::vector<size_t> *found) {
  if (low >= high) return;
  const size_t middle = low + (high - low) / 2;
  if (level.reach[middle] <= wanted.begin) return;
  find_in(level, low, middle, wanted, found);
  const Interval &own = level.sorted[middle];
  if (own.begin >= wanted.end) return;
  if (own.end > wanted.begin) found->push_back(own.number);
  find_in(level, middle + 1, high, wanted, found);
}

void Intervals::find(uint64_t begin, uint64_t end, std::vector<size_t> *found) const {
  const Interval wanted{begin, end, 0};
  for (const Level &level : levels_) find_in(level, 0, level.sorted.size(), wanted, found);
}

}  // namespace cairn::arrays
