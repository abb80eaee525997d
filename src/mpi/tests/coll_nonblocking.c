// Every nonblocking collective, several outstanding at once.
#include "check.h"

enum { kMax = 64 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(size * (size + 1) / 2 <= kMax);
  MPI_Request request[20];
  int n = 0;
  int in[20][kMax];
  int out[20][kMax];
  int counts[kMax];
  int displs[kMax];
  int byte_displs[kMax];
  int ones[kMax];
  int places[kMax];
  MPI_Datatype types[kMax];
  memset(out, 0, sizeof out);
  for (int i = 0, at = 0; i < size; at += ++i) {
    counts[i] = i + 1;
    displs[i] = at;
    ones[i] = 1;
    places[i] = i;
    byte_displs[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  for (int k = 0; k < 20; ++k)
    for (int i = 0; i < kMax; ++i) out[k][i] = rank * 100 + i;
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI(MPI_Ibarrier(comm, &request[n++]));
  MPI(MPI_Ibcast(out[1], 3, MPI_INT, 0, comm, &request[n++]));
  MPI(MPI_Igather(out[2], 1, MPI_INT, in[2], 1, MPI_INT, 0, comm, &request[n++]));
  MPI(MPI_Igatherv(out[3], rank + 1, MPI_INT, in[3], counts, displs, MPI_INT, 0, comm, &request[n++]));
  MPI(MPI_Iscatter(out[4], 1, MPI_INT, in[4], 1, MPI_INT, 0, comm, &request[n++]));
  MPI(MPI_Iscatterv(out[5], counts, displs, MPI_INT, in[5], rank + 1, MPI_INT, 0, comm, &request[n++]));
  MPI(MPI_Iallgather(out[6], 1, MPI_INT, in[6], 1, MPI_INT, comm, &request[n++]));
  MPI(MPI_Iallgatherv(out[7], rank + 1, MPI_INT, in[7], counts, displs, MPI_INT, comm, &request[n++]));
  MPI(MPI_Ialltoall(out[8], 1, MPI_INT, in[8], 1, MPI_INT, comm, &request[n++]));
  MPI(MPI_Ialltoallv(out[9], ones, places, MPI_INT, in[9], ones, places, MPI_INT, comm, &request[n++]));
  MPI(MPI_Ialltoallw(out[10], ones, byte_displs, types, in[10], ones, byte_displs, types, comm, &request[n++]));
  MPI(MPI_Ireduce(out[11], in[11], 1, MPI_INT, MPI_SUM, size - 1, comm, &request[n++]));
  MPI(MPI_Iallreduce(out[12], in[12], 2, MPI_INT, MPI_MIN, comm, &request[n++]));
  MPI(MPI_Ireduce_scatter(out[13], in[13], counts, MPI_INT, MPI_SUM, comm, &request[n++]));
  MPI(MPI_Ireduce_scatter_block(out[14], in[14], 1, MPI_INT, MPI_SUM, comm, &request[n++]));
  MPI(MPI_Iscan(out[15], in[15], 1, MPI_INT, MPI_SUM, comm, &request[n++]));
  MPI(MPI_Iexscan(out[16], in[16], 1, MPI_INT, MPI_SUM, comm, &request[n++]));
  in[17][0] = rank;
  MPI(MPI_Iallreduce(MPI_IN_PLACE, in[17], 1, MPI_INT, MPI_SUM, comm, &request[n++]));
  for (int left_over = n; left_over > n / 2; --left_over) {
    int index = 0;
    MPI(MPI_Waitany(n, request, &index, MPI_STATUS_IGNORE));
  }
  MPI_Status statuses[20];
  MPI(MPI_Waitall(n, request, statuses));
  CHECK(out[1][2] == 2);
  if (rank == 0) {
    CHECK(in[2][size - 1] == 100 * (size - 1) && in[3][displs[size - 1]] == 100 * (size - 1));
  }
  CHECK(in[4][0] == rank && in[5][0] == displs[rank] && in[6][size - 1] == 100 * (size - 1));
  CHECK(in[7][displs[size - 1]] == 100 * (size - 1));
  for (int i = 0; i < size; ++i)
    CHECK(in[8][i] == 100 * i + rank && in[9][i] == 100 * i + rank && in[10][i] == 100 * i + rank);
  if (rank == size - 1) CHECK(in[11][0] == 100 * size * (size - 1) / 2);
  CHECK(in[12][1] == 1 && in[17][0] == size * (size - 1) / 2);
  CHECK(in[15][0] == 100 * rank * (rank + 1) / 2);
  return finish();
}
