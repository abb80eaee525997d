// Barriers before which rank 0 sleeps longer than the others: whose times are told on one axis, no rank leaves one
// before all have come.
#include <time.h>

#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  for (int step = 0; step < 5; ++step) {
    const struct timespec work = {0, rank == 0 ? 20000000 : 5000000};
    nanosleep(&work, NULL);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
  return finish();
}
