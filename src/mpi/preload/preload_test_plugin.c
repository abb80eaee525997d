// The MPI-using part of a program that loads it, and with it MPI, at run time.
#include "mpi/preload/preload_test_mpi.h"

__attribute__((visibility("default"))) long test_call(struct Seen **seen) {
  const long result =
      MPI_Alltoallw(1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 12, 13);
  MPI_Get_processor_name(seen);
  return result;
}
