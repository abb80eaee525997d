// CompileUnits: which unit of a module's debug information an address of its code lies in.
//
// Asked of the units themselves: .debug_aranges, a table of the same that libdw goes by, is left out by Clang and by
// what is built on it (Intel's, AMD's and NVIDIA's compilers), so that no line would be found in what they compiled.
//
// One thread at a time. All units are gone through when the first address is asked for.
#pragma once

#include <elfutils/libdw.h>

#include <optional>

#include "analyze/debug_entries.h"

namespace cairn::analyze {

class CompileUnits {
 public:
  /// `debug` must outlive it; nullptr: no debug information.
  explicit CompileUnits(Dwarf *debug) : debug_(debug) {}
  /// nullopt if it lies in none.
  std::optional<Dwarf_Die> at(Dwarf_Addr address);

 private:
  Dwarf *debug_;
  std::optional<CodeRanges> units_;  ///< once they were asked for
};

}  // namespace cairn::analyze
