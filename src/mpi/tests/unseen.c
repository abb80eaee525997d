// A program whose beginning the recorder does not see, as with a binding that it has no wrappers for: MPI_Init is
// called by its PMPI_ name. Every call has another tag, so that memory fills.
//
//     unseen STEPS [unfinished]
//
// unfinished: MPI_Finalize is called by its PMPI_ name as well.
#include <stdint.h>

#include "check.h"

int main(int argc, char **argv) {
  MPI(PMPI_Init(&argc, &argv));
  MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MPI(PMPI_Comm_size(MPI_COMM_WORLD, &size));
  const long steps = argc > 1 ? atol(argv[1]) : 100;
  uint32_t random = 1;
  int value = rank;
  for (long i = 0; i < steps; ++i) {
    random = random * 1664525 + 1013904223;
    const int tag = (int)(random >> 17);
    MPI(MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), tag, left(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  if (rank == 0) puts("ok");
  fflush(stdout);
  MPI(argc > 2 ? PMPI_Finalize() : MPI_Finalize());
  return 0;
}
