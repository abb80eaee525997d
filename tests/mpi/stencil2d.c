// Five-point stencil on a px x py grid of plain ranks: a tag per direction, MPI_PROC_NULL at the edges.
// usage: stencil2d px py iterations [cart|onetag]      cart: through a Cartesian communicator; onetag: one tag for all
#include "check.h"

enum { kCells = 32 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  if (argc < 4) {
    if (rank == 0) fprintf(stderr, "usage: stencil2d px py iterations [cart|onetag]\n");
    MPI_Finalize();
    return 2;
  }
  const int px = atoi(argv[1]);
  const int py = atoi(argv[2]);
  const int iterations = atoi(argv[3]);
  const int cart = argc > 4 && strcmp(argv[4], "cart") == 0;
  const int onetag = argc > 4 && strcmp(argv[4], "onetag") == 0;
  CHECK(px * py == size);
  MPI_Comm comm = MPI_COMM_WORLD;
  int x = rank % px;
  int y = rank / px;
  int west = x > 0 ? rank - 1 : MPI_PROC_NULL;
  int east = x < px - 1 ? rank + 1 : MPI_PROC_NULL;
  int north = y > 0 ? rank - px : MPI_PROC_NULL;
  int south = y < py - 1 ? rank + px : MPI_PROC_NULL;
  if (cart) {
    const int dims[2] = {py, px};
    const int periods[2] = {0, 0};
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
    MPI(MPI_Cart_shift(comm, 0, 1, &north, &south));
    MPI(MPI_Cart_shift(comm, 1, 1, &west, &east));
  }
  // Four halos in, four borders out; what goes out carries who and when.
  static double out[4][kCells];
  static double in[4][kCells];
  const int to[4] = {west, east, north, south};
  const int opposite[4] = {1, 0, 3, 2};
  double local = rank + 1.0;
  double sum = 0;
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request[8];
    for (int d = 0; d < 4; ++d)
      MPI(MPI_Irecv(in[d], kCells, MPI_DOUBLE, to[d], onetag ? 0 : opposite[d], comm, &request[d]));
    for (int d = 0; d < 4; ++d) {
      out[d][0] = rank;
      out[d][1] = i;
      MPI(MPI_Isend(out[d], kCells, MPI_DOUBLE, to[d], onetag ? 0 : d, comm, &request[4 + d]));
    }
    MPI(MPI_Waitall(8, request, MPI_STATUSES_IGNORE));
    for (int d = 0; d < 4; ++d)
      if (to[d] != MPI_PROC_NULL) CHECK(in[d][0] == to[d] && in[d][1] == i);
    if (i % 10 == 9) MPI(MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
  }
  if (iterations >= 10) CHECK(sum == size * (size + 1) / 2.0);
  if (cart) MPI(MPI_Comm_free(&comm));
  return finish();
}
