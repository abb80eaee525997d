// A seven-point stencil on a periodic three-dimensional mesh.
//
//   stencil3d [STEPS [BLOCK]] [onetag] [recursive]
//
// A tag for each direction, or with onetag one for all. A rank's block has BLOCK cells to a side (8); it works on them
// between the exchanges. recursive: a step is a call inside the call of the step before it (the recursion benchmark of
// the ScalaTrace paper): the same messages, from ever deeper in the stack.
#include "pattern.h"

enum { kMost = 32, kFace = kMost * kMost, kFaces = 6 };

static MPI_Comm mesh;
static int neighbour[kFaces];
static double in[kFaces][kFace], out[kFaces][kFace];
static double cell[2][kMost + 2][kMost + 2][kMost + 2];
static int block = 8, onetag;

/// What a rank sends through a face in a step.
static double value(int from, int face, long step) { return from * 100.0 + face * 10.0 + (double)(step % 10); }

static void exchange(long step) {
  const int face = block * block;
  MPI_Request request[2 * kFaces];
  for (int f = 0; f < kFaces; ++f)  // what arrives here left through the opposite face
    MPI(MPI_Irecv(in[f], face, MPI_DOUBLE, neighbour[f], onetag ? 0 : f ^ 1, mesh, &request[f]));
  for (int f = 0; f < kFaces; ++f) {
    for (int i = 0; i < face; ++i) out[f][i] = value(rank, onetag ? 0 : f, step);
    MPI(MPI_Isend(out[f], face, MPI_DOUBLE, neighbour[f], onetag ? 0 : f, mesh, &request[kFaces + f]));
  }
  MPI(MPI_Waitall(2 * kFaces, request, MPI_STATUSES_IGNORE));
  for (int f = 0; f < kFaces; ++f)
    for (int i = 0; i < face; ++i) CHECK(in[f][i] == value(neighbour[f], onetag ? 0 : f ^ 1, step));
}

/// The computing phase of a step: the work of a seven-point stencil on the block.
static void relax(long step) {
  const int from = (int)(step % 2), to = 1 - from;
  for (int x = 1; x <= block; ++x)
    for (int y = 1; y <= block; ++y)
      for (int z = 1; z <= block; ++z)
        cell[to][x][y][z] = (cell[from][x - 1][y][z] + cell[from][x + 1][y][z] + cell[from][x][y - 1][z] +
                             cell[from][x][y + 1][z] + cell[from][x][y][z - 1] + cell[from][x][y][z + 1]) /
                                8 +
                            cell[from][x][y][z] / 4;
}

/// Not a tail call: each level keeps something to add up on the way back.
__attribute__((noinline)) static double recurse(long step, long steps) {
  exchange(step);
  relax(step);
  const double here = in[0][0];
  return step + 1 < steps ? here + recurse(step + 1, steps) : here;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 100);
  block = (int)number(argc, argv, 2, 8);
  if (block < 1 || block > kMost) block = 8;
  onetag = said(argc, argv, "onetag");
  int dims[3] = {0, 0, 0};
  const int periods[3] = {1, 1, 1};
  MPI(MPI_Dims_create(size, 3, dims));
  MPI(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &mesh));
  MPI(MPI_Comm_rank(mesh, &rank));
  for (int d = 0; d < 3; ++d) MPI(MPI_Cart_shift(mesh, d, 1, &neighbour[2 * d], &neighbour[2 * d + 1]));
  if (said(argc, argv, "recursive")) {
    if (steps > 0) CHECK(recurse(0, steps) >= 0);
  } else {
    for (long i = 0; i < steps; ++i) {
      exchange(i);
      relax(i);
    }
  }
  CHECK(cell[steps % 2][1][1][1] >= 0);
  MPI(MPI_Comm_free(&mesh));
  return done("stencil3d", steps);
}
