// New definitions when there is data: the header grows and the data behind it moves, fixed and record variables are
// added, long attributes come, names change, twice over and once more after the file was opened again.
#include "check.h"

enum { kEach = 40, kRecords = 3 };

static int fixed_value(int v, MPI_Offset i) { return (int)(v * 10000 + i); }
static double record_value(int v, MPI_Offset r, MPI_Offset i) { return (double)(v * 10000 + r * 500 + i) / 4; }

static void put_fixed(int file, const char *name, int v) {
  int id, values[kEach];
  const MPI_Offset begin = rank * kEach, count = kEach;
  NC(ncmpi_inq_varid(file, name, &id));
  for (int i = 0; i < kEach; ++i) values[i] = fixed_value(v, begin + i);
  NC(ncmpi_put_vara_int_all(file, id, &begin, &count, values));
}

static void put_records(int file, const char *name, int v) {
  int id;
  double values[kRecords * kEach];
  const MPI_Offset begin[2] = {0, rank * kEach}, count[2] = {kRecords, kEach};
  NC(ncmpi_inq_varid(file, name, &id));
  for (int i = 0; i < kRecords * kEach; ++i) values[i] = record_value(v, i / kEach, begin[1] + i % kEach);
  NC(ncmpi_put_vara_double_all(file, id, begin, count, values));
}

static void check_fixed(int file, const char *name, int v) {
  int id, *values = malloc(sizeof(int) * (size_t)(kEach * size));
  NC(ncmpi_inq_varid(file, name, &id));
  NC(ncmpi_get_var_int_all(file, id, values));
  for (int i = 0; i < kEach * size; ++i) SAME(values[i], fixed_value(v, i), name, i);
  free(values);
}

static void check_records(int file, const char *name, int v) {
  int id;
  double *values = malloc(sizeof(double) * (size_t)(kRecords * kEach * size));
  NC(ncmpi_inq_varid(file, name, &id));
  NC(ncmpi_get_var_double_all(file, id, values));
  for (int i = 0; i < kRecords * kEach * size; ++i) {
    SAME(values[i], record_value(v, i / (kEach * size), i % (kEach * size)), name, i);
  }
  free(values);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = create("redefine.nc", told(argc, argv, "cdf1") ? 0 : NC_64BIT_DATA);
  const int record = dimension(file, "time", NC_UNLIMITED), x = dimension(file, "x", kEach * size);
  const int both[2] = {record, x};
  variable(file, "fixed_0", NC_INT, 1, &x);
  variable(file, "record_0", NC_DOUBLE, 2, both);
  NC(ncmpi_enddef(file));
  put_fixed(file, "fixed_0", 0);
  put_records(file, "record_0", 0);
  MPI_Offset before, after;
  NC(ncmpi_inq_header_extent(file, &before));

  // The header grows beyond its extent; a variable of each kind comes.
  NC(ncmpi_redef(file));
  char text[3000];
  memset(text, 'h', sizeof text);
  NC(ncmpi_put_att_text(file, NC_GLOBAL, "history", sizeof text, text));
  variable(file, "fixed_1", NC_INT, 1, &x);
  variable(file, "record_1", NC_DOUBLE, 2, both);
  NC(ncmpi_enddef(file));
  NC(ncmpi_inq_header_extent(file, &after));
  CHECK(after > before);
  check_fixed(file, "fixed_0", 0);
  check_records(file, "record_0", 0);
  put_fixed(file, "fixed_1", 1);
  put_records(file, "record_1", 1);
  close_and_tell(file, "first");

  // Opened again: places for later are kept free, names change, and a dimension comes.
  file = reopen("redefine.nc", NC_WRITE);
  check_fixed(file, "fixed_1", 1);
  check_records(file, "record_1", 1);
  NC(ncmpi_redef(file));
  int id;
  NC(ncmpi_inq_varid(file, "fixed_0", &id));
  NC(ncmpi_rename_var(file, id, "first_of_the_fixed_variables"));
  NC(ncmpi_rename_dim(file, x, "longitude"));
  const int y = dimension(file, "y", 9);
  variable(file, "late", NC_SHORT, 1, &y);
  variable(file, "record_2", NC_DOUBLE, 2, both);
  NC(ncmpi__enddef(file, 4096, 512, 2048, 512));
  NC(ncmpi_inq_header_extent(file, &before));
  const short late[9] = {1, 2, 3, 4, 5, 6, 7, 8, -9};
  short got[9];
  NC(ncmpi_inq_varid(file, "late", &id));
  NC(ncmpi_put_var_short_all(file, id, late));
  put_records(file, "record_2", 2);

  // There is room now: the header grows without a move. Names may get shorter even without redef.
  NC(ncmpi_redef(file));
  variable(file, "fixed_3", NC_INT, 1, &x);
  NC(ncmpi_enddef(file));
  NC(ncmpi_inq_varid(file, "first_of_the_fixed_variables", &id));
  NC(ncmpi_rename_var(file, id, "fixed"));
  put_fixed(file, "fixed_3", 3);
  settle(file);
  for (int again = 0; again < 2; ++again) {
    check_fixed(file, "fixed", 0);
    check_fixed(file, "fixed_1", 1);
    check_fixed(file, "fixed_3", 3);
    for (int v = 0; v < 3; ++v) {
      char name[16];
      snprintf(name, sizeof name, "record_%d", v);
      check_records(file, name, v);
    }
    NC(ncmpi_inq_varid(file, "late", &id));
    NC(ncmpi_get_var_short_all(file, id, got));
    CHECK(memcmp(got, late, sizeof got) == 0);
    NC(ncmpi_inq_header_extent(file, &after));
    if (rank == 0) printf("header extent %lld, %lld\n", (long long)before, (long long)after);
    close_and_tell(file, again ? "reopened" : "second");
    if (!again) file = reopen("redefine.nc", NC_NOWRITE);
  }
  return finish();
}
