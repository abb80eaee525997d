// A variable that PnetCDF fills within ncmpi_enddef, before other ranks than the first know the header, and that all
// write over afterwards, piece by piece.
#include "check.h"

enum { kEach = 20000, kPiece = 500 };

static double value(MPI_Offset i) { return (double)(mixed((unsigned long long)i) % 100000); }

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = create("filled.nc", NC_64BIT_DATA), old = -1;
  NC(ncmpi_set_fill(file, NC_FILL, &old));
  const int x = dimension(file, "x", (MPI_Offset)kEach * size);
  const int id = variable(file, "v", NC_DOUBLE, 1, &x);
  NC(ncmpi_enddef(file));
  double piece[kPiece];
  for (MPI_Offset first = (MPI_Offset)rank * kEach; first < (MPI_Offset)(rank + 1) * kEach; first += kPiece) {
    const MPI_Offset count = kPiece;
    for (MPI_Offset i = 0; i < kPiece; ++i) piece[i] = value(first + i);
    NC(ncmpi_put_vara_double_all(file, id, &first, &count, piece));
  }
  for (int again = 0; again < 2; ++again) {
    // Those of the next rank.
    for (MPI_Offset at = 0; at < kEach; at += kPiece) {
      const MPI_Offset first = (MPI_Offset)((rank + 1) % size) * kEach + at, count = kPiece;
      NC(ncmpi_get_vara_double_all(file, id, &first, &count, piece));
      for (MPI_Offset i = 0; i < kPiece; ++i) SAME(piece[i], value(first + i), "v", first + i);
    }
    close_and_tell(file, again ? "reopened" : "created");
    if (!again) file = reopen("filled.nc", NC_NOWRITE);
  }
  return finish();
}
