#include "grammar/digram_table.h"

#include <cassert>

#include "base/as_size.h"

namespace cairn::grammar::detail {

void DigramTable::put(Table &table, Ref node, uint32_t hash) {
  assert(table.lines != nullptr && table.count < (uint64_t{table.mask} + 1) * kNodes);
  for (uint32_t at = hash & table.mask;; at = (at + 1) & table.mask) {
    Line &line = table.lines[at];
    Places free(line, 0);
    if (!free.empty()) {
      const uint32_t place = free.next();
      line.tag[place] = tag_of(hash);
      line.node[place] = node;
      ++table.count;
      return;
    }
    if (line.passed_on != kMany) ++line.passed_on;
  }
}

bool DigramTable::erase(Table &table, Ref node, uint32_t hash) {
  if (table.lines == nullptr) return false;
  const uint8_t tag = tag_of(hash);
  for (uint32_t gone = 0; gone <= table.mask; ++gone) {
    Line &line = table.lines[(hash + gone) & table.mask];
    for (Places places(line, tag); !places.empty();) {
      const uint32_t place = places.next();
      if (line.node[place] != node) continue;
      line.tag[place] = 0;
      --table.count;
      for (uint32_t i = 0; i < gone; ++i) {
        uint8_t &passed_on = table.lines[(hash + i) & table.mask].passed_on;
        if (passed_on != kMany) --passed_on;
      }
      return true;
    }
    if (line.passed_on == 0) return false;
  }
  return false;
}

void DigramTable::end_move(Arena &arena) {
  arena.release_array(old_.lines, static_cast<size_t>(old_.mask) + 1);
  old_ = {};
}

bool DigramTable::grow(Arena &arena) {
  if (old_.lines != nullptr) return false;
  const uint64_t lines = live_.lines == nullptr ? kFirstLines : (uint64_t{live_.mask} + 1) * 2;
  if (lines > uint64_t{1} << 31) return false;
  Line *larger = arena.allocate_array<Line>(as_size(lines));
  if (larger == nullptr) return false;
  old_ = live_;
  moved_ = 0;
  live_ = {larger, static_cast<uint32_t>(lines - 1), 0};
  return true;
}

}  // namespace cairn::grammar::detail
