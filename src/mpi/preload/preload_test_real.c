// A small MPI program whose output and exit status tell whether its calls arrived as they should.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
  int rank = 0;
  int size = 0;
  int level = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *values = calloc(100000, sizeof *values);
  values[0] = rank + 0.5;
  MPI_Request requests[2];
  MPI_Irecv(&values[1], 1, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&values[0], 1, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  double sum = 0;
  MPI_Reduce(&values[1], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int error = MPI_Send(NULL, 0, MPI_INT, size + 3, 0, MPI_COMM_WORLD);
  int class = 0;
  MPI_Error_class(error, &class);
  printf("%d of %d: level %d, got %g, sum %g, error %d\n", rank, size, level, values[1], sum, class == MPI_ERR_RANK);
  // Once rank 1 has ended as it does, launchers end the others, with what they have not written.
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  values = realloc(values, 10);
  free(values);
  MPI_Finalize();
  return rank == 0 ? 0 : 9;
}
