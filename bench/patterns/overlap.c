// A stencil that computes while its messages are under way: what has come when the inner cells are done is unpacked at
// once, else there is more work and then a wait.
//
//   overlap [STEPS [WORK]]
//
// Four neighbours on a periodic mesh, Irecv and Isend of each, then half of the inner cells, Testall, and either way
// the other half: after unpacking, or before Waitall. Which of the two a step takes is a matter of time, on each rank
// for itself. WORK: how often a cell is computed in a step.
#include "pattern.h"

enum { kFaces = 4, kCells = 256 };

static MPI_Comm mesh;
static int neighbour[kFaces];
static double in[kFaces][kCells], out[kFaces][kCells], inner[kCells];

static double value(int from, int face, long step) { return from * 100.0 + face * 10.0 + (double)(step % 10); }

static void relax(long work) {
  for (long turn = 0; turn < work; ++turn)
    for (int i = 0; i < kCells; ++i) inner[i] = inner[i] * 0.5 + inner[(i + 1) % kCells] * 0.25 + 1;
}

static void unpack(long step) {
  for (int f = 0; f < kFaces; ++f) {
    for (int i = 0; i < kCells; ++i) CHECK(in[f][i] == value(neighbour[f], f ^ 1, step));
    inner[f * (kCells / kFaces)] += in[f][0];
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 100), work = number(argc, argv, 2, 4);
  int dims[2] = {0, 0}, early = 0;
  const int periods[2] = {1, 1};
  MPI_Request request[2 * kFaces];
  MPI(MPI_Dims_create(size, 2, dims));
  MPI(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &mesh));
  MPI(MPI_Comm_rank(mesh, &rank));
  for (int d = 0; d < 2; ++d) MPI(MPI_Cart_shift(mesh, d, 1, &neighbour[2 * d], &neighbour[2 * d + 1]));
  for (long i = 0; i < steps; ++i) {
    for (int f = 0; f < kFaces; ++f) MPI(MPI_Irecv(in[f], kCells, MPI_DOUBLE, neighbour[f], f ^ 1, mesh, &request[f]));
    for (int f = 0; f < kFaces; ++f) {
      for (int k = 0; k < kCells; ++k) out[f][k] = value(rank, f, i);
      MPI(MPI_Isend(out[f], kCells, MPI_DOUBLE, neighbour[f], f, mesh, &request[kFaces + f]));
    }
    relax(work - work / 2);
    int complete = 0;
    MPI(MPI_Testall(2 * kFaces, request, &complete, MPI_STATUSES_IGNORE));
    if (complete) {
      unpack(i);
      relax(work / 2);
      ++early;
    } else {
      relax(work / 2);
      MPI(MPI_Waitall(2 * kFaces, request, MPI_STATUSES_IGNORE));
      unpack(i);
    }
  }
  CHECK(early >= 0 && early <= steps && inner[0] >= 0);
  MPI(MPI_Comm_free(&mesh));
  return done("overlap", steps);
}
