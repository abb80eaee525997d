// Creating over a file that is there, with and without NC_NOCLOBBER; opening what is missing, what is no such file, and
// what may not be written; deleting. A file created anew has nothing of the old one.
#include <unistd.h>

#include "check.h"

enum { kEach = 5000 };

static void write_file(const char *name, int elements, int plus, int mode) {
  int file = create("noclobber.nc", mode);
  const int x = dimension(file, "x", (MPI_Offset)elements * size);
  const int v = variable(file, name, NC_INT, 1, &x);
  NC(ncmpi_enddef(file));
  const MPI_Offset begin = (MPI_Offset)rank * elements, count = elements;
  int *values = malloc(sizeof(int) * (size_t)elements);
  for (int i = 0; i < elements; ++i) values[i] = (int)begin + i + plus;
  NC(ncmpi_put_vara_int_all(file, v, &begin, &count, values));
  free(values);
  close_and_tell(file, name);
}

static void check_file(const char *name, int elements, int plus) {
  int file = reopen("noclobber.nc", NC_NOWRITE), v = -1, variables = -1;
  int *values = malloc(sizeof(int) * (size_t)(elements * size));
  NC(ncmpi_inq_nvars(file, &variables));
  SAME(variables, 1, "variables", 0);
  NC(ncmpi_inq_varid(file, name, &v));
  NC(ncmpi_get_var_int_all(file, v, values));
  for (int i = 0; i < elements * size; ++i) SAME(values[i], i + plus, name, i);
  ENDS(ncmpi_redef(file), NC_EPERM);
  ENDS(ncmpi_put_var_int_all(file, v, values), NC_EPERM);
  NC(ncmpi_close(file));
  free(values);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = -1;
  write_file("large", kEach, 3, NC_64BIT_DATA);
  check_file("large", kEach, 3);
  ENDS(ncmpi_create(MPI_COMM_WORLD, "noclobber.nc", NC_NOCLOBBER, MPI_INFO_NULL, &file), NC_EEXIST);
  check_file("large", kEach, 3);
  write_file("small", 10, 90, 0);
  check_file("small", 10, 90);
  ENDS(ncmpi_open(MPI_COMM_WORLD, "missing.nc", NC_NOWRITE, MPI_INFO_NULL, &file), NC_ENOENT);
  if (rank == 0) {
    FILE *text = fopen("noclobber.txt", "w");
    fputs("This is no file of PnetCDF, however long it may be.\n", text);
    fclose(text);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  ENDS(ncmpi_open(MPI_COMM_WORLD, "noclobber.txt", NC_NOWRITE, MPI_INFO_NULL, &file), NC_ENOTNC);
  NC(ncmpi_create(MPI_COMM_WORLD, "noclobber_new.nc", NC_NOCLOBBER, MPI_INFO_NULL, &file));
  NC(ncmpi_close(file));
  CHECK(access("noclobber_new.nc", F_OK) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  file = reopen("noclobber_new.nc", NC_NOWRITE);
  int variables = -1;
  NC(ncmpi_inq_nvars(file, &variables));
  SAME(variables, 0, "variables", 0);
  NC(ncmpi_close(file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) NC(ncmpi_delete("noclobber_new.nc", MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(access("noclobber_new.nc", F_OK) != 0);
  return finish();
}
