// TailCalls: where a function that was called jumped on to MPI.
//
// A compiler makes a jump of a call that is the last thing a function does (a tail call), as wrappers of MPI do. Then
// the address that the MPI call returns to is that of the wrapper's caller, and no stack knows the wrapper. The debug
// information does: which function is called before that address, and which calls in that function are jumps to
// where (DW_TAG_call_site; DWARF 5, section 3.4). GCC and Clang write it for code that they optimise.
//
//   int send_all(...) {              // wrap.c
//     ...
//     return MPI_Send(...);          // a jump, wrap.c:9: found here
//   }
//   ... send_all(...);               // main.c:5: what the address says
//
// Of code in another module nothing is known. One thread at a time. Cost: what a unit holds is gone through once, and
// each function's calls.
#pragma once

#include <elfutils/libdwfl.h>

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/compile_units.h"
#include "analyze/debug_entries.h"

namespace cairn::analyze {

class TailCalls {
 public:
  /// `units` must outlive it. `module`: for functions of other units, by their symbols, which lie `bias` above what the
  /// debug information says.
  TailCalls(Dwfl_Module *module, Dwarf_Addr bias, CompileUnits *units) : module_(module), bias_(bias), units_(units) {}
  /// Addresses, as in the debug information, of the jumps to the MPI function `wanted` ("MPI_Send") from what is called
  /// right before `back`. None if MPI is called there itself.
  std::vector<Dwarf_Addr> before(Dwarf_Addr back, const std::string &wanted);

 private:
  struct CallSite {
    std::optional<Dwarf_Addr> back;  ///< where it returns to, or would
    std::optional<Dwarf_Addr> at;
    bool is_jump = false;
    std::optional<Dwarf_Die> callee;
  };
  /// Of a unit.
  struct Functions {
    CodeRanges code;
    std::unordered_map<Dwarf_Off, Dwarf_Die> coded;  ///< of one that could be inlined: the entry that has its code
  };
  /// Adds the calls that a function makes, in its blocks and in what was inlined there, too.
  static void add_calls(Dwarf_Die *within, int levels, std::vector<CallSite> *calls);
  const std::vector<CallSite> &calls_of(Dwarf_Die *function);
  const Functions &functions_of(Dwarf_Die *unit);
  /// Adds the jumps to `wanted` of a function and of those that it jumps to but for `known`, `depth` of them at most.
  void collect(Dwarf_Die function, const std::string &wanted, int depth, std::set<Dwarf_Off> *known,
               std::vector<Dwarf_Addr> *jumps);
  std::optional<Dwarf_Die> definition(Dwarf_Die function);
  std::optional<Dwarf_Die> function_at(Dwarf_Addr address);
  std::optional<Dwarf_Addr> symbol(const std::string &name);

  Dwfl_Module *module_;
  Dwarf_Addr bias_;
  CompileUnits *units_;
  std::unordered_map<Dwarf_Off, Functions> functions_;          ///< by unit
  std::unordered_map<Dwarf_Off, std::vector<CallSite>> calls_;  ///< by function
  bool knows_symbols_ = false;
  std::unordered_map<std::string, Dwarf_Addr> symbols_;
};

}  // namespace cairn::analyze
