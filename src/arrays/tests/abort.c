// ncmpi_abort: a file that was being created is gone; new definitions of one that was there are gone and its data is as
// it was; in data mode it closes.
#include <unistd.h>

#include "check.h"

enum { kEach = 100 };

static void put(int file, int v, int plus) {
  const MPI_Offset begin = rank * kEach, count = kEach;
  int values[kEach];
  for (int i = 0; i < kEach; ++i) values[i] = (int)begin + i + plus;
  NC(ncmpi_put_vara_int_all(file, v, &begin, &count, values));
}

static void check(int file, const char *name, int plus) {
  int v, *values = malloc(sizeof(int) * (size_t)(kEach * size));
  NC(ncmpi_inq_varid(file, name, &v));
  NC(ncmpi_get_var_int_all(file, v, values));
  for (int i = 0; i < kEach * size; ++i) SAME(values[i], i + plus, name, i);
  free(values);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = create("abort_new.nc", 0);
  int x = dimension(file, "x", kEach * size);
  variable(file, "values", NC_INT, 1, &x);
  const int code = ncmpi_abort(file);  // one rank deletes it, and the others may find it gone
  CHECK(code == NC_NOERR || (code == NC_ENOENT && size > 1));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(access("abort_new.nc", F_OK) != 0);

  file = create("abort.nc", NC_64BIT_OFFSET);
  x = dimension(file, "x", kEach * size);
  int v = variable(file, "values", NC_INT, 1, &x);
  NC(ncmpi_enddef(file));
  put(file, v, 0);
  NC(ncmpi_redef(file));
  variable(file, "never", NC_INT, 1, &x);
  NC(ncmpi_abort(file));

  file = reopen("abort.nc", NC_WRITE);
  ENDS(ncmpi_inq_varid(file, "never", &v), NC_ENOTVAR);
  check(file, "values", 0);
  NC(ncmpi_inq_varid(file, "values", &v));
  put(file, v, 7);
  NC(ncmpi_abort(file));
  file = reopen("abort.nc", NC_NOWRITE);
  check(file, "values", 7);
  close_and_tell(file, "abort");
  return finish();
}
