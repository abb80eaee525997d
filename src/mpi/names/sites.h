// Modules and call sites: return addresses become (module, offset).
//
// `Modules` lists the loaded objects (executable first, then in order of first need) with build-ids; process-wide, a
// lock on the slow path (some microseconds). `SiteTable` is one a thread: it maps return addresses to Sites without
// locks in two nanoseconds and is dropped when a module was closed (module_epoch). Memory from the arena; Modules and
// Sites live for ever: an object that is closed and opened again, at whatever address, is the same module. Functions of
// scripts are numbered apart from modules, so that static addresses have the same modules on all ranks whichever
// function calls first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arena.h"

namespace cairn::recorder {

/// Objects through which programs in other languages call MPI: their calls are the program's, which made them
/// elsewhere.
enum class Binding : uint8_t {
  none,
  fortran,  ///< call/fortran_sites.h
  python,   ///< mpi4py; python_sites.h
};

struct ModuleInfo {
  uintptr_t low;  ///< mapped range
  uintptr_t high;
  uintptr_t load_base;  ///< subtract it from an address to get the offset in the file image
  bool internal;  ///< belongs to the MPI library (libmpi, ROMIO, its plugins, but not its Fortran or C++ bindings) or
                  ///< to this recorder: its calls aren't the program's
  Binding binding;
  uint8_t build_id[32];
  uint8_t build_id_size;  ///< 0 for anonymous code
  const char *path;       ///< in the arena; "" for anonymous code
};

/// Site::module of the pseudo-sites that stand for functions when call sites are off.
constexpr uint32_t kNoModule = UINT32_MAX;

/// A function whose text an interpreter executes. Lines of it are call sites like addresses of a module.
struct ScriptFunction {
  const char *file;  ///< both in the arena
  const char *name;
  uint64_t hash;
};

/// Site::module of a line in script function n is kScripts + n.
constexpr uint32_t kScripts = uint32_t{1} << 31;

/// A call site, unique in the process for (module, offset, caller).
struct Site {
  uint32_t id;  ///< dense, in order of first sight in the process
  uint32_t module;
  uint64_t offset;  ///< of the return address; or the line
  bool internal;
  Binding binding = Binding::none;
  Site *caller = nullptr;  ///< where its function was called; nullptr: nothing is known (call_stack.h)
};

class Modules {
 public:
  /// `mpi_function`: any address inside the MPI library.
  Modules(Arena &arena, const void *mpi_function);
  /// See preload.h. Until it is known, which an AddressSpace sees to, every look-up asks the dynamic linker.
  void use_epoch(const volatile uint32_t *module_epoch);
  /// Number of the module that holds `address`, listing it if new; code outside all loaded objects (JIT) is a module of
  /// its own. -1 if nothing is mapped there, or if there is no memory for it. Never forgets a module.
  int find(uintptr_t address);
  /// As `find`, but loaded objects only: what holds statics.
  int find_object(uintptr_t address);
  /// The module among those already listed, in a few nanoseconds; else -1.
  int find_listed(uintptr_t address);
  /// The same without asking whether any was closed since: for who reads the table from outside.
  [[nodiscard]] int listed_at(uintptr_t address) const;
  [[nodiscard]] int count() const;
  /// `low`, `high` and `load_base` change when an object is opened again elsewhere.
  [[nodiscard]] const ModuleInfo &operator[](int number) const;
  /// The site of a return address, in a function that was called at `caller` if that is kept; nullptr only when there
  /// is no memory (or no such code).
  Site *site(uintptr_t return_address, Site *caller = nullptr);
  /// The site of a line in a function of a script; nullptr without memory, or if there are too many functions.
  Site *script_site(const char *file, const char *function, uint64_t line);
  /// A script's site with another caller; nullptr without memory.
  Site *script_site(const Site &site, Site *caller);
  [[nodiscard]] uint32_t script_count() const;
  [[nodiscard]] const ScriptFunction &script(uint32_t number) const;

 private:
  struct State;
  State *state_;  ///< nullptr without memory: nothing is found then
};

class SiteTable {
 public:
  SiteTable(Arena &arena, Modules &modules, const volatile uint32_t *module_epoch);
  /// nullptr only when there is no memory.
  Site *find(uintptr_t return_address) {
    if (*module_epoch_ == seen_epoch_ && entries_ != nullptr) [[likely]] {
      for (size_t i = slot(return_address);; i = (i + 1) & mask_) {
        if (entries_[i].address == return_address) [[likely]]
          return entries_[i].site;
        if (entries_[i].address == 0) break;
      }
    }
    return find_slowly(return_address);
  }

 private:
  struct Entry {
    uintptr_t address;
    Site *site;
  };
  [[nodiscard]] size_t slot(uintptr_t address) const { return (address * 0x9e3779b97f4a7c15U >> 32) & mask_; }
  Site *find_slowly(uintptr_t return_address);
  bool grow();

  Entry *entries_ = nullptr;
  size_t mask_ = 0;
  size_t used_ = 0;
  uint32_t seen_epoch_;
  const volatile uint32_t *module_epoch_;
  Arena &arena_;
  Modules &modules_;
};

}  // namespace cairn::recorder
