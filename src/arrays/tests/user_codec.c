/// A codec of the program's own (ncmpi_comp_reg), one of Cairn's by name for one variable, and what a reader gets
/// without it. Arguments: the file, and `read` to read what another run has written, or `stranger` to do so without the
/// codec.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cairn/arrays.h"
#include "check.h"

enum { kCount = 4000 };

/// Every value is a small multiple of the argument: one byte each.
static size_t shrink(void *in, size_t in_size, void *out, size_t out_size, cairn_arrays_args *args) {
  const int unit = *(const int *)args->user_args;
  const size_t count = in_size / sizeof(int);
  if (count > out_size) return 0;
  for (size_t i = 0; i < count; ++i) {
    int value;
    memcpy(&value, (const char *)in + i * sizeof value, sizeof value);
    if (value % unit != 0 || value / unit < 0 || value / unit > 255) return 0;
    ((unsigned char *)out)[i] = (unsigned char)(value / unit);
  }
  return count;
}

static size_t grow(void *in, size_t in_size, void *out, size_t out_size, cairn_arrays_args *args) {
  const int unit = *(const int *)args->user_args;
  if (in_size * sizeof(int) != out_size) return 0;
  for (size_t i = 0; i < in_size; ++i) {
    const int value = ((const unsigned char *)in)[i] * unit;
    memcpy((char *)out + i * sizeof value, &value, sizeof value);
  }
  return out_size;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *path = argc > 1 ? argv[1] : "user_codec.nc";
  const char *what = argc > 2 ? argv[2] : "write";
  int (*reg)(int, int, cairn_arrays_code_f, cairn_arrays_code_f, const cairn_arrays_args *) = NULL;
  *(void **)&reg = dlsym(RTLD_DEFAULT, "ncmpi_comp_reg");
  CHECK(reg != NULL);
  int unit = 12345, file, dimension, ints, floats;
  cairn_arrays_args args = {&unit, sizeof unit, 1000, "multiples"};
  const MPI_Offset start = rank * kCount, count = kCount;
  int *values = malloc(sizeof *values * kCount);
  float *others = malloc(sizeof *others * kCount);
  if (strcmp(what, "write") == 0) {
    NC(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    NC(ncmpi_def_dim(file, "x", (MPI_Offset)kCount * size, &dimension));
    NC(ncmpi_def_var(file, "ints", NC_INT, 1, &dimension, &ints));
    NC(ncmpi_def_var(file, "floats", NC_FLOAT, 1, &dimension, &floats));
    NC(reg(file, ints, shrink, grow, &args));
    const cairn_arrays_args named = {NULL, 0, 0, "store"};
    NC(reg(file, floats, NULL, NULL, &named));
    CHECK(reg(file, 7, shrink, grow, &args) == NC_ENOTVAR);
    const cairn_arrays_args unknown = {NULL, 0, 0, "no such codec"};
    CHECK(reg(file, floats, NULL, NULL, &unknown) == NC_EINVAL);
    NC(ncmpi_enddef(file));
    for (int i = 0; i < kCount; ++i) values[i] = (int)((start + i) % 250) * unit;
    for (int i = 0; i < kCount; ++i) others[i] = (float)(start + i) / 3;
    NC(ncmpi_put_vara_int_all(file, ints, &start, &count, values));
    NC(ncmpi_put_vara_float_all(file, floats, &start, &count, others));
  } else {
    NC(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    NC(ncmpi_inq_varid(file, "ints", &ints));
    NC(ncmpi_inq_varid(file, "floats", &floats));
    if (strcmp(what, "read") == 0) NC(reg(file, ints, NULL, grow, &args));
  }
  if (strcmp(what, "stranger") == 0) {
    CHECK(ncmpi_get_vara_int_all(file, ints, &start, &count, values) != NC_NOERR);
  } else {
    memset(values, 0, sizeof *values * kCount);
    NC(ncmpi_get_vara_int_all(file, ints, &start, &count, values));
    for (int i = 0; i < kCount; ++i) SAME(values[i], (int)((start + i) % 250) * unit, "ints", i);
  }
  memset(others, 0, sizeof *others * kCount);
  NC(ncmpi_get_vara_float_all(file, floats, &start, &count, others));
  for (int i = 0; i < kCount; ++i) SAME(others[i], (float)(start + i) / 3, "floats", i);
  NC(ncmpi_close(file));
  free(values);
  free(others);
  MPI_Finalize();
  return 0;
}
