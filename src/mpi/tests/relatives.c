// Jobs that share communicators with those that spawned them (Open MPI): messages both ways, from anybody, blocking and
// not; an intercommunicator, a duplicate of it, what becomes of merging and splitting it; one of a spawned job's
// processes spawns another job; and one is late by a known time. Each process prints what it received:
// "got SENDER RECEIVER TAG BYTES", by the numbers that processes have where all jobs count on. Elsewhere nothing but a
// barrier.
#include <unistd.h>

#include "check.h"

#ifdef OPEN_MPI

enum { kLateMs = 200 };

static int self;  // this process's number among those of all jobs
static char said[1 << 14];
static size_t used;

/// A message of as many ints as its tag says, the first of which is the sender's number.
static void fill(int *values, int tag) {
  for (int i = 0; i < tag; ++i) values[i] = self;
}

static void got(const int *values, const MPI_Status *status) {
  int count = 0;
  MPI(MPI_Get_count(status, MPI_INT, &count));
  CHECK(count == status->MPI_TAG);
  used += (size_t)snprintf(said + used, sizeof said - used, "got %d %d %d %d\n", values[0], self, status->MPI_TAG,
                           count * (int)sizeof(int));
}

static void tell(MPI_Comm comm, int to, int tag) {
  int values[64];
  fill(values, tag);
  MPI(MPI_Send(values, tag, MPI_INT, to, tag, comm));
}

static void hear(MPI_Comm comm, int from, int tag) {
  int values[64];
  MPI_Status status;
  MPI(MPI_Recv(values, 64, MPI_INT, from, tag, comm, &status));
  got(values, &status);
}

/// In what both sides are in, whichever this is: a ring, and an operation.
static void together(MPI_Comm comm, int tag) {
  int place = -1;
  int processes = 0;
  MPI(MPI_Comm_rank(comm, &place));
  MPI(MPI_Comm_size(comm, &processes));
  int mine[64];
  int theirs[64];
  MPI_Status status;
  fill(mine, tag);
  MPI(MPI_Sendrecv(mine, tag, MPI_INT, (place + 1) % processes, tag, theirs, 64, MPI_INT,
                   (place + processes - 1) % processes, tag, comm, &status));
  got(theirs, &status);
  int sum = 0;
  MPI(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK(sum == processes * (processes - 1) / 2);
}

/// An intercommunicator of the same two groups, which each side makes of its own: no call tells who is on the other. So
/// what passes there is left out of what is said of messages.
static void meet(MPI_Comm own, MPI_Comm all, int high) {
  int size = 0;
  int place = 0;
  int others = 0;
  MPI_Comm between;
  MPI(MPI_Comm_size(own, &size));
  MPI(MPI_Comm_rank(own, &place));
  MPI(MPI_Intercomm_create(own, 0, all, high ? 0 : size, 31, &between));
  MPI(MPI_Comm_remote_size(between, &others));
  // The first of one side and the last of the other, so that places in the two groups differ.
  const int own_end = high ? size - 1 : 0;
  const int other_end = high ? 0 : others - 1;
  int out = 1;
  int in = 0;
  if (place == own_end) {
    MPI(MPI_Sendrecv(&out, 1, MPI_INT, other_end, 32, &in, 1, MPI_INT, other_end, 32, between, MPI_STATUS_IGNORE));
    CHECK(in == 1);
  }
  MPI(MPI_Comm_free(&between));
}

/// What both sides of an intercommunicator make of it. `high`: this is the side that was spawned; `own`: its processes.
static void relate(MPI_Comm inter, MPI_Comm own, int high) {
  MPI_Comm again;
  MPI_Comm all;
  MPI_Comm part;
  MPI(MPI_Comm_dup(inter, &again));
  MPI(MPI_Barrier(again));
  int remote = 0;
  MPI(MPI_Comm_remote_size(again, &remote));
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < remote; ++i) {
      if (turn == high) {
        tell(again, i, 9);
      } else {
        hear(again, MPI_ANY_SOURCE, 9);
      }
    }
  }
  MPI(MPI_Intercomm_merge(inter, high, &all));
  together(all, 7);
  int place = -1;
  MPI(MPI_Comm_rank(all, &place));
  MPI(MPI_Comm_split(all, place % 2, -place, &part));
  together(part, 8);
  MPI(MPI_Comm_free(&part));
  meet(own, all, high);
  MPI(MPI_Comm_free(&all));
  MPI(MPI_Comm_free(&again));
}

static void spawn(char *program, MPI_Comm over, int processes, const char *first, MPI_Comm *inter) {
  char number[16];
  snprintf(number, sizeof number, "%s", first);
  char *words[] = {number, NULL};
  MPI(MPI_Comm_spawn(program, words, processes, MPI_INFO_NULL, 0, over, inter, MPI_ERRCODES_IGNORE));
}

static void parents(char *program) {
  const char *const first[] = {"2", "4"};
  for (int job = 0; job < 2; ++job) {
    MPI_Comm inter;
    spawn(program, MPI_COMM_WORLD, 2, first[job], &inter);
    for (int child = 0; child < 2; ++child) tell(inter, child, 11 + job);
    int answers[2][64];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 2; ++i) MPI(MPI_Irecv(answers[i], 64, MPI_INT, i, MPI_ANY_TAG, inter, &requests[i]));
    MPI(MPI_Waitall(2, requests, statuses));
    for (int i = 0; i < 2; ++i) got(answers[i], &statuses[i]);
    relate(inter, MPI_COMM_WORLD, 0);
    MPI(MPI_Comm_disconnect(&inter));
  }
}

static void children(char *program, MPI_Comm parent) {
  const int job = self < 4 ? 0 : 1;
  for (int i = 0; i < 2; ++i) hear(parent, MPI_ANY_SOURCE, 11 + job);
  if (self == 2) usleep(kLateMs * 1000);
  for (int to = 0; to < 2; ++to) tell(parent, to, 13 + to);
  relate(parent, MPI_COMM_WORLD, 1);
  if (self == 3) {
    MPI_Comm inter;
    spawn(program, MPI_COMM_SELF, 1, "6", &inter);
    tell(inter, 0, 21);
    hear(inter, 0, 22);
    relate(inter, MPI_COMM_SELF, 0);
    MPI(MPI_Comm_disconnect(&inter));
  }
  MPI(MPI_Comm_disconnect(&parent));
}

static void grandchild(MPI_Comm parent) {
  hear(parent, 0, 21);
  tell(parent, 0, 22);
  relate(parent, MPI_COMM_WORLD, 1);
  MPI(MPI_Comm_disconnect(&parent));
}

#endif

int main(int argc, char **argv) {
  start(&argc, &argv);
#ifdef OPEN_MPI
  MPI_Comm parent;
  MPI(MPI_Comm_get_parent(&parent));
  self = rank + (argc > 1 ? atoi(argv[1]) : 0);
  if (parent == MPI_COMM_NULL) {
    parents(argv[0]);
  } else if (self < 6) {
    children(argv[0], parent);
  } else {
    grandchild(parent);
  }
  fputs(said, stdout);
  fflush(stdout);
  if (parent != MPI_COMM_NULL) {
    MPI(MPI_Finalize());
    return 0;
  }
#else
  MPI(MPI_Barrier(MPI_COMM_WORLD));
#endif
  return finish();
}
