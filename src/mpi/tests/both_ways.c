// Requests that send and receive at once, with room for more than comes, and with statuses that say so or are ignored.
// For an even number of ranks.
#include "check.h"

enum { kRoom = 50, kSent = 5 };

int main(int argc, char **argv) {
  MPI(MPI_Init(&argc, &argv));
  who();
  const int other = rank ^ 1;
  char out[kRoom] = {0};
  char in[kRoom] = {0};
  MPI_Status status;
#if MPI_VERSION >= 4
  MPI_Request request;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI(MPI_Isendrecv(out, kSent, MPI_CHAR, other, 22, in, kRoom, MPI_CHAR, other, 22, world, &request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_Isendrecv_replace(out, kSent, MPI_CHAR, other, 23, other, 23, world, &request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_Isendrecv(out, kSent, MPI_CHAR, other, 24, in, kRoom, MPI_CHAR, other, 24, world, &request));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
#endif
  MPI(MPI_Sendrecv(out, kSent, MPI_CHAR, other, 25, in, kRoom, MPI_CHAR, other, 25, MPI_COMM_WORLD, &status));
  return finish();
}
