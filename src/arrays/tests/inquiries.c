// What PnetCDF says of a file is what the program defined: its format, dimensions, variables with their types, shapes,
// offsets and sizes, its path, its header's size, how many bytes were moved. For each of the three formats.
#include "check.h"

enum { kEach = 16, kVariables = 5 };

static const char *const kNames[kVariables] = {"bytes", "shorts", "floats", "scalar", "doubles"};
static const nc_type kTypes[kVariables] = {NC_BYTE, NC_SHORT, NC_FLOAT, NC_INT, NC_DOUBLE};

static void check(int file, const char *path, int format, int mode) {
  int dims = -1, variables = -1, attributes = -1, unlimited = -1, said = -1;
  char name[NC_MAX_NAME];
  MPI_Offset length = -1;
  NC(ncmpi_inq(file, &dims, &variables, &attributes, &unlimited));
  SAME(dims, 3, "dimensions", 0);
  SAME(variables, kVariables, "variables", 0);
  SAME(attributes, 1, "attributes", 0);
  SAME(unlimited, 0, "unlimited", 0);
  NC(ncmpi_inq_format(file, &said));
  SAME(said, format, "format", 0);
  NC(ncmpi_inq_version(file, &said));
  SAME(said, mode == 0 ? NC_CLASSIC_MODEL : mode, "version", 0);
  NC(ncmpi_inq_dim(file, 1, name, &length));
  CHECK(strcmp(name, "x") == 0);
  SAME(length, kEach * size, "length", 1);
  NC(ncmpi_inq_dimlen(file, 0, &length));
  SAME(length, 2, "records", 0);
  for (int v = 0; v < kVariables; ++v) {
    nc_type type;
    int ids[3], count = -1, id = -1;
    NC(ncmpi_inq_varid(file, kNames[v], &id));
    SAME(id, v, kNames[v], 0);
    NC(ncmpi_inq_var(file, v, name, &type, &count, ids, &attributes));
    CHECK(strcmp(name, kNames[v]) == 0);
    SAME(type, kTypes[v], name, 1);
    SAME(count, v == 3 ? 0 : v == 4 ? 3 : 2, name, 2);
    for (int d = 0; d < count; ++d) SAME(ids[d], v == 4 ? d : v < 2 ? d + 1 : d, name, 3 + d);
    SAME(attributes, v == 0, name, 6);
  }
  MPI_Offset record = -1, header = -1, extent = -1, offsets[kVariables];
  NC(ncmpi_inq_recsize(file, &record));
  SAME(record, kEach * size * 4 + kEach * size * 3 * 8, "record size", 0);
  NC(ncmpi_inq_header_size(file, &header));
  NC(ncmpi_inq_header_extent(file, &extent));
  for (int v = 0; v < kVariables; ++v) NC(ncmpi_inq_varoffset(file, v, &offsets[v]));
  char told[256];
  int letters = -1;
  NC(ncmpi_inq_path(file, &letters, told));
  CHECK(strcmp(told, path) == 0);
  SAME(letters, strlen(path), "path", 0);
  if (rank == 0) {
    printf("%s: header %lld of %lld, variables at", path, (long long)header, (long long)extent);
    for (int v = 0; v < kVariables; ++v) printf(" %lld", (long long)offsets[v]);
    puts("");
  }
  MPI_Info used;
  char hint[MPI_MAX_INFO_VAL + 1];
  int flag = 0;
  NC(ncmpi_inq_file_info(file, &used));
  MPI_Info_get(used, "nc_header_align_size", MPI_MAX_INFO_VAL, hint, &flag);
  CHECK(flag);
  MPI_Info_free(&used);
  int stripe_size = -1, stripes = -1;
  NC(ncmpi_inq_striping(file, &stripe_size, &stripes));
}

static void one_format(const char *path, int mode, int format) {
  int said = -1;
  int file = create(path, mode);
  const int dims[3] = {dimension(file, "time", NC_UNLIMITED), dimension(file, "x", kEach * size),
                       dimension(file, "y", 3)};
  const int v[kVariables] = {variable(file, "bytes", NC_BYTE, 2, &dims[1]),
                             variable(file, "shorts", NC_SHORT, 2, &dims[1]),
                             variable(file, "floats", NC_FLOAT, 2, dims), variable(file, "scalar", NC_INT, 0, NULL),
                             variable(file, "doubles", NC_DOUBLE, 3, dims)};
  NC(ncmpi_put_att_text(file, NC_GLOBAL, "title", 5, "title"));
  NC(ncmpi_put_att_text(file, v[0], "units", 1, "m"));
  NC(ncmpi_enddef(file));
  MPI_Offset before = -1, after = -1;
  NC(ncmpi_inq_put_size(file, &before));
  double values[kEach * 3 * 2];
  for (int i = 0; i < kEach * 3 * 2; ++i) values[i] = rank * 100 + i / 2.0;
  const MPI_Offset start[3] = {0, rank * kEach, 0}, count[3] = {2, kEach, 3};
  NC(ncmpi_put_vara_double_all(file, v[4], start, count, values));
  NC(ncmpi_inq_put_size(file, &after));
  SAME(after - before, (long long)sizeof values + (rank == 0 ? (mode == NC_64BIT_DATA ? 8 : 4) : 0), "put", 0);
  const int scalar = 42;
  NC(ncmpi_put_var_int_all(file, v[3], &scalar));
  float floats[kEach * 2];
  signed char bytes[kEach * 3];
  short shorts[kEach * 3];
  for (int i = 0; i < kEach * 2; ++i) floats[i] = (float)(rank + i);
  for (int i = 0; i < kEach * 3; ++i) shorts[i] = bytes[i] = (signed char)(rank + i);
  NC(ncmpi_put_vara_float_all(file, v[2], start, count, floats));
  NC(ncmpi_put_vara_schar_all(file, v[0], start + 1, count + 1, bytes));
  NC(ncmpi_put_vara_short_all(file, v[1], start + 1, count + 1, shorts));
  settle(file);
  check(file, path, format, mode);
  NC(ncmpi_inq_get_size(file, &before));
  NC(ncmpi_get_vara_double_all(file, v[4], start, count, values));
  NC(ncmpi_inq_get_size(file, &after));
  SAME(after - before, sizeof values, "got", 0);
  // Not of a file that was opened: 1.12.3 says whatever was in its memory.
  NC(ncmpi_inq_num_rec_vars(file, &said));
  SAME(said, 2, "record variables", 0);
  NC(ncmpi_inq_num_fix_vars(file, &said));
  SAME(said, 3, "fixed variables", 0);
  close_and_tell(file, path);
  for (int open = 0; open < 2; ++open) {
    file = reopen(path, open ? NC_WRITE : NC_NOWRITE);
    check(file, path, format, mode);
    int got = 0;
    NC(ncmpi_get_var_int_all(file, v[3], &got));
    SAME(got, scalar, "scalar", 0);
    NC(ncmpi_get_vara_double_all(file, v[4], start, count, values));
    for (int i = 0; i < kEach * 3 * 2; ++i) SAME(values[i], rank * 100 + i / 2.0, "doubles", i);
    close_and_tell(file, "again");
  }
  if (rank == 0) {
    NC(ncmpi_inq_file_format(path, &said));
    SAME(said, format, "format of the closed file", 0);
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  one_format("inquiries_1.nc", 0, NC_FORMAT_CLASSIC);
  one_format("inquiries_2.nc", NC_64BIT_OFFSET, NC_FORMAT_CDF2);
  one_format("inquiries_5.nc", NC_64BIT_DATA, NC_FORMAT_CDF5);
  return finish();
}
