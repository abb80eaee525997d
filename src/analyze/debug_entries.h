// What entries of debug information (DIEs) have in common: the code that they cover, and the names that linkers know.
//
// Plain value and function. One thread at a time for the entries of one module.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <vector>

namespace cairn::analyze {

/// Which of several entries, units or functions, an address lies in.
class CodeRanges {
 public:
  /// Whether it has any code. All are added before the first `find`.
  bool add(Dwarf_Die entry);
  void sort();
  /// nullptr if it lies in none.
  [[nodiscard]] const Dwarf_Die *find(Dwarf_Addr address) const;

 private:
  struct Range {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    Dwarf_Die entry;
  };
  std::vector<Range> ranges_;
};

/// Of a function, else the one in the source; "" if it has none.
std::string linker_name(Dwarf_Die *function);

}  // namespace cairn::analyze
