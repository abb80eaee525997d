// Several files open at once: of all ranks, of halves of them, of one rank each; written in turns, closed in another
// order, one reopened while others are still open.
#include "check.h"

enum { kFiles = 3, kEach = 50 };

static void put(int file, int v, int which, int me, MPI_Offset round) {
  const MPI_Offset start[2] = {round, me * kEach}, count[2] = {1, kEach};
  int values[kEach];
  for (int i = 0; i < kEach; ++i) values[i] = (int)(which * 100000 + round * 1000 + me * kEach + i);
  NC(ncmpi_put_vara_int_all(file, v, start, count, values));
}

static void check(int file, int v, int which, int ranks, MPI_Offset round) {
  const MPI_Offset start[2] = {round, 0}, count[2] = {1, ranks * kEach};
  int *values = malloc(sizeof(int) * (size_t)count[1]);
  NC(ncmpi_get_vara_int_all(file, v, start, count, values));
  for (int i = 0; i < count[1]; ++i) SAME(values[i], which * 100000 + round * 1000 + i, "file", which);
  free(values);
}

static int begin(MPI_Comm comm, const char *path, int mode, int ranks, int *v) {
  int file = -1;
  NC(ncmpi_create(comm, path, NC_CLOBBER | mode, MPI_INFO_NULL, &file));
  const int dims[2] = {dimension(file, "round", NC_UNLIMITED), dimension(file, "x", ranks * kEach)};
  *v = variable(file, "values", NC_INT, 2, dims);
  NC(ncmpi_enddef(file));
  return file;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  static const int kModes[kFiles] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
  int files[kFiles], v[kFiles], count = -1;
  char path[40];
  for (int f = 0; f < kFiles; ++f) {
    snprintf(path, sizeof path, "all_%d.nc", f);
    files[f] = begin(MPI_COMM_WORLD, path, kModes[f], size, &v[f]);
  }
  MPI_Comm half;
  int place, ranks, half_file, half_v, own_file, own_v;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_rank(half, &place);
  MPI_Comm_size(half, &ranks);
  snprintf(path, sizeof path, "half_%d.nc", rank % 2);
  half_file = begin(half, path, NC_64BIT_DATA, ranks, &half_v);
  snprintf(path, sizeof path, "own_%d.nc", rank);
  own_file = begin(MPI_COMM_SELF, path, 0, 1, &own_v);
  NC(ncmpi_inq_files_opened(&count, NULL));
  SAME(count, kFiles + 2, "open files", 0);
  for (MPI_Offset round = 0; round < 4; ++round) {
    for (int f = 0; f < kFiles; ++f) put(files[f], v[f], f, rank, round);
    put(half_file, half_v, 10 + rank % 2, place, round);
    // Not all ranks write as often into their own.
    for (int i = 0; i <= rank; ++i) put(own_file, own_v, 20 + rank, 0, round);
  }
  NC(ncmpi_close(own_file));
  close_and_tell(files[1], "second");
  snprintf(path, sizeof path, "all_%d.nc", 1);
  files[1] = reopen(path, NC_NOWRITE);
  NC(ncmpi_sync(half_file));
  MPI_Barrier(half);
  for (int f = 0; f < kFiles; f += 2) settle(files[f]);
  snprintf(path, sizeof path, "own_%d.nc", (rank + 1) % size);
  NC(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &own_file));
  for (MPI_Offset round = 0; round < 4; ++round) {
    for (int f = 0; f < kFiles; ++f) check(files[f], v[f], f, size, round);
    check(half_file, half_v, 10 + rank % 2, ranks, round);
    check(own_file, own_v, 20 + (rank + 1) % size, 1, round);
  }
  NC(ncmpi_close(half_file));
  NC(ncmpi_close(own_file));
  for (int f = 0; f < kFiles; ++f) close_and_tell(files[f], "all");
  MPI_Comm_free(&half);
  return finish();
}
