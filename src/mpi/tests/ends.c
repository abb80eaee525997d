// Ranks that end at different times: all but rank 0 are in MPI_Finalize while rank 0 still works.
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  for (int i = 0; i < 5; ++i) {
    int sum;
    usleep(20000);
    MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  }
  if (rank == 0) usleep(900000);
  return MPI_Finalize();
}
