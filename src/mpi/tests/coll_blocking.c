// Every blocking collective, with counts and displacements that differ between ranks.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  int *in = calloc((size_t)size * size + 1, sizeof(int));
  int *out = calloc((size_t)size * size + 1, sizeof(int));
  int *counts = calloc((size_t)size, sizeof(int));
  int *displs = calloc((size_t)size, sizeof(int));
  int *counts2 = calloc((size_t)size, sizeof(int));
  int *displs2 = calloc((size_t)size, sizeof(int));
  MPI_Datatype *types = calloc((size_t)size, sizeof *types);
  const int root = size - 1;
  const int sum = size * (size - 1) / 2;
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  int value = rank == root ? 42 : 0;
  MPI(MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD));
  CHECK(value == 42);
  MPI(MPI_Gather(&rank, 1, MPI_INT, rank == 0 ? in : NULL, 1, MPI_INT, 0, MPI_COMM_WORLD));
  for (int i = 0; rank == 0 && i < size; ++i) CHECK(in[i] == i);
  MPI(MPI_Scatter(rank == 0 ? in : NULL, 1, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK(value == rank);
  MPI(MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[i] == i);
  for (int i = 0; i < size; ++i) out[i] = 10 * rank + i;
  MPI(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[i] == 10 * i + rank);

  // Rank i contributes i + 1 elements.
  int at = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = i + 1;
    displs[i] = at;
    at += i + 1;
  }
  for (int i = 0; i <= rank; ++i) out[i] = rank;
  MPI(MPI_Gatherv(out, rank + 1, MPI_INT, in, rank == root ? counts : NULL, rank == root ? displs : NULL, MPI_INT, root,
                  MPI_COMM_WORLD));
  if (rank == root) CHECK(in[0] == 0 && in[displs[root]] == root);
  MPI(MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[displs[i]] == i && in[displs[i] + i] == i);
  MPI(MPI_Scatterv(in, counts, displs, MPI_INT, out, rank + 1, MPI_INT, root, MPI_COMM_WORLD));
  CHECK(out[0] == rank && out[rank] == rank);
  // Rank i sends j + 1 elements to rank j, and so gets rank + 1 from each.
  for (int i = 0; i < size; ++i) {
    counts2[i] = rank + 1;
    displs2[i] = i * (rank + 1);
    for (int k = 0; k <= i; ++k) out[displs[i] + k] = rank;
  }
  MPI(MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts2, displs2, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[displs2[i]] == i && in[displs2[i] + rank] == i);
  int *byte_displs = calloc((size_t)size, sizeof(int));
  int *byte_displs2 = calloc((size_t)size, sizeof(int));
  for (int i = 0; i < size; ++i) {
    byte_displs[i] = displs[i] * (int)sizeof(int);
    byte_displs2[i] = displs2[i] * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  memset(in, 0, (size_t)size * size * sizeof(int));
  MPI(MPI_Alltoallw(out, counts, byte_displs, types, in, counts2, byte_displs2, types, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[displs2[i]] == i && in[displs2[i] + rank] == i);

  MPI(MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
  if (rank == root) CHECK(value == sum);
  MPI(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  CHECK(value == size - 1);
  MPI(MPI_Scan(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(value == rank * (rank + 1) / 2);
  MPI(MPI_Exscan(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  if (rank > 0) CHECK(value == rank * (rank - 1) / 2);
  for (int i = 0; i < size * (size + 1) / 2; ++i) out[i] = i;
  MPI(MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(in[0] == size * displs[rank]);
  MPI(MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(in[0] == size * rank);
  struct {
    double value;
    int index;
  } mine = {rank == 1 % size ? 7.5 : 0.5, rank}, best;
  MPI(MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
  CHECK(best.index == 1 % size && best.value == 7.5);

  // In place.
  value = rank;
  MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(value == sum);
  in[rank] = rank;
  MPI(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[i] == i);
  for (int i = 0; i <= rank; ++i) in[displs[rank] + i] = rank;
  MPI(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
  CHECK(in[displs[size - 1]] == size - 1);
  if (rank == root) {
    in[rank] = rank;
    MPI(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, root, MPI_COMM_WORLD));
    CHECK(in[0] == 0 && in[rank] == rank);
    MPI(MPI_Scatter(in, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    value = rank;
    MPI(MPI_Reduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    CHECK(value == sum);
    for (int i = 0; i <= rank; ++i) in[displs[rank] + i] = rank;
    MPI(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT, root, MPI_COMM_WORLD));
    MPI(MPI_Scatterv(in, counts, displs, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
  } else {
    MPI(MPI_Gather(&rank, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    MPI(MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &value, 1, MPI_INT, root, MPI_COMM_WORLD));
    CHECK(value == rank);
    MPI(MPI_Reduce(&rank, NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    MPI(MPI_Gatherv(out, rank + 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    MPI(MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, out, rank + 1, MPI_INT, root, MPI_COMM_WORLD));
  }
  for (int i = 0; i < size; ++i) in[i] = 10 * rank + i;
  MPI(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[i] == 10 * i + rank);
  for (int i = 0; i < size; ++i) {
    counts[i] = 1;
    displs[i] = i;
    byte_displs[i] = i * (int)sizeof(int);
    in[i] = 10 * rank + i;
  }
  MPI(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[i] == 10 * i + rank);
  MPI(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, counts, byte_displs, types, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) CHECK(in[i] == 10 * rank + i);
  value = rank;
  MPI(MPI_Scan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(value == rank * (rank + 1) / 2);
  MPI(MPI_Exscan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i) in[i] = i;
  MPI(MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(in[0] == size * rank);
  for (int i = 0; i < size; ++i) in[i] = i;
  MPI(MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(in[0] == size * rank);
  free(in);
  free(out);
  free(counts);
  free(displs);
  free(counts2);
  free(displs2);
  free(byte_displs);
  free(byte_displs2);
  free(types);
  return finish();
}
