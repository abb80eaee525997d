// What the library numbers communicators and types by must be what it is without a recorder: a communicator of the
// recorder's would move it, and Open MPI 4.1.4 hangs in MPI_Dist_graph_create where one was made in MPI_Init.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI_Comm comms[3];
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
  MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comms[1]));
  MPI(MPI_Comm_dup(comms[0], &comms[2]));
  for (int i = 0; i < 3; ++i) {
    if (rank == 0) printf("communicator %d is %d\n", i, (int)MPI_Comm_c2f(comms[i]));
  }
  for (int i = 0; i < 3; ++i) MPI(MPI_Comm_free(&comms[i]));
  // Each rank with the next, many times over.
  for (int i = 0; i < 30; ++i) {
    int degree = 1;
    int next = right();
    MPI_Comm graph;
    MPI(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph));
    MPI(MPI_Comm_free(&graph));
  }
  return finish();
}
