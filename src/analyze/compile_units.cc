#include "analyze/compile_units.h"

namespace cairn::analyze {

std::optional<Dwarf_Die> CompileUnits::at(Dwarf_Addr address) {
  if (!units_) {
    units_.emplace();
    Dwarf_CU *unit = nullptr;
    Dwarf_Die entry;
    while (debug_ != nullptr && dwarf_get_units(debug_, unit, &unit, nullptr, nullptr, &entry, nullptr) == 0) {
      units_->add(entry);
    }
    units_->sort();
  }
  const Dwarf_Die *found = units_->find(address);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace cairn::analyze
