// A Fortran library of MPI that makes one of two functions without the C function. With -DPROGRAM: a program that uses
// it.
#include <mpi.h>
#include <stdio.h>

void mpi_barrier_(const int *comm, int *error);
void mpi_comm_size_(const int *comm, int *size, int *error);

#ifndef PROGRAM
void mpi_barrier_(const int *comm, int *error) { *error = *comm < 0 ? MPI_ERR_COMM : MPI_SUCCESS; }
void mpi_comm_size_(const int *comm, int *size, int *error) { *error = PMPI_Comm_size(MPI_Comm_f2c(*comm), size); }
#else
int main(void) {
  MPI_Init(NULL, NULL);
  int size = 0;
  int error = 0;
  const int world = MPI_Comm_c2f(MPI_COMM_WORLD);
  mpi_barrier_(&world, &error);
  mpi_comm_size_(&world, &size, &error);
  printf("%d\n", size);
  fflush(stdout);
  MPI_Finalize();
  return error;
}
#endif
