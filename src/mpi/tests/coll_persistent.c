// Persistent collectives: of MPI 4, or under the names that Open MPI had for them before; elsewhere nothing but a
// barrier.
#include "check.h"

#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#if MPI_VERSION >= 4
#define PERSISTENT
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PERSISTENT
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Alltoallw_init MPIX_Alltoallw_init
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Exscan_init MPIX_Exscan_init
#define MPI_Gather_init MPIX_Gather_init
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Reduce_init MPIX_Reduce_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#define MPI_Scan_init MPIX_Scan_init
#define MPI_Scatter_init MPIX_Scatter_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#endif

int main(int argc, char **argv) {
  start(&argc, &argv);
#ifdef PERSISTENT
  enum { kMax = 32, kKinds = 17 };
  CHECK(size * (size + 1) / 2 <= kMax);
  MPI_Request request[kKinds];
  int in[kKinds][kMax];
  int out[kKinds][kMax];
  int counts[kMax];
  int displs[kMax];
  int byte_displs[kMax];
  int ones[kMax];
  int places[kMax];
  MPI_Datatype types[kMax];
  for (int i = 0, at = 0; i < size; at += ++i) {
    counts[i] = i + 1;
    displs[i] = at;
    ones[i] = 1;
    places[i] = i;
    byte_displs[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Info info = MPI_INFO_NULL;
  int n = 0;
  MPI(MPI_Barrier_init(comm, info, &request[n++]));
  MPI(MPI_Bcast_init(out[1], 2, MPI_INT, 0, comm, info, &request[n++]));
  MPI(MPI_Gather_init(out[2], 1, MPI_INT, in[2], 1, MPI_INT, 0, comm, info, &request[n++]));
  MPI(MPI_Gatherv_init(out[3], rank + 1, MPI_INT, in[3], counts, displs, MPI_INT, 0, comm, info, &request[n++]));
  MPI(MPI_Scatter_init(out[4], 1, MPI_INT, in[4], 1, MPI_INT, 0, comm, info, &request[n++]));
  MPI(MPI_Scatterv_init(out[5], counts, displs, MPI_INT, in[5], rank + 1, MPI_INT, 0, comm, info, &request[n++]));
  MPI(MPI_Allgather_init(out[6], 1, MPI_INT, in[6], 1, MPI_INT, comm, info, &request[n++]));
  MPI(MPI_Allgatherv_init(out[7], rank + 1, MPI_INT, in[7], counts, displs, MPI_INT, comm, info, &request[n++]));
  MPI(MPI_Alltoall_init(out[8], 1, MPI_INT, in[8], 1, MPI_INT, comm, info, &request[n++]));
  MPI(MPI_Alltoallv_init(out[9], ones, places, MPI_INT, in[9], ones, places, MPI_INT, comm, info, &request[n++]));
  MPI(MPI_Alltoallw_init(out[10], ones, byte_displs, types, in[10], ones, byte_displs, types, comm, info,
                         &request[n++]));
  MPI(MPI_Reduce_init(out[11], in[11], 1, MPI_INT, MPI_SUM, 0, comm, info, &request[n++]));
  MPI(MPI_Allreduce_init(out[12], in[12], 1, MPI_INT, MPI_SUM, comm, info, &request[n++]));
  MPI(MPI_Reduce_scatter_init(out[13], in[13], counts, MPI_INT, MPI_SUM, comm, info, &request[n++]));
  MPI(MPI_Reduce_scatter_block_init(out[14], in[14], 1, MPI_INT, MPI_SUM, comm, info, &request[n++]));
  MPI(MPI_Scan_init(out[15], in[15], 1, MPI_INT, MPI_SUM, comm, info, &request[n++]));
  MPI(MPI_Exscan_init(out[16], in[16], 1, MPI_INT, MPI_SUM, comm, info, &request[n++]));
  CHECK(n == kKinds);
  // MPICH 4.0.2 fails when most of these are started a second time.
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
  const int rounds = 1;
#else
  const int rounds = 3;
#endif
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < kKinds; ++k)
      for (int i = 0; i < kMax; ++i) out[k][i] = 1000 * round + 100 * rank + i;
    if (round == 1) {
      for (int k = 0; k < kKinds; ++k) {
        MPI(MPI_Start(&request[k]));
        MPI(MPI_Wait(&request[k], MPI_STATUS_IGNORE));
      }
    } else {
      MPI(MPI_Startall(kKinds, request));
      MPI(MPI_Waitall(kKinds, request, MPI_STATUSES_IGNORE));
    }
    CHECK(out[1][1] == 1000 * round + 1);
    CHECK(in[4][0] == 1000 * round + rank && in[6][size - 1] == 1000 * round + 100 * (size - 1));
    for (int i = 0; i < size; ++i) CHECK(in[8][i] == 1000 * round + 100 * i + rank && in[10][i] == in[9][i]);
    CHECK(in[12][0] == 1000 * round * size + 100 * size * (size - 1) / 2);
  }
  for (int k = 0; k < kKinds; ++k) MPI(MPI_Request_free(&request[k]));
#else
  MPI(MPI_Barrier(MPI_COMM_WORLD));
#endif
  return finish();
}
