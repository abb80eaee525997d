// Fill values: of the file, of variables, their own ones, of records as they come; what is not written reads as the
// fill value, and what is written in pieces has it around the pieces.
#include "check.h"

enum { kEach = 12, kWidth = 30 };

static int fixed, own, none, record, record_own;

static void check_row(const float *row, MPI_Offset count, MPI_Offset first, MPI_Offset past, float fill,
                      const char *what) {
  for (MPI_Offset i = 0; i < count; ++i) SAME(row[i], i >= first && i < past ? (float)i : fill, what, i);
}

static void check_all(int file, const float *own_fill) {
  const MPI_Offset count = kWidth * size;
  float *row = malloc(sizeof(float) * (size_t)count);
  // Each rank wrote kEach elements in the middle of its kWidth.
  NC(ncmpi_get_var_float_all(file, fixed, row));
  for (MPI_Offset i = 0; i < count; ++i) {
    SAME(row[i], i % kWidth >= 5 && i % kWidth < 5 + kEach ? (float)i : NC_FILL_FLOAT, "fixed", i);
  }
  NC(ncmpi_get_var_float_all(file, own, row));
  check_row(row, count, 0, 0, *own_fill, "own");
  NC(ncmpi_get_var_float_all(file, none, row));
  check_row(row, count, 0, count, 0, "none");
  for (MPI_Offset r = 0; r < 3; ++r) {
    const MPI_Offset start[2] = {r, 0}, all[2] = {1, count};
    NC(ncmpi_get_vara_float_all(file, record, start, all, row));
    check_row(row, count, r == 1 ? 0 : kWidth / 2, r == 1 ? 0 : kWidth, NC_FILL_FLOAT, "record");
    NC(ncmpi_get_vara_float_all(file, record_own, start, all, row));
    check_row(row, count, 0, r == 1 ? count : 0, *own_fill, "record with its own");
  }
  free(row);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const float own_fill = -12.5F;
  int file = create("fills.nc", told(argc, argv, "cdf1") ? 0 : NC_64BIT_DATA), old = -1, off = -1;
  float said = 0;
  NC(ncmpi_set_fill(file, NC_FILL, &old));
  SAME(old, NC_NOFILL, "mode", 0);
  const int dims[2] = {dimension(file, "time", NC_UNLIMITED), dimension(file, "x", kWidth * size)};
  fixed = variable(file, "fixed", NC_FLOAT, 1, &dims[1]);
  own = variable(file, "own", NC_FLOAT, 1, &dims[1]);
  none = variable(file, "none", NC_FLOAT, 1, &dims[1]);
  record = variable(file, "record", NC_FLOAT, 2, dims);
  record_own = variable(file, "record_own", NC_FLOAT, 2, dims);
  NC(ncmpi_def_var_fill(file, own, 0, &own_fill));
  NC(ncmpi_def_var_fill(file, none, 1, NULL));
  NC(ncmpi_def_var_fill(file, record_own, 0, &own_fill));
  NC(ncmpi_enddef(file));
  NC(ncmpi_inq_var_fill(file, own, &off, &said));
  SAME(off, 0, "off", 0);
  SAME(said, own_fill, "fill", 0);
  NC(ncmpi_inq_var_fill(file, none, &off, NULL));
  SAME(off, 1, "off", 1);

  float values[kWidth * 64];
  CHECK(size <= 64);
  MPI_Offset first = rank * kWidth + 5, count = kEach;
  for (int i = 0; i < kEach; ++i) values[i] = (float)(first + i);
  NC(ncmpi_put_vara_float_all(file, fixed, &first, &count, values));
  first = rank * kWidth;
  count = kWidth;
  for (int i = 0; i < kWidth; ++i) values[i] = (float)(first + i);
  NC(ncmpi_put_vara_float_all(file, none, &first, &count, values));

  // Records are filled when they are told to be; then one rank writes a piece.
  for (MPI_Offset r = 0; r < 3; ++r) {
    NC(ncmpi_fill_var_rec(file, record, r));
    NC(ncmpi_fill_var_rec(file, record_own, r));
    const MPI_Offset start[2] = {r, kWidth / 2}, piece[2] = {1, rank == 0 && r != 1 ? kWidth / 2 : 0};
    for (int i = 0; i < kWidth / 2; ++i) values[i] = (float)(kWidth / 2 + i);
    NC(ncmpi_put_vara_float_all(file, record, start, piece, values));
  }
  const MPI_Offset middle[2] = {1, rank * kWidth}, whole[2] = {1, kWidth};
  for (int i = 0; i < kWidth; ++i) values[i] = (float)(middle[1] + i);
  NC(ncmpi_put_vara_float_all(file, record_own, middle, whole, values));
  settle(file);
  check_all(file, &own_fill);

  // A variable that comes later is filled when its definition ends.
  NC(ncmpi_redef(file));
  const int late = variable(file, "late", NC_SHORT, 1, &dims[1]);
  NC(ncmpi_def_var_fill(file, late, 0, NULL));
  NC(ncmpi_enddef(file));
  short *shorts = malloc(sizeof(short) * (size_t)(kWidth * size));
  for (int again = 0; again < 2; ++again) {
    NC(ncmpi_get_var_short_all(file, late, shorts));
    for (int i = 0; i < kWidth * size; ++i) SAME(shorts[i], NC_FILL_SHORT, "late", i);
    check_all(file, &own_fill);
    close_and_tell(file, again ? "reopened" : "created");
    if (!again) file = reopen("fills.nc", NC_NOWRITE);
  }
  free(shorts);
  return finish();
}
