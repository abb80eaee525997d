#include "analyze/compile_units.h"

#include <algorithm>
#include <cstdint>

namespace cairn::analyze {

void CompileUnits::read() {
  is_read_ = true;
  if (debug_ == nullptr) return;
  Dwarf_CU *unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(debug_, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    units_.push_back(die);
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
      // What the linker has thrown away lies at 0.
      if (begin != 0 && begin < end) ranges_.push_back({begin, end, units_.size() - 1});
    }
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const Range &a, const Range &b) { return a.begin < b.begin; });
}

Dwarf_Die *CompileUnits::at(Dwarf_Addr address) {
  if (!is_read_) read();
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                       [](Dwarf_Addr wanted, const Range &range) { return wanted < range.begin; });
  if (behind == ranges_.begin() || address >= (behind - 1)->end) return nullptr;
  return &units_[(behind - 1)->unit];
}

}  // namespace cairn::analyze
