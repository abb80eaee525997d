#include "analyze/debug_entries.h"

#include <dwarf.h>

#include <algorithm>
#include <cstddef>

namespace cairn::analyze {

bool CodeRanges::add(Dwarf_Die entry) {
  bool has_code = false;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(&entry, at, &base, &begin, &end)) > 0;) {
    // What the linker has thrown away lies at 0.
    if (begin == 0 || begin >= end) continue;
    ranges_.push_back({begin, end, entry});
    has_code = true;
  }
  return has_code;
}

void CodeRanges::sort() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range &a, const Range &b) { return a.begin < b.begin; });
}

const Dwarf_Die *CodeRanges::find(Dwarf_Addr address) const {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                       [](Dwarf_Addr wanted, const Range &range) { return wanted < range.begin; });
  if (behind == ranges_.begin() || address >= (behind - 1)->end) return nullptr;
  return &(behind - 1)->entry;
}

std::string linker_name(Dwarf_Die *function) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    Dwarf_Attribute attribute;
    if (const char *text = dwarf_formstring(dwarf_attr_integrate(function, name, &attribute))) return text;
  }
  return {};
}

}  // namespace cairn::analyze
