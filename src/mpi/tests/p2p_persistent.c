// Persistent requests of all modes: started one by one and together, completed in every way, reused and freed.
#include "check.h"

enum { kRounds = 5, kModes = 4 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  int out[kModes];
  int in[kModes];
  MPI_Request request[2 * kModes];
  MPI_Status status[2 * kModes];
  char room[4096];
  MPI(MPI_Buffer_attach(room, sizeof room));
  for (int i = 0; i < kModes; ++i) MPI(MPI_Recv_init(&in[i], 1, MPI_INT, left(), i, MPI_COMM_WORLD, &request[i]));
  MPI(MPI_Send_init(&out[0], 1, MPI_INT, right(), 0, MPI_COMM_WORLD, &request[kModes + 0]));
  MPI(MPI_Ssend_init(&out[1], 1, MPI_INT, right(), 1, MPI_COMM_WORLD, &request[kModes + 1]));
  MPI(MPI_Bsend_init(&out[2], 1, MPI_INT, right(), 2, MPI_COMM_WORLD, &request[kModes + 2]));
  MPI(MPI_Rsend_init(&out[3], 1, MPI_INT, right(), 3, MPI_COMM_WORLD, &request[kModes + 3]));
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kModes; ++i) out[i] = 1000 * round + 10 * rank + i;
    if (round % 2 == 0) {
      MPI(MPI_Startall(kModes, request));
      MPI(MPI_Barrier(MPI_COMM_WORLD));
      MPI(MPI_Startall(kModes, request + kModes));
    } else {
      for (int i = 0; i < kModes; ++i) MPI(MPI_Start(&request[i]));
      MPI(MPI_Barrier(MPI_COMM_WORLD));
      for (int i = 0; i < kModes; ++i) MPI(MPI_Start(&request[kModes + i]));
    }
    if (round == 1) {
      for (int i = 0; i < 2 * kModes; ++i) {
        int index = -1;
        MPI(MPI_Waitany(2 * kModes, request, &index, &status[0]));
        CHECK(index >= 0 && index < 2 * kModes);
      }
    } else if (round == 2) {
      for (int i = 0; i < 2 * kModes; ++i) MPI(MPI_Wait(&request[i], &status[i]));
    } else {
      MPI(MPI_Waitall(2 * kModes, request, round == 3 ? MPI_STATUSES_IGNORE : status));
    }
    for (int i = 0; i < 2 * kModes; ++i) CHECK(request[i] != MPI_REQUEST_NULL);
    for (int i = 0; i < kModes; ++i) CHECK(in[i] == 1000 * round + 10 * left() + i);
  }
  int index = 0;
  MPI(MPI_Waitany(2 * kModes, request, &index, status));  // none is active
  CHECK(index == MPI_UNDEFINED);
  for (int i = 0; i < 2 * kModes; ++i) {
    MPI(MPI_Request_free(&request[i]));
    CHECK(request[i] == MPI_REQUEST_NULL);
  }
  int size_of_room = 0;
  void *detached = NULL;
  MPI(MPI_Buffer_detach(&detached, &size_of_room));
  CHECK(detached == room);
  return finish();
}
