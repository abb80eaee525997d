// After a sync, what was written is there for everyone who opens the file, while its writer has it open and goes on: by
// all ranks, and by one alone. Then once more after more was written over it.
#include "check.h"

enum { kEach = 1000, kRounds = 3 };

static float value(int round, MPI_Offset i) { return (float)(round * 10000 + i) / 8; }

static void read_all(MPI_Comm comm, int rounds) {
  int file = -1, v = -1, dim = -1;
  MPI_Offset records = -1;
  const MPI_Offset all[2] = {1, kEach * size};
  float *got = malloc(sizeof(float) * (size_t)all[1]);
  NC(ncmpi_open(comm, "sync_read.nc", NC_NOWRITE, MPI_INFO_NULL, &file));
  NC(ncmpi_inq_varid(file, "record", &v));
  NC(ncmpi_inq_unlimdim(file, &dim));
  NC(ncmpi_inq_dimlen(file, dim, &records));
  SAME(records, rounds, "records", 0);
  for (MPI_Offset r = 0; r < rounds; ++r) {
    const MPI_Offset start[2] = {r, 0};
    NC(ncmpi_get_vara_float_all(file, v, start, all, got));
    for (int i = 0; i < all[1]; ++i) SAME(got[i], value((int)r, i), "record", i);
  }
  NC(ncmpi_inq_varid(file, "fixed", &v));
  NC(ncmpi_get_var_float_all(file, v, got));
  for (int i = 0; i < all[1]; ++i) SAME(got[i], value(100 * rounds, i), "fixed", i);
  NC(ncmpi_close(file));
  free(got);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = create("sync_read.nc", NC_64BIT_DATA);
  const int dims[2] = {dimension(file, "time", NC_UNLIMITED), dimension(file, "x", kEach * size)};
  const int fixed = variable(file, "fixed", NC_FLOAT, 1, &dims[1]),
            record = variable(file, "record", NC_FLOAT, 2, dims);
  NC(ncmpi_enddef(file));
  float mine[kEach];
  for (int round = 0; round < kRounds; ++round) {
    const MPI_Offset start[2] = {round, rank * kEach}, count[2] = {1, kEach};
    for (int i = 0; i < kEach; ++i) mine[i] = value(round, start[1] + i);
    NC(ncmpi_put_vara_float_all(file, record, start, count, mine));
    for (int i = 0; i < kEach; ++i) mine[i] = value(100 * (round + 1), start[1] + i);
    NC(ncmpi_put_vara_float_all(file, fixed, &start[1], &count[1], mine));
    settle(file);
    read_all(MPI_COMM_WORLD, round + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    read_all(MPI_COMM_SELF, round + 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  close_and_tell(file, "written");
  read_all(MPI_COMM_WORLD, kRounds);
  return finish();
}
