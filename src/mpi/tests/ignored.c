// Receives from anybody whose statuses are ignored: who sent is told by the payload alone.
#include "check.h"

enum { kRounds = 6, kMost = 16 };

static int heard[kMost];

static void hear(int from) {
  CHECK(from > 0 && from < kMost);
  ++heard[from];
}

static void receive(int round, int senders) {
  int in[kMost] = {0};
  MPI_Request requests[kMost];
  for (int i = 0; i < senders; ++i)
    MPI(MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &requests[i]));
  if (round % 3 == 0) {
    MPI(MPI_Waitall(senders, requests, MPI_STATUSES_IGNORE));
  } else {
    for (int i = 0; i < senders; ++i) {
      int index = -1;
      if (round % 3 == 1) MPI(MPI_Waitany(senders, requests, &index, MPI_STATUS_IGNORE));
      if (round % 3 == 2) MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
  }
  for (int i = 0; i < senders; ++i) hear(in[i]);
  for (int i = 0; i < senders; ++i) {
    int from = 0;
    MPI(MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    hear(from);
  }
}

int main(int argc, char **argv) {
  MPI(MPI_Init(&argc, &argv));
  who();
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 0) {
      receive(round, size - 1);
    } else {
      MPI(MPI_Send(&rank, 1, MPI_INT, 0, round, MPI_COMM_WORLD));
      MPI(MPI_Send(&rank, 1, MPI_INT, 0, round + kRounds, MPI_COMM_WORLD));
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
  // One that is cancelled: its status says so, and nothing else does.
  int never = 0;
  MPI_Request request;
  MPI(MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request));
  MPI(MPI_Cancel(&request));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 1; rank == 0 && i < size; ++i) CHECK(heard[i] == 2 * kRounds);
  return finish();
}
