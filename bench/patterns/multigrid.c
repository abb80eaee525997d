// V-cycles over a two-dimensional mesh of processes: with each coarser grid half of the processes of each side drop
// out, as where a grid has no more cells than the mesh has processes; on the way back they come in again.
//
//   multigrid [CYCLES] [line]
//
// On level l take part those whose coordinates divide by 2^l, and exchange with the next such in each direction, at the
// edges with MPI_PROC_NULL; messages are half as long on each level. line: a mesh of one dimension.
#include "pattern.h"

enum { kCells = 1 << 10 };

static int dims[2], place[2];  ///< the side along which ranks are next to each other comes last
static int east, west, south, north;

static int rank_at(int down, int along) {
  if (down < 0 || along < 0 || down >= dims[0] || along >= dims[1]) return MPI_PROC_NULL;
  return down * dims[1] + along;
}

/// For the neighbours on a level.
static void look(int level) {
  const int stride = 1 << level;
  east = rank_at(place[0], place[1] + stride);
  west = rank_at(place[0], place[1] - stride);
  south = rank_at(place[0] + stride, place[1]);
  north = rank_at(place[0] - stride, place[1]);
}

/// How many levels this process takes part in.
static int levels(void) {
  int all = 0;
  for (int stride = 1; stride <= (dims[1] == 1 ? dims[0] : dims[1]); stride *= 2, ++all)
    if (place[0] % stride != 0 || place[1] % stride != 0) break;
  return all;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long cycles = number(argc, argv, 1, 10);
  const int line = argc > 2 && strcmp(argv[2], "line") == 0;
  dims[1] = line;
  MPI(MPI_Dims_create(size, 2, dims));
  place[0] = rank / dims[1];
  place[1] = rank % dims[1];
  const int all = levels();
  static int out[kCells], in[kCells];
  for (long cycle = 0; cycle < cycles; ++cycle) {
    for (int level = 0; level < all; ++level) {
      const int cells = kCells >> level;
      look(level);
      out[cells - 1] = rank + level;
      MPI(MPI_Sendrecv(out, cells, MPI_INT, east, 1, in, cells, MPI_INT, west, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(west == MPI_PROC_NULL || in[cells - 1] == west + level);
      MPI(MPI_Sendrecv(out, cells, MPI_INT, south, 2, in, cells, MPI_INT, north, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(north == MPI_PROC_NULL || in[cells - 1] == north + level);
    }
    for (int level = all; level-- > 0;) {
      look(level);
      out[0] = rank - level;
      MPI(MPI_Sendrecv(out, 1, MPI_INT, west, 3, in, 1, MPI_INT, east, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(east == MPI_PROC_NULL || in[0] == east - level);
      MPI(MPI_Sendrecv(out, 1, MPI_INT, north, 4, in, 1, MPI_INT, south, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(south == MPI_PROC_NULL || in[0] == south - level);
    }
    int least = rank, first = -1;
    MPI(MPI_Allreduce(&least, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    CHECK(first == 0);
  }
  return done("multigrid", cycles);
}
