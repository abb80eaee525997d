// Ranks of several classes, for `cairn ranks`, and phases of known lengths, for `cairn phases`. For 4 ranks.
//
// A start, a loop of 30 steps of which the last third takes longer and each tenth reports, a stretch between loops, a
// loop in which each rank exchanges with its neighbours in a row of ranks, a loop that rank 3 turns 5 times and all
// others 8 times, and an end. In the second loop rank 2 is outside MPI for longer than all others. When each phase
// and each step ended is written into said.RANK, "PHASE END" in seconds of one clock. With a word, instead: rank 0
// sends each other one a message, and receives their answers, 30 of each, both in loops of main().
#include <time.h>
#include <unistd.h>

#include "check.h"

static int out[64], in[64];
static FILE *said;
static double moment;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/// What waiting for others or sleeping took too long is not waited for again.
static void compute(double seconds) {
  moment += seconds;
  while (now() < moment) usleep(200);
}

static void ended(const char *phase) {
  if (moment == 0) moment = now();
  fprintf(said, "%s %.9f\n", phase, now());
}

static void exchange(void) {
  if (rank > 0) {
    MPI(MPI_Sendrecv(out, 8, MPI_INT, rank - 1, 0, in, 8, MPI_INT, rank - 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));  // lower
  }
  if (rank + 1 < size) {
    MPI(MPI_Sendrecv(out, 8, MPI_INT, rank + 1, 0, in, 8, MPI_INT, rank + 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));  // upper
  }
}

int main(int argc, char **argv) {
  char name[32];
  start(&argc, &argv);
  if (argc > 1) {
    int word = 0;
    for (int to = 1; rank == 0 && to < size; ++to) MPI(MPI_Send(&word, 1, MPI_INT, to, 0, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < 30 * (size - 1); ++i) {
      MPI(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    if (rank != 0) MPI(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; rank != 0 && i < 30; ++i) MPI(MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    return finish();
  }
  snprintf(name, sizeof name, "said.%d", rank);
  said = fopen(name, "w");
  CHECK(said != NULL);
  usleep(30000);
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  ended("start");

  for (int step = 0; step < 30; ++step) {
    compute(step < 20 ? 0.003 : 0.006);
    MPI(MPI_Allreduce(out, in, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD));  // step
    if (step % 10 == 9) {
      compute(0.01);
      MPI(MPI_Gather(out, 4, MPI_INT, in, 4, MPI_INT, 0, MPI_COMM_WORLD));  // report
    }
    ended("step");
  }
  ended("steps");

  compute(0.05);
  MPI(MPI_Bcast(out, 32, MPI_INT, 0, MPI_COMM_WORLD));
  ended("stretch");

  for (int turn = 0; turn < 8; ++turn) {
    compute(rank == 2 ? 0.01 : 0.004);
    exchange();
  }
  ended("exchanges");

  for (int turn = 0; turn < (rank == 3 ? 5 : 8); ++turn) {
    compute(0.004);
    MPI(MPI_Barrier(MPI_COMM_SELF));                                  // own
    MPI(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));  // own
  }
  ended("own");

  compute(0.04);
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  ended("end");
  fclose(said);
  return finish();
}
