// What libcairn.so, the preloaded library, and a recorder know of each other.
//
// libcairn.so holds no C++ runtime, prints nothing and links nothing but libc. It exports the MPI_ functions as
// trampolines, malloc and its family, and the functions that make and join threads. On the first MPI call it finds the
// MPI library through the *calling object* (so that an MPI that was loaded with RTLD_LOCAL works), opens the recorder
// that was built for that library's soname, hands over this table, and from then on every trampoline jumps straight
// into the recorder's wrapper (or into the real function where there is no recorder), leaving the return address as it
// was.
//
// It is a library of its own, and not the recorder, since every process of the command loads it: shells, launchers and
// programs without MPI pay for a few pages. And which MPI a program uses is only known when it calls one: a recorder is
// built against one mpi.h, whose handles and constants differ from another's.
//
// It also exports the names of MPI's Fortran bindings. Those trampolines only note where they were called from and jump
// to the binding's own code. A binding calls the C function, by its MPI_ or its PMPI_ name: there it is recorded, at
// the program's line. For this PMPI_ functions have trampolines, too, which let everything else through to the MPI
// library.
//
// And it exports where a thread stands among its MPI calls, for other libraries of ours (base/mpi_place.h).
//
// Environment: CAIRN_RECORDERS (folder of the recorders; default: recorders/ beside libcairn.so), CAIRN_OFF (pass
// through), CAIRN_SPOOL (folder where `unrecorded.<pid>` says why a process that called MPI isn't recorded),
// CAIRN_OUTPUT (allocations are tracked only where it is set).
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

struct CairnAllocation {
  uintptr_t start;
  size_t size;
};

/// The Fortran function that a thread called last. Nothing is written here when it returns: whoever reads it must know
/// from the stack address whether it can still be running.
struct CairnFortranEntry {
  const void *return_address;  ///< in the program
  uintptr_t stack;             ///< pointer on entry; 0: none, or already answered for (the recorder clears it)
  uint32_t function;           ///< id in spec/, and kCairnJumps
  uint32_t unanswered;         ///< entries that the next one found still waiting: calls that nobody has seen
  const void *status;          ///< if the function gives statuses: where the program wants them
};

/// In CairnFortranEntry::function: the C function may be entered by a jump, as if the program had called it
/// (MPI_Wtime). Nothing tells then that the entry has been answered.
static const uint32_t kCairnJumps = 0x80000000;

/// Numbers of threads are below this; who has none has kCairnNoNumber.
enum { kCairnThreadNumbers = 4096 };
static const uint32_t kCairnNoNumber = UINT32_MAX;

/// What a recorder wants to know of the program's threads. Called without any lock, never in a forked child.
struct CairnThreads {
  /// Whether what the calling thread is about to make is a thread of the program, and not of its MPI library or of the
  /// recorder. Others get no number.
  bool (*is_the_programs)(void);
  /// The calling thread is about to make the one of that number; it came to nothing.
  void (*made)(uint32_t number);
  void (*not_made)(uint32_t number);
  /// The calling thread has waited for its end.
  void (*joined)(uint32_t number);
  /// The calling thread ends.
  void (*ends)(void);
};

struct CairnPreload {
  uint32_t version;  ///< kCairnPreloadVersion
  void *mpi_handle;  ///< dlopen handle through which PMPI_ functions are found; stays open
  const char *mpi_soname;
  /// The live heap allocation that contains `address`; false if none does. Marks it as tracked: when it is freed or
  /// given to realloc, `forget` is called with its start (from that thread, before the memory is given back) and *epoch
  /// grows. Takes no lock and allocates nothing.
  bool (*find_allocation)(uintptr_t address, struct CairnAllocation *found);
  /// Set by the recorder (AddressSpace does). Never called in a forked child.
  void (**forget)(uintptr_t start);
  /// Grows whenever a tracked allocation is freed or moved, watched memory is unmapped, a module is closed, or tracking
  /// switches itself off: raw addresses remembered before are then worth nothing.
  volatile uint32_t *epoch;
  /// Grows when dlclose unloaded something: module and call-site caches are void.
  volatile uint32_t *module_epoch;
  /// Grows, besides *epoch, when watched memory is unmapped.
  volatile uint32_t *mapping_epoch;
  /// Makes *epoch and *mapping_epoch grow when munmap or mremap takes any of [low, high) away. Never undone.
  void (*watch)(uintptr_t low, uintptr_t high);
  /// Of the calling thread; never nullptr.
  struct CairnFortranEntry *(*fortran_entry)(void);
  /// Of the calling thread, whose end is told from then on. One that has no number yet gets the lowest that is free, if
  /// there is one.
  uint32_t (*thread_number)(void);
  /// Set by the recorder.
  struct CairnThreads **threads;
  /// Set by the recorder: the process is about to end by _exit or the like, or to become another program by exec;
  /// false: that came to nothing. Called from wherever the program may call those: it takes no lock and allocates
  /// nothing.
  void (**leaves)(bool ends);
  /// Set by the recorder: the process is about to become another user, or a member of other groups; false: it has not.
  void (**changes_user)(bool changes);
  /// Where a call of that MPI function goes without Cairn; nullptr: nowhere.
  void *(*next)(const char *name);
  /// What the process was given of a CAIRN_ variable when it began, or the program has set it to since.
  const char *(*setting)(const char *name);
  /// Around requests to the dynamic linker once it is attached: the program's dlerror gives what it would without them.
  void (*keep_dl_error)(void);
  void (*restore_dl_error)(void);
  /// MPI calls that came before the process had begun, and went to the library.
  const volatile uint32_t *too_early;
};

enum { kCairnPreloadVersion = 6 };

/// A recorder exports wrappers by the names of the MPI_ functions. Where it exports CAIRN_ANSWER_PREFIX "MPI_name",
/// too, a PMPI_name that answers an entry leads there.
#define CAIRN_ANSWER_PREFIX "cairn_answer_"

/// Exported by a recorder. 0 if it will record, else wrappers pass through. Called once, before any wrapper.
typedef int (*CairnAttach)(const struct CairnPreload *preload);
#define CAIRN_ATTACH_SYMBOL "cairn_recorder_attach"

/// May be exported by a recorder: what to call in place of the Fortran entry `name` of `function`, whose own code is
/// `real`, because its binding does not call that C function; nullptr: nothing. Once a name, after it was attached.
typedef void *(*CairnWrapFortran)(const char *name, uint32_t function, void *real);
#define CAIRN_WRAP_FORTRAN_SYMBOL "cairn_recorder_wrap_fortran"
}
