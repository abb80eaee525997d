// Turns tracing off and on, in each of the ways there are. Lines whose calls belong into the trace end with "kept" and
// how often if not once; with `record --start off` only those that are kept "always"; those "named" are calls on a
// communicator with a name (tracing.py).
#include "../include/cairn/tracing.h"

#include "check.h"

int main(int argc, char **argv) {
  MPI(MPI_Init(&argc, &argv));                // kept always
  MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));  // kept
  MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));  // kept
  MPI_Request requests[3];
  int values[3] = {0, 0, 0};
  MPI_Comm other;
  MPI_Comm spare;
  for (int i = 0; i < 3; ++i)
    MPI(MPI_Irecv(&values[i], 1, MPI_INT, left(), i, MPI_COMM_WORLD, &requests[i]));  // kept x3
  cairn_tracing_off();                                                                // kept always
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &spare));
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  MPI(MPI_Comm_free(&spare));
  MPI(MPI_Send(&rank, 1, MPI_INT, right(), 0, MPI_COMM_WORLD));
  int index = -1;
  MPI(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));
  CHECK(index == 0);
  MPI_Request made;
  MPI(MPI_Isend(&rank, 1, MPI_INT, right(), 1, MPI_COMM_WORLD, &made));
  cairn_tracing_on();                                            // kept always
  MPI(MPI_Wait(&made, MPI_STATUS_IGNORE));                       // kept always
  MPI(MPI_Barrier(other));                                       // kept always
  MPI(MPI_Send(&rank, 1, MPI_INT, right(), 2, MPI_COMM_WORLD));  // kept always
  MPI(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));      // kept always
  MPI(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));      // kept always
  MPI_Info info;
  MPI(MPI_Info_create(&info));                      // kept always
  MPI(MPI_Info_set(info, "other", "OFF"));          // kept always
  MPI(MPI_Info_set(info, "CAIRN_TRACING", "OFF"));  // kept always
  for (int i = 0; i < 100; ++i) MPI(MPI_Barrier(other));
  MPI(MPI_Info_set(info, "other", "ON"));
  MPI(MPI_Info_set(info, "CAIRN_TRACING", "ON"));  // kept always
  for (int i = 0; i < 10; ++i) {
    MPI(MPI_Barrier(other));  // kept always x10
    MPI(MPI_Pcontrol(0));     // kept always x10
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Pcontrol(1));  // kept always x10
  }
  MPI(MPI_Pcontrol(2));                                 // kept always
  MPI(MPI_Comm_set_name(other, "a name"));              // kept always
  for (int i = 0; i < 5; ++i) MPI(MPI_Barrier(other));  // kept always named x5
  MPI(MPI_Info_free(&info));                            // kept always
  MPI(MPI_Comm_free(&other));                           // kept always
  MPI(MPI_Pcontrol(0));                                 // kept always
  if (rank == 0) puts("ok");
  fflush(stdout);
  MPI(MPI_Finalize());  // kept always
  return 0;
}
