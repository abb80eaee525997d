// What the stand-in MPI library, its stand-in recorder and the test program share.
#pragma once

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What arrived at the callee.
struct Seen {
  long whole[13];
  double broken[10];
  void *return_address;
  const char *by;
  // The preload's note, as it was then.
  const void *fortran_site;
  unsigned long fortran_stack;
  unsigned fortran_function;
  unsigned fortran_unanswered;
};

// More of each kind than there are registers.
#define WIDE_PARAMETERS                                                                                               \
  long a, double p, long b, double q, long c, double r, long d, double s, long e, double t, long f, double u, long g, \
      double v, long h, double w, long i, double x, long j, double y, long k, long l, long m

int MPI_Init(void);
long MPI_Alltoallw(WIDE_PARAMETERS);
/// The binding's entry of MPI_Alltoallw: calls it with what it got.
long mpi_alltoallw_(WIDE_PARAMETERS);
/// Another, which calls PMPI_Alltoallw.
long pmpi_alltoallw_(WIDE_PARAMETERS);
/// One that the recorder has a wrapper for, and one that calls no C function.
int mpi_aint_diff_(void);
int mpi_barrier_(void);
long PMPI_Alltoallw(WIDE_PARAMETERS);
double MPI_Wtime(void);
double MPI_Pcontrol(int count, ...);
/// The library's record of what arrived, or the recorder's.
int MPI_Get_processor_name(struct Seen **result);
/// How often MPI_Alltoallw of the library was called.
int MPI_Finalize(void);

#ifdef __cplusplus
}
#endif
