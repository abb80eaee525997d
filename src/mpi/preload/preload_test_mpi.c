// Stands in for an MPI library. What its functions take differs from MPI on purpose: the trampolines must not care.
#include "mpi/preload/preload_test_mpi.h"

#include <errno.h>
#include <string.h>

#ifdef SERIAL  // a stub library without a profiling interface
#define BOTH(type, name, parameters) __attribute__((visibility("default"))) type name parameters
#else
#define BOTH(type, name, parameters)                                             \
  type P##name parameters;                                                       \
  __attribute__((alias("P" #name), visibility("default"))) type name parameters; \
  __attribute__((visibility("default"))) type P##name parameters
#endif

static struct Seen seen;
static int calls;

BOTH(int, MPI_Init, (void)) { return 0; }

BOTH(long, MPI_Alltoallw, (WIDE_PARAMETERS)) {
  const long whole[13] = {a, b, c, d, e, f, g, h, i, j, k, l, m};
  const double broken[10] = {p, q, r, s, t, u, v, w, x, y};
  memcpy(seen.whole, whole, sizeof whole);
  memcpy(seen.broken, broken, sizeof broken);
  seen.return_address = __builtin_return_address(0);
  seen.by = "library";
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  return 4711;
}

__attribute__((visibility("default"))) long mpi_alltoallw_(WIDE_PARAMETERS) {
  errno = 78;
  return MPI_Alltoallw(a, p, b, q, c, r, d, s, e, t, f, u, g, v, h, w, i, x, j, y, k, l, m) + 1;
}

#ifndef SERIAL
__attribute__((visibility("default"))) long pmpi_alltoallw_(WIDE_PARAMETERS) {
  return PMPI_Alltoallw(a, p, b, q, c, r, d, s, e, t, f, u, g, v, h, w, i, x, j, y, k, l, m) + 1;
}
#endif

__attribute__((visibility("default"))) int mpi_aint_diff_(void) { return 5; }
__attribute__((visibility("default"))) int mpi_barrier_(void) { return 6; }

BOTH(double, MPI_Wtime, (void)) { return 2.5; }

BOTH(double, MPI_Pcontrol, (int count, ...)) {
  va_list rest;
  double sum = 0;
  va_start(rest, count);
  while (count-- > 0) sum += va_arg(rest, double);
  va_end(rest);
  return sum;
}

BOTH(int, MPI_Get_processor_name, (struct Seen * *result)) {
  *result = &seen;
  return 0;
}

BOTH(int, MPI_Finalize, (void)) { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }

BOTH(int, MPI_Get_version, (void)) { return 0; }
