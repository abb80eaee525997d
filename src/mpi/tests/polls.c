// Waiting by polling: until something is there, which takes another number of calls each time and on each rank.
// With an argument only what all ranks do alike but for those numbers.
#include "check.h"

static unsigned state;

static int below(int limit) {
  state = state * 1103515245u + 12345u;
  return (int)(state >> 16) % limit;
}

static void pause_sometimes(void) {
  volatile double x = 0;
  if (below(3) == 0) {
    for (int i = 0; i < below(20000); ++i) x += i;
  }
}

/// One request after the other.
static void one_by_one(int step) {
  int in = -1, out = 100 * step + rank, flag = 0;
  const int left = (rank + size - 1) % size;
  MPI_Request requests[2];
  MPI(MPI_Irecv(&in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]));
  pause_sometimes();
  MPI(MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]));
  while (!flag) MPI(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
  for (flag = 0; !flag;) MPI(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
  CHECK(in == 100 * step + left);
}

/// A progress loop over several things at once, which end in any order.
static void progress_loop(void) {
  int in[2] = {-1, -1}, out = rank, done[2] = {0, 0}, probed = 0, index = -1, count = 0, indices[2];
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Request requests[2];
  MPI_Status status, found;
  for (int i = 0; i < 2; ++i) MPI(MPI_Irecv(&in[i], 1, MPI_INT, left, 2 + i, MPI_COMM_WORLD, &requests[i]));
  pause_sometimes();
  for (int i = 0; i < 3; ++i) MPI(MPI_Send(&out, 1, MPI_INT, right, 4 - i, MPI_COMM_WORLD));
  while (!done[0] || !done[1] || !probed) {
    for (int i = 0; i < 2; ++i) {
      if (!done[i]) MPI(MPI_Test(&requests[i], &done[i], &status));
    }
    if (!probed) MPI(MPI_Iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &probed, &found));
  }
  CHECK(found.MPI_SOURCE == left && in[0] == left && in[1] == left);
  MPI(MPI_Recv(&in[0], 1, MPI_INT, found.MPI_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(in[0] == left);

  for (int i = 0; i < 2; ++i) MPI(MPI_Irecv(&in[i], 1, MPI_INT, left, 5 + i, MPI_COMM_WORLD, &requests[i]));
  for (int i = 0; i < 2; ++i) MPI(MPI_Send(&out, 1, MPI_INT, right, 5 + i, MPI_COMM_WORLD));
  int flag = 0;
  while (!flag) MPI(MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE));
  while (count != 1) MPI(MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
  CHECK(index != indices[0]);
  MPI(MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
  CHECK(count == MPI_UNDEFINED);
  MPI(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
  CHECK(flag);
}

/// Polls that end because the program stops asking.
static void in_vain(int times) {
  int flag = 0;
  for (int i = 0; i < times; ++i) MPI(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  state = (unsigned)rank * 7919u + 1u;
  for (int step = 0; step < 40; ++step) {
    one_by_one(step);
    if (argc < 2 && step % 4 == 0) progress_loop();
    in_vain(1 + below(4));
  }
  in_vain(1000 + rank);
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
}
