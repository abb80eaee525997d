// Blocking and nonblocking sends in all modes, around a ring; PROC_NULL and wildcards.
#include "check.h"

enum { kCount = 100 };

static void receive_and_check(int tag) {
  int in[kCount];
  MPI_Status status;
  int count = 0;
  MPI(MPI_Recv(in, kCount, MPI_INT, left(), tag, MPI_COMM_WORLD, &status));
  CHECK(status.MPI_SOURCE == left() && status.MPI_TAG == tag);
  MPI(MPI_Get_count(&status, MPI_INT, &count));
  CHECK(count == kCount && in[0] == left() && in[kCount - 1] == left() + tag);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int out[kCount] = {0};
  static int in[kCount];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  char *room = malloc(kCount * sizeof(int) + MPI_BSEND_OVERHEAD);
  MPI(MPI_Buffer_attach(room, kCount * (int)sizeof(int) + MPI_BSEND_OVERHEAD));

  for (int mode = 0; mode < 8; ++mode) {
    out[0] = rank;
    out[kCount - 1] = rank + mode;
    if (mode == 3 || mode == 7) {  // ready: the receive must be there first
      MPI_Request receive;
      MPI(MPI_Irecv(in, kCount, MPI_INT, left(), mode, MPI_COMM_WORLD, &receive));
      MPI(MPI_Barrier(MPI_COMM_WORLD));
      if (mode == 3) {
        MPI(MPI_Rsend(out, kCount, MPI_INT, right(), mode, MPI_COMM_WORLD));
      } else {
        MPI(MPI_Irsend(out, kCount, MPI_INT, right(), mode, MPI_COMM_WORLD, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
      }
      MPI(MPI_Wait(&receive, &status));
      CHECK(request == MPI_REQUEST_NULL && receive == MPI_REQUEST_NULL);
      CHECK(in[0] == left() && status.MPI_SOURCE == left());
      continue;
    }
    int first = rank % 2 == 0;
    if (size % 2 == 1 && rank == size - 1) first = 0;
    if (!first && mode < 3) receive_and_check(mode);
    if (mode == 0) MPI(MPI_Send(out, kCount, MPI_INT, right(), mode, MPI_COMM_WORLD));
    if (mode == 1) MPI(MPI_Ssend(out, kCount, MPI_INT, right(), mode, MPI_COMM_WORLD));
    if (mode == 2) MPI(MPI_Bsend(out, kCount, MPI_INT, right(), mode, MPI_COMM_WORLD));
    if (first && mode < 3) receive_and_check(mode);
    if (mode == 4) MPI(MPI_Isend(out, kCount, MPI_INT, right(), mode, MPI_COMM_WORLD, &request));
    if (mode == 5) MPI(MPI_Issend(out, kCount, MPI_INT, right(), mode, MPI_COMM_WORLD, &request));
    if (mode == 6) MPI(MPI_Ibsend(out, kCount, MPI_INT, right(), mode, MPI_COMM_WORLD, &request));
    if (mode >= 4) {
      receive_and_check(mode);
      MPI(MPI_Wait(&request, &status));
      MPI(MPI_Wait(&request, &status));  // of a null request: an empty status
      CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    }
  }
  void *detached = NULL;
  int detached_size = 0;
  MPI(MPI_Buffer_detach(&detached, &detached_size));
  CHECK(detached == room && detached_size == kCount * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
  free(room);

  out[0] = rank;
  MPI(MPI_Sendrecv(out, 1, MPI_INT, right(), 9, in, kCount, MPI_INT, left(), 9, MPI_COMM_WORLD, &status));
  CHECK(in[0] == left());
  MPI(MPI_Sendrecv_replace(out, 1, MPI_INT, right(), 10, left(), MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(out[0] == left());
  MPI(MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  MPI(MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  MPI(MPI_Recv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MPI(MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
  MPI(MPI_Wait(&request, &status));

  // Several messages that fit differently: the status tells how much came.
  if (rank == 0) {
    int from[64] = {0};
    for (int i = 1; i < size; ++i) {
      int count = 0;
      MPI(MPI_Recv(in, kCount, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      MPI(MPI_Get_count(&status, MPI_INT, &count));
      CHECK(count == status.MPI_SOURCE && status.MPI_TAG == 100 + status.MPI_SOURCE);
      CHECK(from[status.MPI_SOURCE]++ == 0);
    }
  } else {
    MPI(MPI_Send(out, rank, MPI_INT, 0, 100 + rank, MPI_COMM_WORLD));
  }
  return finish();
}
