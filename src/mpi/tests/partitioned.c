// Partitioned messages (MPI 4); elsewhere nothing but a barrier.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
#if MPI_VERSION >= 4
  enum { kPartitions = 4, kEach = 5 };
  int out[kPartitions * kEach];
  int in[kPartitions * kEach];
  MPI_Request request[2];
  MPI(MPI_Psend_init(out, kPartitions, kEach, MPI_INT, right(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]));
  MPI(MPI_Precv_init(in, kPartitions, kEach, MPI_INT, left(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kPartitions * kEach; ++i) out[i] = 1000 * rank + 100 * round + i;
    MPI(MPI_Startall(2, request));
    MPI(MPI_Pready(2, request[0]));
    MPI(MPI_Pready_range(0, 1, request[0]));
    int list[1] = {3};
    MPI(MPI_Pready_list(1, list, request[0]));
    int arrived = 0;
    for (int tries = 0; !arrived && tries < 1000000; ++tries) MPI(MPI_Parrived(request[1], 1, &arrived));
    MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kPartitions * kEach; ++i) CHECK(in[i] == 1000 * left() + 100 * round + i);
  }
  MPI(MPI_Request_free(&request[0]));
  MPI(MPI_Request_free(&request[1]));
#else
  MPI(MPI_Barrier(MPI_COMM_WORLD));
#endif
  return finish();
}
