// Messages between ranks whose clocks go wrong after they were compared in MPI_Init (wrong_clock.c, where it is
// preloaded): that of rank 1 early, that of rank 2 later, each by 3 ms. What a line through the comparisons in MPI_Init
// and MPI_Finalize says of them is wrong between these.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  void (*make_wrong)(long ns);
  *(void **)&make_wrong = dlsym(RTLD_DEFAULT, "make_clock_wrong");
  for (int step = 0; step < 200; ++step) {
    if (make_wrong != NULL && ((rank == 1 && step == 20) || (rank == 2 && step == 120))) make_wrong(3000000);
    const struct timespec work = {0, 50000};
    nanosleep(&work, NULL);
    int other = -1;
    if (step % 3 == 0) {
      MPI(MPI_Sendrecv(&rank, 1, MPI_INT, right(), 1, &other, 1, MPI_INT, left(), 1, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    } else {
      MPI_Request requests[2];
      MPI(MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &requests[0]));
      MPI(MPI_Isend(&rank, 1, MPI_INT, right(), step, MPI_COMM_WORLD, &requests[1]));
      MPI_Status statuses[2];
      MPI(MPI_Waitall(2, requests, statuses));
    }
    CHECK(other == left());
    if (step % 10 == 0) MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (step % 25 == 0) MPI(MPI_Bcast(&other, 1, MPI_INT, step % size, MPI_COMM_WORLD));
  }
  return finish();
}
