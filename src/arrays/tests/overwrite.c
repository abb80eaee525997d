// Parts of what was written are written again: before a sync, after it, and after the file was opened again; by the
// rank that wrote them and by others; smaller than before, across the seams of earlier pieces, one element at a time.
// The newest value wins everywhere, and what lies around it stays.
#include "check.h"

enum { kRows = 24, kEach = 50, kTimes = 40 };

static int columns;
static double *wanted;  // of all elements: what should be there

static void put(int file, int v, MPI_Offset row, MPI_Offset rows, MPI_Offset column, MPI_Offset width, int seed) {
  double *values = malloc(sizeof(double) * (size_t)(rows * width + 1));
  const MPI_Offset start[2] = {row, column}, count[2] = {rows, width};
  for (MPI_Offset i = 0; i < rows * width; ++i) {
    values[i] = (double)(mixed((unsigned long long)(seed * 100003 + (row + i / width) * columns + column + i % width)) %
                         100000);
  }
  NC(ncmpi_put_vara_double_all(file, v, start, count, values));
  free(values);
}

static void note(MPI_Offset row, MPI_Offset rows, MPI_Offset column, MPI_Offset width, int seed) {
  for (MPI_Offset r = row; r < row + rows; ++r) {
    for (MPI_Offset c = column; c < column + width; ++c) {
      wanted[r * columns + c] = (double)(mixed((unsigned long long)(seed * 100003 + r * columns + c)) % 100000);
    }
  }
}

static void check(int file, int v) {
  double *got = malloc(sizeof(double) * (size_t)(kRows * columns));
  NC(ncmpi_get_var_double_all(file, v, got));
  for (int i = 0; i < kRows * columns; ++i) SAME(got[i], wanted[i], "values", i);
  free(got);
}

/// Pieces of pseudo-random shape. In a round the ranks write disjoint bands of rows, shifted from round to round so
/// that every rank comes to write over the others' pieces.
static void many(int file, int v, int seed, int settled) {
  for (int time = 0; time < kTimes; ++time) {
    for (int of = 0; of < size; ++of) {
      const int band = (of + seed + (settled ? time : 0)) % size;
      const MPI_Offset low = kRows * band / size, high = kRows * (band + 1) / size;
      const unsigned long long dice = mixed((unsigned long long)(seed * 1000 + time * 64 + of));
      const MPI_Offset row = low + (MPI_Offset)(dice % (unsigned)(high - low));
      const MPI_Offset rows = 1 + (MPI_Offset)(dice / 64 % (unsigned)(high - row));
      const MPI_Offset column = (MPI_Offset)(dice / 4096 % (unsigned)columns);
      const MPI_Offset width = dice >> 20 & 1 ? 1 : 1 + (MPI_Offset)(dice / 65536 % (unsigned)(columns - column));
      if (of == rank) put(file, v, row, rows, column, width, seed + time);
      note(row, rows, column, width, seed + time);
    }
    if (settled) settle(file);  // another rank may write there next
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(size <= kRows);
  columns = kEach * size;
  wanted = calloc((size_t)(kRows * columns), sizeof(double));
  int file = create("overwrite.nc", NC_64BIT_DATA), v = -1;
  const int records = told(argc, argv, "records");
  const int dims[2] = {dimension(file, "row", records ? NC_UNLIMITED : kRows), dimension(file, "column", columns)};
  const int other = variable(file, "other", NC_SHORT, 1, dims);
  v = variable(file, "values", NC_DOUBLE, 2, dims);
  NC(ncmpi_enddef(file));
  // All of it first: by columns, so that every later piece crosses seams.
  put(file, v, 0, kRows, rank * kEach, kEach, 1);
  note(0, kRows, 0, columns, 1);
  short *shorts = calloc(kRows, sizeof(short));
  NC(ncmpi_put_var_short_all(file, other, shorts));
  settle(file);
  many(file, v, 2, 0);
  settle(file);
  check(file, v);
  many(file, v, 1000, 1);
  check(file, v);
  close_and_tell(file, "created");
  for (int open = 0; open < 2; ++open) {
    file = reopen("overwrite.nc", NC_WRITE);
    check(file, v);
    many(file, v, 2000 + open * 1000, 0);
    close_and_tell(file, "changed");
  }
  file = reopen("overwrite.nc", NC_NOWRITE);
  check(file, v);
  NC(ncmpi_get_var_short_all(file, other, shorts));
  for (int i = 0; i < kRows; ++i) SAME(shorts[i], 0, "other", i);
  close_and_tell(file, "read");
  free(shorts);
  free(wanted);
  return finish();
}
