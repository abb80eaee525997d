// Displacements that are the running sums of the counts, which the trace does not write out, and all that is nearly so.
#include "check.h"

enum { kMost = 16, kRoom = 8 * kMost };

static int out[kRoom];
static int in[kRoom];
static int counts[kMost];
static int sums[kMost];

static void set(int (*count)(int)) {
  int at = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = count(i);
    sums[i] = at;
    at += counts[i];
  }
  CHECK(at <= kRoom);
}

static int symmetric(int other) { return 1 + (rank + other) % 3; }
static int nothing(int other) { return 0 * other; }
static int one(int other) { return 1 + 0 * other; }
static int own(int other) { return other + 1; }

static void exchange(const int *from_at, const int *to_at) {
  MPI(MPI_Alltoallv(out, counts, from_at, MPI_INT, in, counts, to_at, MPI_INT, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(size <= kMost / 2);
  int apart[kMost];
  int backwards[kMost];

  // Everywhere, with counts that differ between pairs and change; a call site for each case, whose fields run.py looks
  // at.
  for (int step = 0; step < 4; ++step) {
    set(step % 2 ? symmetric : one);
    exchange(sums, sums);
  }
  // In one array and not in the other; on some ranks only; by chance, where nothing is sent or everything lies at 0.
  set(symmetric);
  int at = kRoom;
  for (int i = 0; i < size; ++i) {
    apart[i] = sums[i] + i;
    at -= counts[i];
    backwards[i] = at;
  }
  exchange(apart, sums);
  exchange(sums, backwards);
  for (int step = 0; step < 3; ++step) exchange(rank % 2 == step % 2 ? sums : apart, rank == 0 ? apart : sums);
  apart[0] = 1;
  exchange(apart, sums);
  set(nothing);
  const int zeros[kMost] = {0};
  exchange(sums, sums);
  exchange(zeros, apart);
  MPI(MPI_Alltoallv(out, zeros, zeros, MPI_INT, in, zeros, backwards, MPI_INT, MPI_COMM_WORLD));
  // One process.
  const int alone[1] = {3};
  const int two[1] = {2};
  MPI(MPI_Alltoallv(out, alone, zeros, MPI_INT, in, alone, two, MPI_INT, MPI_COMM_SELF));
  // In place: there is nothing to send from.
  set(one);
  MPI(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, in, counts, sums, MPI_INT, MPI_COMM_WORLD));

  // The others of its kind.
  MPI_Request request[3];
  set(own);
  for (int root = 0; root < size; ++root) {
    MPI(MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, sums, MPI_INT, root, MPI_COMM_WORLD));
    MPI(MPI_Scatterv(out, counts, root == 1 ? apart : sums, MPI_INT, in, rank + 1, MPI_INT, root, MPI_COMM_WORLD));
  }
  MPI(MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, sums, MPI_INT, MPI_COMM_WORLD));
  MPI(MPI_Iallgatherv(out, rank + 1, MPI_INT, in, counts, sums, MPI_INT, MPI_COMM_WORLD, &request[0]));
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  set(symmetric);
  MPI(MPI_Ialltoallv(out, counts, sums, MPI_INT, in, counts, sums, MPI_INT, MPI_COMM_WORLD, &request[0]));
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
  MPI_Count many[kMost];
  MPI_Aint many_at[kMost];
  for (int i = 0; i < size; ++i) {
    many[i] = counts[i];
    many_at[i] = sums[i];
  }
  MPI(MPI_Alltoallv_c(out, many, many_at, MPI_INT, in, many, many_at, MPI_INT, MPI_COMM_WORLD));
  MPI(MPI_Alltoallv_init(out, counts, sums, MPI_INT, in, counts, sums, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request[0]));
  MPI(MPI_Start(&request[0]));
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  MPI(MPI_Request_free(&request[0]));
#endif

  // Neighbours: rank 0 has none, the others have each other.
  int others[kMost];
  int n = 0;
  for (int i = 1; i < size && rank != 0; ++i)
    if (i != rank) others[n++] = i;
  MPI_Comm graph;
  MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, others, MPI_UNWEIGHTED, n, others, MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &graph));
  for (int i = 0; i < n; ++i) {
    counts[i] = 2;
    sums[i] = 2 * i;
  }
  MPI(MPI_Neighbor_alltoallv(out, counts, sums, MPI_INT, in, counts, sums, MPI_INT, graph));
  MPI(MPI_Neighbor_allgatherv(out, 2, MPI_INT, in, counts, sums, MPI_INT, graph));
  MPI(MPI_Comm_free(&graph));
  // Refused by MPI: recorded as it was given.
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  set(one);
  counts[0] = -1;
  sums[0] = 0;
  CHECK(MPI_Alltoallv(out, counts, sums, MPI_INT, in, counts, sums, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS);
  return finish();
}
