// CallStacks: whole call stacks as call sites (`--callsites stack`), one a thread.
//
// A stack is the return addresses from the MPI call out to main. Repetitions at its growing end are folded into their
// first occurrence while it is walked, as in ScalaTrace (Noeth et al., JPDC 2009, sections 2 and 3), so that a
// recursive time-step loop has as many distinct stacks as an iterative one. The folded addresses are looked up by their
// hash; a stack that is new becomes a chain of Sites, each with its caller. Frames of MPI, its Fortran binding and this
// recorder are left out, and those of the C library around main.
//
// Where a C frame runs the interpreter's loop (python_frames.h: each lies in that of its own), the Python frames of
// that loop stand in its place; the interpreter's other C frames and mpi4py's are left out.
//
// libgcc's and libunwind's walkers were left out: they follow saved registers wherever those point, and a stack that
// its program has bent must not crash it.
//
// Memory from the arena. Cost: 15 to 20 ns a frame once its rule (frame_rule.h) is known, some microseconds for each
// new stack. Reads only between the wrapper's frame and the end of the thread's stack, and stops at the first frame
// that does not lie above the one before: a stack that was bent ends early, and on a stack that the program switched to
// the call has a site without callers. Without memory it gives the plain site.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arena.h"
#include "mpi/names/addresses.h"
#include "mpi/names/frame_rule.h"
#include "mpi/names/python_sites.h"
#include "mpi/names/sites.h"

namespace cairn::recorder {

/// Appends `address` to `count` addresses and folds: where the last n equal the n before them, they go. Gives the new
/// count. A repetition of more than `kLongestCycle` frames stays.
constexpr size_t kLongestCycle = 16;
size_t push_folded(uintptr_t *addresses, size_t count, uintptr_t address);

class CallStacks {
 public:
  static constexpr size_t kMaxFolded = 512;  ///< what is farther out is left away

  CallStacks(Arena &arena, Modules &modules, SiteTable &plain, PythonSites &python,
             const volatile uint32_t *module_epoch);
  /// The site of a call out of a wrapper whose frame is at `frame_address`. `plain`: its site without callers.
  Site *find(Site *plain, uintptr_t frame_address, const ThreadStack &stack);

 private:
  struct Rule {
    uintptr_t address;
    FrameRule rule;
    bool left_out;  ///< by Python's rules
    [[nodiscard]] bool is_empty() const { return address == 0; }
    [[nodiscard]] uint64_t hash() const;
  };
  struct Known {
    uint64_t value;
    const uintptr_t *addresses;
    size_t count;
    Site *site;
    [[nodiscard]] bool is_empty() const { return addresses == nullptr; }
    [[nodiscard]] uint64_t hash() const { return value; }
  };
  /// Open addressing, at most half full.
  template <typename Entry>
  struct Table {
    Entry *entries = nullptr;
    size_t mask = 0;
    size_t used = 0;
    /// A free place for a new entry; nullptr without memory.
    Entry *room(Arena &arena, uint64_t hash);
    void clear();
  };
  void forget_closed();
  void walk(uintptr_t frame_address, const ThreadStack &stack);
  void add_python(const cpython::Loop &loop);
  Rule rule(uintptr_t address);
  Site *remember(uint64_t hash, Site *plain);
  Site *chain(Site *plain);

  Arena &arena_;
  Modules &modules_;
  SiteTable &plain_;
  PythonSites &python_;
  const volatile uint32_t *module_epoch_;
  uint32_t seen_epoch_;
  Table<Rule> rules_;
  Table<Known> known_;
  size_t count_ = 0;
  uintptr_t folded_[kMaxFolded];  ///< return addresses, and Sites of Python lines with kPythonLine
};

}  // namespace cairn::recorder
