// Calls to choose from (choices.py): partners, tags, communicators, call sites and callers that differ along time and
// ranks, a receive from any source, one-sided access, and calls that fail with MPI_ERRORS_RETURN set.
#include "check.h"

enum { kSteps = 12 };

static __attribute__((noinline)) void shift(MPI_Comm comm, int by, int tag) {
  int mine = 0;
  int all = 0;
  int in = -1;
  MPI(MPI_Comm_rank(comm, &mine));
  MPI(MPI_Comm_size(comm, &all));
  MPI(MPI_Sendrecv(&mine, 1, MPI_INT, (mine + by) % all, tag, &in, 1, MPI_INT, (mine + all - by) % all, tag, comm,
                   MPI_STATUS_IGNORE));
  CHECK(in == (mine + all - by) % all);
}

static __attribute__((noinline)) void near(MPI_Comm comm, int step) { shift(comm, 1, step); }

static __attribute__((noinline)) void far(MPI_Comm comm, int step) {
  for (int i = 0; i < 2; ++i) shift(comm, 2, 100 + step % 3);
}

/// Ranks other than 0 send to it; it takes what comes first.
static void gather(void) {
  int in = 0;
  if (rank != 0) {
    MPI(MPI_Send(&rank, 1, MPI_INT, 0, rank, MPI_COMM_WORLD));
    return;
  }
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    MPI(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(in == status.MPI_SOURCE && in == status.MPI_TAG);
  }
}

/// The same, with requests; the first is for rank 1, the others are for anyone.
static void gather_later(void) {
  enum { kMost = 8 };
  int in[kMost];
  MPI_Request requests[kMost];
  MPI_Status statuses[kMost];
  CHECK(size <= kMost);
  if (rank != 0) {
    MPI(MPI_Send(&rank, 1, MPI_INT, 0, rank == 1 ? 1 : 50, MPI_COMM_WORLD));
    return;
  }
  for (int i = 1; i < size; ++i) {
    MPI(MPI_Irecv(in + i, 1, MPI_INT, i == 1 ? 1 : MPI_ANY_SOURCE, i == 1 ? 1 : 50, MPI_COMM_WORLD, requests + i));
  }
  MPI(MPI_Waitall(size - 1, requests + 1, statuses + 1));
  for (int i = 1; i < size; ++i) CHECK(in[i] == statuses[i].MPI_SOURCE);
}

/// Each third time, rank 1's messages are longer than the room for them.
static void truncate(void) {
  const int out[2] = {1, 2};
  int in = 0;
  for (int i = 0; i < 6; ++i) {
    if (rank == 1) MPI(MPI_Send(out, i % 3 == 0 ? 2 : 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    if (rank != 0) continue;
    const int code = MPI_Recv(&in, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK((code == MPI_SUCCESS) == (i % 3 != 0));
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI_Comm other = MPI_COMM_NULL;
  MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &other));
  for (int step = 0; step < kSteps; ++step) {
    near(MPI_COMM_WORLD, step);
    far(MPI_COMM_WORLD, step);
    if (step % 4 == 0) near(other, step);
  }
  gather();
  MPI(MPI_Barrier(MPI_COMM_WORLD));  // before messages that others would be taken for
  truncate();
  gather_later();
  int value = rank;
  CHECK(MPI_Send(&value, 1, MPI_INT, size + 10, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
  if (rank == 2) CHECK(MPI_Bcast(&value, 1, MPI_INT, size + 3, MPI_COMM_WORLD) != MPI_SUCCESS);
  int *memory = NULL;
  MPI_Win window;
  MPI(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
  MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, window));
  MPI(MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, window));
  MPI(MPI_Win_unlock(right(), window));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  MPI(MPI_Win_free(&window));
  MPI(MPI_Comm_free(&other));
  return finish();
}
