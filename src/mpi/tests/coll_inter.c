// Collectives over an intercommunicator: arrays are as long as the remote group, roots are ROOT, PROC_NULL and ranks.
#include "check.h"

enum { kMax = 64 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(size >= 2 && size <= 8);
  const int side = rank % 2;  // sides of different size when `size` is odd
  MPI_Comm local;
  MPI_Comm inter;
  MPI(MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local));
  MPI(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - side, 7, &inter));
  int mine = 0;
  int here = 0;
  int there = 0;
  MPI(MPI_Comm_rank(inter, &mine));
  MPI(MPI_Comm_size(inter, &here));
  MPI(MPI_Comm_remote_size(inter, &there));
  CHECK(here + there == size && mine == rank / 2);
  int in[kMax];
  int out[kMax];
  int counts[kMax];
  int displs[kMax];
  int byte_displs[kMax];
  MPI_Datatype types[kMax];
  for (int i = 0; i < kMax; ++i) {
    counts[i] = 1;
    displs[i] = i;
    byte_displs[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
    out[i] = 100 * rank + i;
    in[i] = -1;
  }
  const int root = side == 0 ? (mine == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;  // rank 0 of side 0
  MPI(MPI_Barrier(inter));
  int value = rank == 0 ? 5 : -1;
  MPI(MPI_Bcast(&value, 1, MPI_INT, root, inter));
  if (side == 1) CHECK(value == 5);
  MPI(MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, root, inter));
  for (int i = 0; rank == 0 && i < there; ++i) CHECK(in[i] == 100 * (2 * i + 1));
  MPI(MPI_Gatherv(out, 1, MPI_INT, in, counts, displs, MPI_INT, root, inter));
  MPI(MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, root, inter));
  if (side == 1) CHECK(in[0] == mine);
  MPI(MPI_Scatterv(out, counts, displs, MPI_INT, in, 1, MPI_INT, root, inter));
  MPI(MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, inter));
  for (int i = 0; i < there; ++i) CHECK(in[i] == 100 * (2 * i + 1 - side));
  MPI(MPI_Allgatherv(out, 1, MPI_INT, in, counts, displs, MPI_INT, inter));
  MPI(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter));
  for (int i = 0; i < there; ++i) CHECK(in[i] == 100 * (2 * i + 1 - side) + mine);
  MPI(MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, inter));
  MPI(MPI_Alltoallw(out, counts, byte_displs, types, in, counts, byte_displs, types, inter));
  for (int i = 0; i < there; ++i) CHECK(in[i] == 100 * (2 * i + 1 - side) + mine);
  MPI(MPI_Reduce(out, in, 1, MPI_INT, MPI_MAX, root, inter));
  if (rank == 0) CHECK(in[0] == 100 * (2 * there - 1));
  MPI(MPI_Allreduce(out, in, 1, MPI_INT, MPI_MIN, inter));
  CHECK(in[0] == 100 * (1 - side));
  // Each side gives as much as it gets: `here * there` elements.
  MPI(MPI_Reduce_scatter_block(out, in, there, MPI_INT, MPI_SUM, inter));
  for (int i = 0; i < here; ++i) counts[i] = there;
  MPI(MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, inter));
  MPI_Request request;
  MPI(MPI_Ibcast(&value, 1, MPI_INT, root, inter, &request));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));

  // Point to point: ranks are the remote side's.
  if (mine < there && (side == 0 || mine < there)) {
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, mine, 1, &value, 1, MPI_INT, mine, 1, inter, MPI_STATUS_IGNORE));
    CHECK(value == 2 * mine + 1 - side);
  }
  MPI_Comm merged;
  MPI(MPI_Intercomm_merge(inter, side, &merged));
  int merged_rank = 0;
  MPI(MPI_Comm_rank(merged, &merged_rank));
  CHECK(merged_rank == (side == 0 ? mine : there + mine));
  MPI_Comm duplicate;
  MPI(MPI_Comm_dup(inter, &duplicate));
  int is_inter = 0;
  MPI(MPI_Comm_test_inter(duplicate, &is_inter));
  CHECK(is_inter);
  MPI_Group group;
  MPI(MPI_Comm_remote_group(inter, &group));
  MPI(MPI_Group_free(&group));
  MPI_Comm part;
  MPI(MPI_Comm_split(inter, mine == 0 ? 0 : MPI_UNDEFINED, 0, &part));
  if (part != MPI_COMM_NULL) MPI(MPI_Comm_free(&part));
  MPI(MPI_Comm_free(&duplicate));
  MPI(MPI_Comm_free(&merged));
  MPI(MPI_Comm_free(&inter));
  MPI(MPI_Comm_free(&local));
  return finish();
}
