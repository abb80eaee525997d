// Stands in for a recorder of the stand-in MPI library: records what arrives at one function, and gives the test
// program the preload's table through another.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/preload/preload.h"
#include "mpi/preload/preload_test_mpi.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {
const CairnPreload *preload;
Seen seen;
int attached;
long (*next)(WIDE_PARAMETERS);
}  // namespace

EXPORTED int cairn_recorder_attach(const CairnPreload *table) {
  if (getenv("DECLINE") != nullptr) return 1;
  if (getenv("SLOW") != nullptr) usleep(50000);  // so that others get to wait
  preload = table;
  ++attached;
  next = reinterpret_cast<long (*)(WIDE_PARAMETERS)>(dlsym(table->mpi_handle, "PMPI_Alltoallw"));
  return next == nullptr || table->version != kCairnPreloadVersion ? 1 : 0;
}

EXPORTED long MPI_Alltoallw(WIDE_PARAMETERS) {
  const long whole[13] = {a, b, c, d, e, f, g, h, i, j, k, l, m};
  const double broken[10] = {p, q, r, s, t, u, v, w, x, y};
  memcpy(seen.whole, whole, sizeof whole);
  memcpy(seen.broken, broken, sizeof broken);
  seen.return_address = __builtin_return_address(0);
  CairnFortranEntry *entry = preload->fortran_entry();
  seen.fortran_site = entry->return_address;
  seen.fortran_stack = entry->stack;
  seen.fortran_function = entry->function;
  seen.fortran_unanswered = entry->unanswered;
  entry->stack = 0;
  seen.by = attached == 1 ? preload->mpi_soname : "attached more than once";
  return next(a, p, b, q, c, r, d, s, e, t, f, u, g, v, h, w, i, x, j, y, k, l, m);
}

namespace {
int (*wrapped)();
int wrapper() { return 100 + wrapped(); }
}  // namespace

EXPORTED void *cairn_recorder_wrap_fortran(const char *name, uint32_t function, void *real) {
  if (strcmp(name, "mpi_aint_diff_") != 0 || function != 14) return nullptr;
  wrapped = reinterpret_cast<int (*)()>(real);
  return reinterpret_cast<void *>(wrapper);
}

EXPORTED int MPI_Get_processor_name(Seen **result) {
  *result = &seen;
  return 0;
}

/// Not a function of the library: the test program's way to the table.
EXPORTED const CairnPreload *MPI_Get_version() { return preload; }
