/* The example of ARCHITECTURE.md: two ranks and three calls. In each step both send to the other one, receive from it,
   and wait. Line numbers stand in that page; example.py holds the page against a recording. */
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, out[10] = {0}, in[10];
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 100; ++step) {
    int count = 1 + step % (rank == 0 ? 9 : 10);
    MPI_Isend(out, count, MPI_INT, 1 - rank, step, MPI_COMM_WORLD, &request);
    MPI_Recv(in, 10, MPI_INT, 1 - rank, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return MPI_Finalize();
}
