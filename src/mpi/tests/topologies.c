// Cartesian, graph and distributed graph topologies, and every neighbourhood collective on them.
#include "check.h"

enum { kMax = 64 };

static void exchange(MPI_Comm comm, int indegree, int outdegree, const int *sources) {
  int out[kMax];
  int in[kMax];
  int counts[kMax];
  int displs[kMax];
  MPI_Aint byte_displs[kMax];
  MPI_Datatype types[kMax];
  MPI_Request request[5];
  CHECK(indegree <= kMax && outdegree <= kMax);
  for (int i = 0; i < kMax; ++i) {
    out[i] = rank;
    in[i] = -1;
    counts[i] = 1;
    displs[i] = i;
    byte_displs[i] = i * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
  }
  MPI(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm));
  for (int i = 0; i < indegree; ++i) CHECK(sources[i] == MPI_PROC_NULL || in[i] == sources[i]);
  MPI(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, counts, displs, MPI_INT, comm));
  MPI(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
  MPI(MPI_Neighbor_alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm));
  MPI(MPI_Neighbor_alltoallw(out, counts, byte_displs, types, in, counts, byte_displs, types, comm));
  for (int i = 0; i < indegree; ++i) CHECK(sources[i] == MPI_PROC_NULL || in[i] == sources[i]);
  int other[5][kMax];
  MPI(MPI_Ineighbor_allgather(out, 1, MPI_INT, other[0], 1, MPI_INT, comm, &request[0]));
  MPI(MPI_Ineighbor_allgatherv(out, 1, MPI_INT, other[1], counts, displs, MPI_INT, comm, &request[1]));
  MPI(MPI_Ineighbor_alltoall(out, 1, MPI_INT, other[2], 1, MPI_INT, comm, &request[2]));
  MPI(MPI_Ineighbor_alltoallv(out, counts, displs, MPI_INT, other[3], counts, displs, MPI_INT, comm, &request[3]));
  MPI(MPI_Ineighbor_alltoallw(out, counts, byte_displs, types, other[4], counts, byte_displs, types, comm,
                              &request[4]));
  MPI(MPI_Waitall(5, request, MPI_STATUSES_IGNORE));
  for (int i = 0; i < indegree; ++i)
    CHECK(sources[i] == MPI_PROC_NULL || (other[0][i] == sources[i] && other[3][i] == sources[i]));
#if MPI_VERSION >= 4
  const MPI_Info info = MPI_INFO_NULL;
  MPI(MPI_Neighbor_allgather_init(out, 1, MPI_INT, other[0], 1, MPI_INT, comm, info, &request[0]));
  MPI(MPI_Neighbor_allgatherv_init(out, 1, MPI_INT, other[1], counts, displs, MPI_INT, comm, info, &request[1]));
  MPI(MPI_Neighbor_alltoall_init(out, 1, MPI_INT, other[2], 1, MPI_INT, comm, info, &request[2]));
  MPI(MPI_Neighbor_alltoallv_init(out, counts, displs, MPI_INT, other[3], counts, displs, MPI_INT, comm, info,
                                  &request[3]));
  MPI(MPI_Neighbor_alltoallw_init(out, counts, byte_displs, types, other[4], counts, byte_displs, types, comm, info,
                                  &request[4]));
  MPI(MPI_Startall(5, request));
  MPI(MPI_Waitall(5, request, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 5; ++i) MPI(MPI_Request_free(&request[i]));
#endif
}

static void cartesian(void) {
  int dims[2] = {0, 0};
  const int periods[2] = {1, 0};
  int coords[2];
  int got_dims[2];
  int got_periods[2];
  int n = 0;
  int status = 0;
  MPI_Comm comm;
  MPI(MPI_Dims_create(size, 2, dims));
  CHECK(dims[0] * dims[1] == size);
  MPI(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
  MPI(MPI_Topo_test(comm, &status));
  CHECK(status == MPI_CART);
  MPI(MPI_Topo_test(MPI_COMM_WORLD, &status));
  CHECK(status == MPI_UNDEFINED);
  MPI(MPI_Cartdim_get(comm, &n));
  CHECK(n == 2);
  MPI(MPI_Cart_get(comm, 2, got_dims, got_periods, coords));
  CHECK(got_dims[0] == dims[0] && got_periods[0] && !got_periods[1]);
  int again = -1;
  MPI(MPI_Cart_rank(comm, coords, &again));
  CHECK(again == rank);
  MPI(MPI_Cart_coords(comm, rank, 2, got_dims));
  CHECK(got_dims[0] == coords[0] && got_dims[1] == coords[1]);
  int neighbours[4];
  MPI(MPI_Cart_shift(comm, 0, 1, &neighbours[0], &neighbours[1]));
  MPI(MPI_Cart_shift(comm, 1, 1, &neighbours[2], &neighbours[3]));
  if (coords[1] == 0) CHECK(neighbours[2] == MPI_PROC_NULL);
  exchange(comm, 4, 4, neighbours);
  const int keep[2] = {1, 0};
  MPI_Comm row;
  MPI(MPI_Cart_sub(comm, keep, &row));
  int members = 0;
  MPI(MPI_Comm_size(row, &members));
  CHECK(members == dims[0]);
  MPI(MPI_Comm_free(&row));
  int map = 0;
  MPI(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &map));
  MPI(MPI_Comm_free(&comm));
  // One that has no room for the last rank.
  const int line = size - 1;
  const int open = 0;
  MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &line, &open, 1, &comm));
  if (comm != MPI_COMM_NULL) MPI(MPI_Comm_free(&comm));
}

static void graph(void) {
  int index[kMax];
  int edges[2 * kMax];
  int got_index[kMax];
  int got_edges[2 * kMax];
  int n = 0;
  int e = 0;
  MPI_Comm comm;
  for (int i = 0; i < size; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + size - 1) % size;
    edges[2 * i + 1] = (i + 1) % size;
  }
  MPI(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
  MPI(MPI_Graphdims_get(comm, &n, &e));
  CHECK(n == size && e == 2 * size);
  MPI(MPI_Graph_get(comm, kMax, 2 * kMax, got_index, got_edges));
  CHECK(got_index[size - 1] == 2 * size && got_edges[1] == edges[1]);
  MPI(MPI_Graph_neighbors_count(comm, rank, &n));
  CHECK(n == 2);
  int neighbours[2];
  MPI(MPI_Graph_neighbors(comm, rank, 2, neighbours));
  CHECK(neighbours[0] == left() && neighbours[1] == right());
  exchange(comm, 2, 2, neighbours);
  int map = 0;
  MPI(MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &map));
  MPI(MPI_Comm_free(&comm));
}

static void distributed_graph(void) {
  MPI_Comm comm;
  int in = 0;
  int out = 0;
  int weighted = 0;
  const int source = left();
  const int target = right();
  const int weight = 3;
  int sources[kMax];
  int weights[kMax];
  int targets[kMax];
  int target_weights[kMax];
  MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, &weight, 1, &target, &weight, MPI_INFO_NULL, 0,
                                     &comm));
  MPI(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
  CHECK(in == 1 && out == 1 && weighted);
  MPI(MPI_Dist_graph_neighbors(comm, 1, sources, weights, 1, targets, target_weights));
  CHECK(sources[0] == source && targets[0] == target && weights[0] == 3);
  exchange(comm, 1, 1, sources);
  MPI(MPI_Comm_free(&comm));
  MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &comm));
  MPI(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
  CHECK(!weighted);
  MPI(MPI_Dist_graph_neighbors(comm, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED));
  MPI(MPI_Comm_free(&comm));
  // Rank 0 says it all: a star, everybody to 0.
  int nodes[kMax];
  int degrees[kMax];
  int destinations[kMax];
  for (int i = 0; i < size; ++i) {
    nodes[i] = i;
    degrees[i] = i == 0 ? 0 : 1;
    destinations[i] = 0;
  }
  MPI(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, nodes, degrees, destinations, MPI_UNWEIGHTED,
                            MPI_INFO_NULL, 0, &comm));
  MPI(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
  CHECK(rank == 0 ? in == size - 1 && out == 0 : in == 0 && out == 1);
  MPI(MPI_Dist_graph_neighbors(comm, in, sources, MPI_UNWEIGHTED, out, targets, MPI_UNWEIGHTED));
  exchange(comm, in, out, sources);
  MPI(MPI_Comm_free(&comm));
}

/// Each process tells the edges of another one, and nobody asks for its own: from each the next and the third next.
static void told_by_others(void) {
  const int node = (rank + 1) % size;
  const int degree = 2;
  const int destinations[2] = {(node + 1) % size, (node + 3) % size};
  MPI_Comm comm;
  MPI_Comm copy;
  MPI(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &node, &degree, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  MPI(MPI_Comm_dup(comm, &copy));
  long out[2] = {rank, rank};
  long in[2];
  MPI_Request request;
  MPI(MPI_Neighbor_allgather(out, 1, MPI_LONG, in, 1, MPI_LONG, comm));
  CHECK(in[0] + in[1] == (rank + size - 1) % size + (rank + 3 * size - 3) % size);
  MPI(MPI_Neighbor_alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, copy));
  CHECK(in[0] + in[1] == (rank + size - 1) % size + (rank + 3 * size - 3) % size);
  MPI(MPI_Ineighbor_alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, comm, &request));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI(MPI_Comm_free(&copy));
  MPI(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(size <= kMax);
  cartesian();
  graph();
  distributed_graph();
  told_by_others();
  return finish();
}
