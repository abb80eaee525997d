// Record variables: several of different types, interleaved in the file and growing together; written backwards and
// with gaps; grown by some ranks only and independently; one alone, whose records have no padding; reads past the last
// record.
#include "check.h"

enum { kWidth = 7 };

static int bytes_v, shorts_v, floats_v, doubles_v, fixed_v;

static double value(int v, MPI_Offset record, MPI_Offset place) {
  return (double)((record * 31 + place * 5 + v * 11) % 100);
}

/// This rank's share of one record of each variable.
static void put_record(int file, MPI_Offset record) {
  signed char b[kWidth];
  short s[kWidth];
  float f[kWidth];
  double d = value(doubles_v, record, 0);
  const MPI_Offset start[2] = {record, rank * kWidth}, count[2] = {1, kWidth};
  for (int i = 0; i < kWidth; ++i) {
    b[i] = (signed char)value(bytes_v, record, start[1] + i);
    s[i] = (short)value(shorts_v, record, start[1] + i);
    f[i] = (float)value(floats_v, record, start[1] + i) + 0.5F;
  }
  NC(ncmpi_put_vara_schar_all(file, bytes_v, start, count, b));
  NC(ncmpi_put_vara_short_all(file, shorts_v, start, count, s));
  NC(ncmpi_put_vara_float_all(file, floats_v, start, count, f));
  const MPI_Offset one[1] = {rank == record % size ? 1 : 0};  // one rank writes it
  NC(ncmpi_put_vara_double_all(file, doubles_v, start, one, &d));
}

static void check_record(int file, MPI_Offset record) {
  const MPI_Offset start[2] = {record, 0}, count[2] = {1, kWidth * size};
  signed char *b = malloc((size_t)count[1]);
  short *s = malloc(sizeof(short) * (size_t)count[1]);
  float *f = malloc(sizeof(float) * (size_t)count[1]);
  double d = -1;
  NC(ncmpi_get_vara_schar_all(file, bytes_v, start, count, b));
  NC(ncmpi_get_vara_short_all(file, shorts_v, start, count, s));
  NC(ncmpi_get_vara_float_all(file, floats_v, start, count, f));
  NC(ncmpi_get_var1_double_all(file, doubles_v, start, &d));
  for (MPI_Offset i = 0; i < count[1]; ++i) {
    SAME(b[i], value(bytes_v, record, i), "bytes", i);
    SAME(s[i], value(shorts_v, record, i), "shorts", i);
    SAME(f[i], value(floats_v, record, i) + 0.5, "floats", i);
  }
  SAME(d, value(doubles_v, record, 0), "double of record", record);
  free(b);
  free(s);
  free(f);
}

static MPI_Offset records_of(int file) {
  int dim = -1;
  MPI_Offset count = -1;
  NC(ncmpi_inq_unlimdim(file, &dim));
  NC(ncmpi_inq_dimlen(file, dim, &count));
  return count;
}

static void many(int mode) {
  int file = create("records.nc", mode);
  const int dims[2] = {dimension(file, "time", NC_UNLIMITED), dimension(file, "x", kWidth * size)};
  bytes_v = variable(file, "bytes", NC_BYTE, 2, dims);
  fixed_v = variable(file, "fixed", NC_INT, 1, &dims[1]);
  shorts_v = variable(file, "shorts", NC_SHORT, 2, dims);
  floats_v = variable(file, "floats", NC_FLOAT, 2, dims);
  doubles_v = variable(file, "doubles", NC_DOUBLE, 1, dims);
  NC(ncmpi_enddef(file));
  SAME(records_of(file), 0, "records", 0);
  for (MPI_Offset r = 0; r < 3; ++r) put_record(file, r);
  SAME(records_of(file), 3, "records", 1);
  int fixed[kWidth];
  const MPI_Offset begin = rank * kWidth, each = kWidth;
  for (int i = 0; i < kWidth; ++i) fixed[i] = (int)begin + i;
  NC(ncmpi_put_vara_int_all(file, fixed_v, &begin, &each, fixed));
  settle(file);
  for (MPI_Offset r = 0; r < 3; ++r) check_record(file, r);
  // Backwards, so that the first write makes six.
  for (MPI_Offset r = 5; r >= 3; --r) put_record(file, r);
  SAME(records_of(file), 6, "records", 2);
  settle(file);
  for (MPI_Offset r = 5; r >= 0; --r) check_record(file, r);
  const MPI_Offset beyond[2] = {6, 0}, one[2] = {1, 1};
  float f;
  ENDS(ncmpi_get_vara_float_all(file, floats_v, beyond, one, &f), NC_EINVALCOORDS);
  close_and_tell(file, "several");

  // Grown independently, each rank a record of its own; the number is known to all after the end of that mode.
  file = reopen("records.nc", NC_WRITE);
  SAME(records_of(file), 6, "records", 3);
  NC(ncmpi_begin_indep_data(file));
  const MPI_Offset start[2] = {6 + rank, 0}, count[2] = {1, kWidth * size};
  float *row = malloc(sizeof(float) * (size_t)count[1]);
  for (MPI_Offset i = 0; i < count[1]; ++i) row[i] = (float)(start[0] * 100 + i);
  NC(ncmpi_put_vara_float(file, floats_v, start, count, row));
  if (rank == 0) SAME(records_of(file), 7, "records of rank 0", 0);
  NC(ncmpi_end_indep_data(file));
  SAME(records_of(file), 6 + size, "records", 4);
  settle(file);
  const MPI_Offset next[2] = {6 + (rank + 1) % size, 0};
  NC(ncmpi_get_vara_float_all(file, floats_v, next, count, row));
  for (MPI_Offset i = 0; i < count[1]; ++i) SAME(row[i], next[0] * 100 + i, "independent record", i);
  for (MPI_Offset r = 0; r < 6; ++r) check_record(file, r);
  NC(ncmpi_get_vara_int_all(file, fixed_v, &begin, &each, fixed));
  for (int i = 0; i < kWidth; ++i) SAME(fixed[i], begin + i, "fixed", i);
  free(row);
  // Records of the other variables, so that the whole file has been written.
  for (MPI_Offset r = 6; r < 6 + size; ++r) put_record(file, r);
  close_and_tell(file, "grown");
}

/// The only record variable, of shorts and of odd length: its records follow each other without padding.
static void alone(void) {
  int file = create("alone.nc", 0);
  const int dims[2] = {dimension(file, "time", NC_UNLIMITED), dimension(file, "x", 5)};
  const int v = variable(file, "shorts", NC_SHORT, 2, dims);
  NC(ncmpi_enddef(file));
  MPI_Offset recsize = -1;
  NC(ncmpi_inq_recsize(file, &recsize));
  SAME(recsize, 10, "record size", 0);
  const MPI_Offset start[2] = {rank * 4, 0}, count[2] = {4, 5};
  short mine[20];
  for (int i = 0; i < 20; ++i) mine[i] = (short)(rank * 100 + i);
  NC(ncmpi_put_vara_short_all(file, v, start, count, mine));
  settle(file);
  const int of = (rank + 1) % size;
  const MPI_Offset next[2] = {of * 4, 0};
  NC(ncmpi_get_vara_short_all(file, v, next, count, mine));
  for (int i = 0; i < 20; ++i) SAME(mine[i], of * 100 + i, "alone", i);
  // Its columns: strided through all records.
  const MPI_Offset column[2] = {0, rank % 5}, all[2] = {4 * size, 1};
  short *got = malloc(sizeof(short) * (size_t)all[0]);
  NC(ncmpi_get_vara_short_all(file, v, column, all, got));
  for (int i = 0; i < 4 * size; ++i) SAME(got[i], i / 4 * 100 + i % 4 * 5 + rank % 5, "column", i);
  free(got);
  close_and_tell(file, "alone");
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  many(told(argc, argv, "cdf1") ? 0 : NC_64BIT_DATA);
  alone();
  return finish();
}
