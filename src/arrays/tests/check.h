// What the PnetCDF clients share: each is a small, deterministic program that checks every value it reads and says what
// it did, so that it can be run bare and with the layer between PnetCDF and its file, and the two compared.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>
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

/// A PnetCDF call that must end with this code.
#define ENDS(call, wanted)                                                                                        \
  do {                                                                                                            \
    const int code_ = (call);                                                                                     \
    if (code_ != (wanted)) {                                                                                      \
      fprintf(stderr, "%s:%d: rank %d: %s: %s, not %s\n", __FILE__, __LINE__, rank, #call, ncmpi_strerrno(code_), \
              ncmpi_strerrno(wanted));                                                                            \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                               \
    }                                                                                                             \
  } while (0)

/// A PnetCDF call that must succeed.
#define NC(call) ENDS(call, NC_NOERR)

/// A value that was read and the one that was written there.
#define SAME(got, wanted, what, place)                                                                  \
  do {                                                                                                  \
    const double got_ = (double)(got), wanted_ = (double)(wanted);                                      \
    if (got_ != wanted_) {                                                                              \
      fprintf(stderr, "%s:%d: rank %d: %s[%lld] is %.17g, not %.17g\n", __FILE__, __LINE__, rank, what, \
              (long long)(place), got_, wanted_);                                                       \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                     \
    }                                                                                                   \
  } while (0)

static inline void start(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline int finish(void) {
  if (rank == 0) puts("ok");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}

/// Whether the program was given this word.
static inline int told(int argc, char **argv, const char *word) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], word) == 0) return 1;
  }
  return 0;
}

static inline int create(const char *path, int mode) {
  int file = -1;
  NC(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, MPI_INFO_NULL, &file));
  return file;
}

static inline int reopen(const char *path, int mode) {
  int file = -1;
  NC(ncmpi_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
  return file;
}

static inline int dimension(int file, const char *name, MPI_Offset length) {
  int id = -1;
  NC(ncmpi_def_dim(file, name, length, &id));
  return id;
}

static inline int variable(int file, const char *name, nc_type type, int dims, const int *ids) {
  int id = -1;
  NC(ncmpi_def_var(file, name, type, dims, ids, &id));
  return id;
}

/// What this rank wrote can be read by all.
static inline void settle(int file) {
  NC(ncmpi_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Says how many bytes the ranks moved, as PnetCDF counted them from the statuses of its writes and reads.
static inline void close_and_tell(int file, const char *name) {
  MPI_Offset moved[2], all[2];
  NC(ncmpi_inq_put_size(file, &moved[0]));
  NC(ncmpi_inq_get_size(file, &moved[1]));
  MPI_Reduce(moved, all, 2, MPI_OFFSET, MPI_SUM, 0, MPI_COMM_WORLD);
  NC(ncmpi_close(file));
  if (rank == 0) printf("%s: put %lld, got %lld\n", name, (long long)all[0], (long long)all[1]);
}

/// A pseudo-random number that depends on what is asked for only (splitmix64).
static inline unsigned long long mixed(unsigned long long place) {
  place += 0x9e3779b97f4a7c15ULL;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9ULL;
  place = (place ^ (place >> 27)) * 0x94d049bb133111ebULL;
  return place ^ (place >> 31);
}
