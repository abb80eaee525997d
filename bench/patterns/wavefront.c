// A wavefront over a two-dimensional mesh: each rank waits for its western and northern neighbour, and sweeps back.
//
//   wavefront [STEPS]
//
// Rows of the grid go one after another, as in NAS LU or Sweep3D. At the edges a call is left out, not made with
// MPI_PROC_NULL: ranks differ in the calls they make.
#include "pattern.h"

enum { kRows = 4, kCells = 16 };

static MPI_Comm mesh;

/// One sweep: from `before` in both directions to `after`. What arrives is one more than the greater of what was sent.
static void sweep(const int before[2], const int after[2], const int place[2], int tag) {
  for (int row = 0; row < kRows; ++row) {
    int in[2][kCells] = {{0}}, out[kCells];
    for (int d = 0; d < 2; ++d) {
      if (before[d] == MPI_PROC_NULL) continue;
      MPI(MPI_Recv(in[d], kCells, MPI_INT, before[d], tag, mesh, MPI_STATUS_IGNORE));
      CHECK(in[d][0] == place[0] + place[1] && in[d][kCells - 1] == row);
    }
    for (int i = 0; i < kCells; ++i) out[i] = row;
    out[0] = place[0] + place[1] + 1;
    for (int d = 0; d < 2; ++d)
      if (after[d] != MPI_PROC_NULL) MPI(MPI_Send(out, kCells, MPI_INT, after[d], tag, mesh));
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 50);
  int dims[2] = {0, 0}, periods[2] = {0, 0}, low[2], high[2], place[2];
  MPI(MPI_Dims_create(size, 2, dims));
  MPI(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &mesh));
  MPI(MPI_Cart_get(mesh, 2, dims, periods, place));
  for (int d = 0; d < 2; ++d) MPI(MPI_Cart_shift(mesh, d, 1, &low[d], &high[d]));
  const int from_end[2] = {dims[0] - 1 - place[0], dims[1] - 1 - place[1]};
  for (long i = 0; i < steps; ++i) {
    sweep(low, high, place, 1);
    sweep(high, low, from_end, 2);
    int least = rank, all = -1;
    if (i % 5 == 4) {
      MPI(MPI_Allreduce(&least, &all, 1, MPI_INT, MPI_MIN, mesh));
      CHECK(all == 0);
    }
  }
  MPI(MPI_Comm_free(&mesh));
  return done("wavefront", steps);
}
