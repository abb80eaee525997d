// Rank 0 sends messages of several lengths to rank 1, which receives them in every way that there is, with far more
// room than they need; what comes is known. Each way has a line of its own, named by the comment at its end.
#include "check.h"

enum { kRoom = 1000, kTurns = 20 };

/// How many ints the message of a turn has.
static int length(int turn) { return 3 + turn % 4; }

static int room[4][kRoom];

static void from_zero(MPI_Comm duplicate) {
  MPI_Status status;
  MPI_Request request;
  MPI_Request slots[4];
  MPI_Request kept;
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI(MPI_Recv(room, kRoom, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));    // at once
    MPI(MPI_Irecv(room, kRoom, MPI_INT, 0, 2, MPI_COMM_WORLD, &request));  // waited for
    MPI(MPI_Wait(&request, &status));
    int count = 0;
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == length(turn));
    MPI(MPI_Irecv(room, kRoom, MPI_INT, 0, 3, duplicate, &request));  // duplicate
    MPI(MPI_Wait(&request, &status));
    MPI(MPI_Recv(room, kRoom, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // anybody
    MPI(MPI_Recv(room, length(turn), MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));        // exact
  }
  // What comes first is received first, and its place is filled again.
  for (int i = 0; i < 4; ++i) {
    MPI(MPI_Irecv(room[i], kRoom, MPI_INT, 0, 10 + i, MPI_COMM_WORLD, &slots[i]));  // filled
  }
  for (int left = kTurns, posted = 4; left != 0;) {
    int places[4], count = 0;
    MPI_Status statuses[4];
    MPI(MPI_Waitsome(4, slots, &count, places, statuses));
    for (int i = 0; i < count; ++i, --left) {
      if (posted == kTurns) continue;
      const int tag = 10 + posted++;
      MPI(MPI_Irecv(room[places[i]], kRoom, MPI_INT, 0, tag, MPI_COMM_WORLD, &slots[places[i]]));  // refilled
    }
  }
  MPI(MPI_Recv_init(room, kRoom, MPI_INT, 0, 6, MPI_COMM_WORLD, &kept));
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI(MPI_Start(&kept));  // started
    MPI(MPI_Wait(&kept, &status));
  }
  MPI(MPI_Request_free(&kept));
  // Nobody sends that.
  MPI(MPI_Irecv(room, kRoom, MPI_INT, 0, 99, MPI_COMM_WORLD, &request));  // cancelled
  MPI(MPI_Cancel(&request));
  MPI(MPI_Wait(&request, &status));
}

static void to_one(MPI_Comm duplicate) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI(MPI_Send(room, length(turn), MPI_INT, 1, 1, MPI_COMM_WORLD));
    MPI(MPI_Send(room, length(turn), MPI_INT, 1, 2, MPI_COMM_WORLD));
    MPI(MPI_Send(room, length(turn), MPI_INT, 1, 3, duplicate));
    MPI(MPI_Send(room, length(turn), MPI_INT, 1, 4, MPI_COMM_WORLD));
    MPI(MPI_Send(room, length(turn), MPI_INT, 1, 5, MPI_COMM_WORLD));
  }
  for (int turn = 0; turn < kTurns; ++turn) MPI(MPI_Send(room, length(turn), MPI_INT, 1, 10 + turn, MPI_COMM_WORLD));
  for (int turn = 0; turn < kTurns; ++turn) MPI(MPI_Send(room, length(turn), MPI_INT, 1, 6, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI_Comm duplicate;
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate));
  if (rank == 0) to_one(duplicate);
  if (rank == 1) from_zero(duplicate);
  MPI_Status status;
  const int other = rank ^ 1;
  if (rank < 2) {
    MPI(MPI_Sendrecv(room, 5, MPI_INT, other, 7, room, kRoom, MPI_INT, other, 7, MPI_COMM_WORLD, &status));  // both
  }
  MPI(MPI_Comm_free(&duplicate));
  return finish();
}
