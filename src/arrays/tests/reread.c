// Written by some number of ranks, read by others, in other shares: `reread write` and `reread read` may be run on any
// numbers of ranks; both also use parts of their ranks.
//   reread write | read
#include "check.h"

enum { kLayers = 6, kRows = 35, kColumns = 51 };

static float value(MPI_Offset layer, MPI_Offset row, MPI_Offset column) {
  return (float)(250 + layer * 10) + (float)((row * 7 + column * 3) % 64) / 64;
}

/// A share of the rows, or of the columns.
static void share(MPI_Offset total, int me, int ranks, MPI_Offset *first, MPI_Offset *count) {
  *first = total * me / ranks;
  *count = total * (me + 1) / ranks - *first;
}

static void write_file(void) {
  int file = create("reread.nc", NC_64BIT_DATA);
  const int dims[3] = {dimension(file, "layer", kLayers), dimension(file, "row", kRows),
                       dimension(file, "column", kColumns)};
  const int v = variable(file, "values", NC_FLOAT, 3, dims);
  NC(ncmpi_enddef(file));
  MPI_Offset start[3] = {0, 0, 0}, count[3] = {kLayers, kRows, kColumns};
  share(kRows, rank, size, &start[1], &count[1]);
  float *values = malloc(sizeof(float) * (size_t)(kLayers * count[1] * kColumns));
  size_t i = 0;
  for (MPI_Offset l = 0; l < kLayers; ++l) {
    for (MPI_Offset r = start[1]; r < start[1] + count[1]; ++r) {
      for (MPI_Offset c = 0; c < kColumns; ++c) values[i++] = value(l, r, c);
    }
  }
  NC(ncmpi_put_vara_float_all(file, v, start, count, values));
  free(values);
  close_and_tell(file, "written");
}

static void read_share(MPI_Comm comm, int axis, int independent) {
  int file = -1, v = -1, me, ranks;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  NC(ncmpi_open(comm, "reread.nc", NC_NOWRITE, MPI_INFO_NULL, &file));
  NC(ncmpi_inq_varid(file, "values", &v));
  MPI_Offset start[3] = {0, 0, 0}, count[3] = {kLayers, kRows, kColumns};
  share(count[axis], me, ranks, &start[axis], &count[axis]);
  float *values = malloc(sizeof(float) * (size_t)(count[0] * count[1] * count[2] + 1));
  if (independent) NC(ncmpi_begin_indep_data(file));
  NC(independent ? ncmpi_get_vara_float(file, v, start, count, values)
                 : ncmpi_get_vara_float_all(file, v, start, count, values));
  for (MPI_Offset i = 0; i < count[0] * count[1] * count[2]; ++i) {
    const MPI_Offset l = start[0] + i / (count[1] * count[2]), r = start[1] + i / count[2] % count[1];
    SAME(values[i], value(l, r, start[2] + i % count[2]), "values", i);
  }
  if (independent) NC(ncmpi_end_indep_data(file));
  NC(ncmpi_close(file));
  free(values);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  if (told(argc, argv, "write")) write_file();
  for (int axis = 0; axis < 3; ++axis) {
    for (int independent = 0; independent < 2; ++independent) {
      read_share(MPI_COMM_WORLD, axis, independent);
      read_share(MPI_COMM_SELF, axis, independent);
      MPI_Comm part;
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
      read_share(part, axis, independent);
      MPI_Comm_free(&part);
    }
  }
  return finish();
}
