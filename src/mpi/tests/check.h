// What the test programs share: each is a small, deterministic MPI program that checks its own results and says "ok",
// so that it can be run bare and recorded and the two compared.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank = -1;
static int size = 0;

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "%s:%d: rank %d: failed: %s\n", __FILE__, __LINE__, rank, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
    }                                                                                        \
  } while (0)

/// A call that must succeed.
#define MPI(call) CHECK((call) == MPI_SUCCESS)

static inline void who(void) {
  MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
}

static inline void start(int *argc, char ***argv) {
  MPI(MPI_Init(argc, argv));
  who();
}

static inline int finish(void) {
  if (rank == 0) puts("ok");
  fflush(stdout);
  MPI(MPI_Finalize());
  return 0;
}

static inline int left(void) { return (rank + size - 1) % size; }
static inline int right(void) { return (rank + 1) % size; }
