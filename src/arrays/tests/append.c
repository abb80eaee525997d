// append FILE: writes over a part of the first step of `coordinates` as src/arrays/examples/md left it, reads all of it
// back, and appends a step. For files that the command line made.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(argc == 2);
  const int file = reopen(argv[1], NC_WRITE);
  int id = -1, dims[3];
  MPI_Offset length[3];
  NC(ncmpi_inq_varid(file, "coordinates", &id));
  NC(ncmpi_inq_vardimid(file, id, dims));
  for (int i = 0; i < 3; ++i) NC(ncmpi_inq_dimlen(file, dims[i], &length[i]));
  const MPI_Offset share = length[1] / size;
  float *values = malloc(sizeof(float) * (size_t)(length[1] * length[2]));
  for (MPI_Offset i = 0; i < share * length[2]; ++i)
    values[i] = (float)(mixed((unsigned long long)(rank * share + i)) % 1000);
  const MPI_Offset begin[3] = {0, rank * share + 1, 0}, count[3] = {1, share - 1, length[2]};
  NC(ncmpi_put_vara_float_all(file, id, begin, count, values));
  const MPI_Offset more[3] = {length[0], rank * share, 0}, whole[3] = {1, share, length[2]};
  NC(ncmpi_put_vara_float_all(file, id, more, whole, values));
  settle(file);
  const MPI_Offset first[3] = {0, 0, 0}, all[3] = {1, length[1], length[2]};
  NC(ncmpi_get_vara_float_all(file, id, first, all, values));
  for (MPI_Offset i = 0; i < (share - 1) * length[2]; ++i) {
    SAME(values[(rank * share + 1) * length[2] + i], mixed((unsigned long long)(rank * share + i)) % 1000,
         "coordinates", i);
  }
  NC(ncmpi_close(file));
  free(values);
  return finish();
}
