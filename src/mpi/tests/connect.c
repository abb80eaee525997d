// Ports (Open MPI): one half of the world accepts, the other connects. Elsewhere nothing but a barrier.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
#ifdef OPEN_MPI
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm half;
  MPI_Comm inter;
  int value = rank;
  int got = -1;
  MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half));
  if (rank == 0) MPI(MPI_Open_port(MPI_INFO_NULL, port));
  MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
  if (rank == 0) {
    MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter));
  } else {
    MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter));
  }
  if (rank <= 1) {
    MPI(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
    CHECK(got == 1 - rank);
  }
  MPI(MPI_Comm_disconnect(&inter));
  if (rank == 0) MPI(MPI_Close_port(port));
  MPI(MPI_Comm_free(&half));
#else
  MPI(MPI_Barrier(MPI_COMM_WORLD));
#endif
  return finish();
}
