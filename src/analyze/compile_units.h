// CompileUnits: which unit of a module's debug information an address of its code lies in.
//
// Asked of the units themselves: .debug_aranges, a table of the same that libdw goes by, is left out by Clang and by
// what is built on it (Intel's, AMD's and NVIDIA's compilers), so that no line would be found in what they compiled.
//
// One thread at a time. All units are gone through when the first address is asked for.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <vector>

namespace cairn::analyze {

class CompileUnits {
 public:
  /// `debug` must outlive it; nullptr: no debug information.
  explicit CompileUnits(Dwarf *debug = nullptr) : debug_(debug) {}
  /// nullptr if it lies in none.
  Dwarf_Die *at(Dwarf_Addr address);

 private:
  struct Range {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    size_t unit;
  };
  void read();

  Dwarf *debug_;
  bool is_read_ = false;
  std::vector<Dwarf_Die> units_;
  std::vector<Range> ranges_;  ///< by their begins
};

}  // namespace cairn::analyze
