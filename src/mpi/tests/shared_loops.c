// Loops of hundreds of turns, as a program's ranks share them: alike on all ranks, begun in another way on one, two
// turns at once on another, with messages under way from one turn to the next; and loops whose turns differ, or that
// the others do not share. Some make a fault each turn, marked "// fault NAME TIMES". For shared_loops.py.
#include "check.h"

enum { kTurns = 240, kCount = 8 };

static int from, to;
static MPI_Comm comm;

static void exchange(int *out, int *in, int tag) {
  MPI_Request request;
  MPI(MPI_Irecv(in, kCount, MPI_INT, from, tag, comm, &request));
  MPI(MPI_Send(out, kCount, MPI_INT, to, tag, comm));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void alike(void) {
  int out[2][kCount] = {{0}}, in[2][kCount], sum;
  for (int turn = 0; turn < kTurns; ++turn) {
    exchange(out[turn % 2], in[turn % 2], 1);
    MPI(MPI_Allreduce(&turn, &sum, 1, MPI_INT, MPI_SUM, comm));
  }
}

// The first turn of rank 0 is made elsewhere, and rank 1 makes two at once.
static void in_other_words(void) {
  int out[kCount] = {0}, in[kCount];
  int turn = 0;
  if (rank == 0) {
    exchange(out, in, 2);
    ++turn;
  }
  while (turn < kTurns) {
    MPI(MPI_Sendrecv(out, kCount, MPI_INT, to, 2, in, kCount, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE));
    ++turn;
    if (rank != 1) continue;
    MPI(MPI_Sendrecv(out, kCount, MPI_INT, to, 2, in, kCount, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE));
    ++turn;
  }
}

// What one turn receives was sent in the turn before; by a receive from anybody, or of any tag, in each second loop.
static void late(void) {
  int out[kCount] = {0}, in[kCount];
  for (int loop = 0; loop < 4; ++loop) {
    MPI_Status status;
    const int any_source = loop % 2 == 0 ? from : MPI_ANY_SOURCE, any_tag = loop / 2 == 0 ? 3 : MPI_ANY_TAG;
    MPI(MPI_Send(out, kCount, MPI_INT, to, 3, comm));
    for (int turn = 0; turn < kTurns; ++turn) {
      MPI(MPI_Send(out, kCount, MPI_INT, to, 3, comm));
      MPI(MPI_Recv(in, kCount, MPI_INT, any_source, any_tag, comm, &status));
    }
    MPI(MPI_Recv(in, kCount, MPI_INT, from, 3, comm, &status));
  }
}

static void persistent(void) {
  int out[kCount] = {0}, in[kCount];
  MPI_Request requests[2];
  MPI(MPI_Send_init(out, kCount, MPI_INT, to, 4, comm, &requests[0]));
  MPI(MPI_Recv_init(in, kCount, MPI_INT, from, 4, comm, &requests[1]));
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI(MPI_Startall(2, requests));
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  MPI(MPI_Request_free(&requests[0]));
  MPI(MPI_Request_free(&requests[1]));
}

// However often it takes.
static void polled(void) {
  int out[kCount] = {0}, in[kCount];
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request request;
    int done = 0, there = 0;
    MPI(MPI_Irecv(in, kCount, MPI_INT, from, 12, comm, &request));
    MPI(MPI_Send(out, kCount, MPI_INT, to, 12, comm));
    while (!done) MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    MPI(MPI_Send(out, kCount, MPI_INT, to, 13, comm));
    while (!there) MPI(MPI_Iprobe(from, 13, comm, &there, MPI_STATUS_IGNORE));
    MPI(MPI_Recv(in, kCount, MPI_INT, from, 13, comm, MPI_STATUS_IGNORE));
  }
}

// A loop in a loop, and a root that goes round.
static void nested(void) {
  int out[kCount] = {0}, in[kCount];
  for (int turn = 0; turn < 20; ++turn) {
    for (int inner = 0; inner < 30; ++inner) exchange(out, in, 5);
    for (int root = 0; root < size; ++root) MPI(MPI_Bcast(out, kCount, MPI_INT, root, comm));
  }
}

// Of which nothing can be left out: each turn has its own tag; only one rank has such a loop; and one has fewer turns.
static void apart(void) {
  int out[kCount] = {0}, in[kCount];
  for (int turn = 0; turn < kTurns; ++turn) exchange(out, in, 100 + turn);
  for (int turn = 0; turn < kTurns; ++turn) {
    if (rank == 0) {
      MPI(MPI_Send(out, kCount, MPI_INT, 1, 6, comm));
    } else if (rank == 1 && turn % 3 == 0) {
      for (int i = 0; i < 3; ++i) MPI(MPI_Recv(in, kCount, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE));
    }
  }
  if (rank == 1) {
    for (int turn = 0; turn < 5; ++turn) MPI(MPI_Barrier(MPI_COMM_SELF));
  }
}

// Names are given again each turn.
static void objects(void) {
  int out[kCount] = {0}, in[kCount];
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Datatype type;
    MPI(MPI_Type_vector(2, 1, 3, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Sendrecv(out, 1, type, to, 7, in, 1, type, from, 7, comm, MPI_STATUS_IGNORE));
    MPI(MPI_Type_free(&type));
  }
  for (int turn = 0; turn < kTurns / 10; ++turn) {
    MPI_Comm other;
    MPI(MPI_Comm_dup(comm, &other));
    MPI(MPI_Barrier(other));
    MPI(MPI_Comm_free(&other));
  }
}

static void faults(void) {
  float in[kCount];
  int out[kCount] = {0};
  for (int turn = 0; turn < kTurns; ++turn) {
    if (rank == 0) {
      MPI(MPI_Send(out, 4, MPI_INT, 1, 8, comm));  // fault types 240
    } else if (rank == 1) {
      MPI(MPI_Recv(in, 4, MPI_FLOAT, 0, 8, comm, MPI_STATUS_IGNORE));
    }
    MPI(MPI_Barrier(comm));
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    int there[kCount];
    MPI_Request requests[2];
    MPI(MPI_Irecv(there, 2, MPI_INT, from, 9, comm, &requests[0]));
    MPI(MPI_Irecv(there + 1, 2, MPI_INT, from, 9, comm, &requests[1]));  // fault buffers 960
    MPI(MPI_Send(out, 2, MPI_INT, to, 9, comm));
    MPI(MPI_Send(out, 2, MPI_INT, to, 9, comm));
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    if (rank == 0) {
      MPI(MPI_Bcast(out, 4, MPI_INT, 0, comm));  // fault types 240
    } else {
      MPI(MPI_Bcast(in, 4, MPI_FLOAT, 0, comm));
    }
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    if (rank == 2) MPI(MPI_Send(out, 1, MPI_INT, 3, 10, comm));  // fault messages 40
    if (rank == 3 && turn >= 40) MPI(MPI_Recv(out, 1, MPI_INT, 2, 10, comm, MPI_STATUS_IGNORE));
  }
  // Both wait for each other where messages are not buffered.
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI(MPI_Send(out, 1, MPI_INT, to, 11, comm));  // fault buffering 240
    MPI(MPI_Recv(out, 1, MPI_INT, from, 11, comm, MPI_STATUS_IGNORE));
  }
}

// A receive that was posted before a loop stays open until behind it: those of the loop get their messages after it.
static void held_back(int anybody) {
  const int other = rank ^ 1;
  if (rank % 2 == 0) {
    for (int i = 0; i < 2 * kTurns + 1; ++i) MPI(MPI_Send(&i, 1, MPI_INT, other, 12, comm));
    return;
  }
  int got, first;
  MPI_Request request;
  MPI(MPI_Irecv(&first, 1, MPI_INT, anybody ? MPI_ANY_SOURCE : other, 12, comm, &request));
  for (int turn = 0; turn < kTurns; ++turn) MPI(MPI_Recv(&got, 1, MPI_INT, other, 12, comm, MPI_STATUS_IGNORE));
  MPI_Status status;
  MPI(MPI_Wait(&request, &status));
  CHECK(first == 0);
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI(MPI_Recv(&got, 1, MPI_INT, other, 12, comm, MPI_STATUS_IGNORE));
    MPI(MPI_Comm_test_inter(comm, &first));
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  from = (rank + size - 1) % size;
  to = (rank + 1) % size;
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  alike();
  in_other_words();
  late();
  persistent();
  polled();
  nested();
  apart();
  objects();
  faults();
  // Behind loops whose turns differ nothing is left out.
  held_back(0);
  held_back(1);
  MPI(MPI_Comm_free(&comm));
  MPI(MPI_Finalize());
  return 0;
}
