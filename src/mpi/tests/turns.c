// What `cairn diff` must tell apart: turns FIRST COUNT EXTRA FILE. Rank 0 receives from whom it may be, twice in each
// of five turns, and gets the message of rank FIRST, 1 or 2, first: the other one waits for FILE, which that one makes
// once its message was received. In turn 3 rank 2 sends COUNT numbers, and with EXTRA 1 rank 1 asks for its rank then.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int numbers[64];

static void wait_for(const char *file) {
  const struct timespec time = {0, 1000000};
  while (access(file, F_OK) != 0) nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const int first = atoi(argv[1]);
  for (int turn = 0; turn < 5; ++turn) {
    char file[4096];
    snprintf(file, sizeof file, "%s.%d", argv[4], turn);
    if (rank == 0) {
      for (int i = 0; i < 2; ++i) {
        MPI_Status status;
        MPI(MPI_Recv(numbers, 64, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status));
        CHECK(status.MPI_SOURCE == (i == 0 ? first : 3 - first));
      }
    } else {
      MPI_Request request;
      int done = 0;
      if (rank != first) wait_for(file);
      MPI(MPI_Issend(numbers, turn == 3 && rank == 2 ? atoi(argv[2]) : 4, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
      while (!done) MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
      if (rank == first) fclose(fopen(file, "w"));
    }
    if (turn == 3 && rank == 1 && atoi(argv[3]) != 0) MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
  return finish();
}
