// The same calls from many call paths: recursion, loops in loops, changing trip counts, calls through a pointer.
#include "check.h"

static int total = 0;

static void down(int depth) {
  int value = depth;
  int sum = 0;
  MPI(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == depth * size);
  if (depth > 0) {
    down(depth - 1);
    if (depth % 3 == 0) down(depth - 2);
  }
  ++total;
}

static int by_barrier(MPI_Comm comm) { return MPI_Barrier(comm); }
static int by_size(MPI_Comm comm) {
  int members = 0;
  return MPI_Comm_size(comm, &members);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  for (int outer = 0; outer < 10; ++outer) {
    for (int inner = 0; inner <= outer % 4; ++inner) {
      int out = 10 * outer + inner;
      int in = -1;
      MPI(MPI_Sendrecv(&out, 1, MPI_INT, right(), outer, &in, 1, MPI_INT, left(), outer, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
      CHECK(in == out);
    }
    if (outer % 3 == 2) MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
  down(8);
  int (*const calls[])(MPI_Comm) = {by_barrier, by_size, MPI_Barrier};
  for (int i = 0; i < 300; ++i) MPI(calls[i % 3](MPI_COMM_WORLD));
  // Values that grow, and messages of changing length.
  static char room[2000];
  for (int i = 0; i < 40; ++i) {
    MPI_Status status;
    int count = 0;
    MPI(MPI_Sendrecv(room, 10 + 7 * i, MPI_CHAR, right(), i, room + 1000, 1000, MPI_CHAR, left(), MPI_ANY_TAG,
                     MPI_COMM_WORLD, &status));
    MPI(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK(count == 10 + 7 * i && status.MPI_TAG == i);
  }
  CHECK(total > 8);
  return finish();
}
