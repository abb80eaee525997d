// The flexible calls, whose buffers are MPI types: rows with ghost cells around them, columns, pieces in any order,
// counts that are ignored, and types that PnetCDF converts. What the types leave out of a buffer stays as it was.
#include "check.h"

enum { kRows = 4, kColumns = 6, kGhost = 2, kWide = kColumns + 2 * kGhost, kHigh = kRows + 2 * kGhost };
enum { kUntouched = -77 };

static int number(int variable, MPI_Offset row, MPI_Offset column) {
  return (int)(1000 * variable + 10 * row + column);
}

/// The inner part of a buffer with ghosts.
static MPI_Datatype inner(MPI_Datatype element) {
  MPI_Datatype type;
  MPI_Type_create_subarray(2, (int[]){kHigh, kWide}, (int[]){kRows, kColumns}, (int[]){kGhost, kGhost}, MPI_ORDER_C,
                           element, &type);
  MPI_Type_commit(&type);
  return type;
}

static void fill(int *buffer, int v) {
  for (int r = 0; r < kHigh; ++r) {
    for (int c = 0; c < kWide; ++c) {
      const int in = r >= kGhost && r < kGhost + kRows && c >= kGhost && c < kGhost + kColumns;
      buffer[r * kWide + c] = in ? number(v, rank * kRows + r - kGhost, c - kGhost) : kUntouched;
    }
  }
}

static void check(const int *buffer, int v, int of) {
  for (int r = 0; r < kHigh; ++r) {
    for (int c = 0; c < kWide; ++c) {
      const int in = r >= kGhost && r < kGhost + kRows && c >= kGhost && c < kGhost + kColumns;
      SAME(buffer[r * kWide + c], in ? number(v, of * kRows + r - kGhost, c - kGhost) : kUntouched, "ghosts",
           r * kWide + c);
    }
  }
}

static void clear(int *buffer) {
  for (int i = 0; i < kHigh * kWide; ++i) buffer[i] = kUntouched;
}

/// A matrix whose columns are the file's rows.
static void columns(int file, int v, int all, int of, int reading) {
  int turned[kColumns][kRows];
  MPI_Datatype column, every;
  MPI_Type_vector(kColumns, 1, kRows, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &every);
  MPI_Type_commit(&every);
  const MPI_Offset start[2] = {of * kRows, 0}, count[2] = {kRows, kColumns};
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) turned[c][r] = reading ? kUntouched : number(v, of * kRows + r, c);
  }
  if (reading) {
    NC(all ? ncmpi_get_vara_all(file, v, start, count, turned, kRows, every)
           : ncmpi_get_vara(file, v, start, count, turned, kRows, every));
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kColumns; ++c) SAME(turned[c][r], number(v, of * kRows + r, c), "columns", r * kColumns + c);
    }
  } else {
    NC(all ? ncmpi_put_vara_all(file, v, start, count, turned, kRows, every)
           : ncmpi_put_vara(file, v, start, count, turned, kRows, every));
  }
  MPI_Type_free(&column);
  MPI_Type_free(&every);
}

/// var1, vars, varm, varn, var through types and ignored counts.
static void others(int file, int v, int of, int reading) {
  int buffer[kHigh * kWide];
  MPI_Datatype type = inner(MPI_INT), half;
  const MPI_Offset stride[2] = {1, 2};
  MPI_Type_vector(kRows * kColumns / 2, 1, 2, MPI_INT, &half);
  MPI_Type_commit(&half);
  // vars: every second column, from every second element of the buffer.
  for (int odd = 0; odd < 2; ++odd) {
    int mine[kRows * kColumns];
    for (int i = 0; i < kRows * kColumns; ++i) {
      mine[i] = reading || i % 2 ? kUntouched : number(v, of * kRows + i / kColumns, i % kColumns + odd);
    }
    const MPI_Offset start[2] = {of * kRows, odd}, count[2] = {kRows, kColumns / 2};
    if (reading) {
      NC(ncmpi_get_vars_all(file, v, start, count, stride, mine, 1, half));
      for (int i = 0; i < kRows * kColumns; ++i) {
        SAME(mine[i], i % 2 ? kUntouched : number(v, of * kRows + i / kColumns, i % kColumns + odd), "vars", i);
      }
    } else {
      NC(ncmpi_put_vars_all(file, v, start, count, stride, mine, 1, half));
    }
  }
  // varn, all rows, last first, from the inner part of a buffer.
  MPI_Offset starts[kRows][2], counts[kRows][2], *start_list[kRows], *count_list[kRows];
  for (int r = 0; r < kRows; ++r) {
    starts[r][0] = of * kRows + kRows - 1 - r;
    starts[r][1] = 0;
    counts[r][0] = 1;
    counts[r][1] = kColumns;
    start_list[r] = starts[r];
    count_list[r] = counts[r];
  }
  clear(buffer);
  for (int i = 0; i < kRows * kColumns && !reading; ++i) {
    const int r = i / kColumns, c = i % kColumns;
    buffer[(r + kGhost) * kWide + c + kGhost] = number(v + 1, starts[r][0], c);
  }
  if (reading) {
    NC(ncmpi_get_varn_all(file, v + 1, kRows, start_list, count_list, buffer, 1, type));
    for (int i = 0; i < kRows * kColumns; ++i) {
      const int r = i / kColumns, c = i % kColumns;
      SAME(buffer[(r + kGhost) * kWide + c + kGhost], number(v + 1, starts[r][0], c), "varn", i);
    }
  } else {
    NC(ncmpi_put_varn_all(file, v + 1, kRows, start_list, count_list, buffer, 1, type));
  }
  // varm: transposed in memory and within ghosts. The map counts elements of the type.
  const MPI_Offset start[2] = {of * kRows, 0}, count[2] = {kRows, kColumns}, map[2] = {1, kRows};
  int turned[kColumns * kRows];
  for (int i = 0; i < kRows * kColumns; ++i) {
    turned[i] = reading ? kUntouched : number(v + 2, of * kRows + i % kRows, i / kRows);
  }
  if (reading) {
    NC(ncmpi_get_varm_all(file, v + 2, start, count, NULL, map, turned, kRows * kColumns, MPI_INT));
    for (int i = 0; i < kRows * kColumns; ++i) {
      SAME(turned[i], number(v + 2, of * kRows + i % kRows, i / kRows), "varm", i);
    }
  } else {
    NC(ncmpi_put_varm_all(file, v + 2, start, count, NULL, map, turned, kRows * kColumns, MPI_INT));
  }
  // MPI_DATATYPE_NULL: the buffer has the variable's type, and the count is ignored.
  const MPI_Offset at[2] = {of * kRows + 1, 3};
  if (reading) {
    int one = 0;
    NC(ncmpi_get_var1_all(file, v + 3, at, &one, 0, MPI_DATATYPE_NULL));
    SAME(one, number(v + 3, at[0], at[1]), "var1", 0);
    int *whole = malloc(sizeof(int) * (size_t)(kRows * kColumns * size));
    NC(ncmpi_get_var_all(file, v, whole, 0, MPI_DATATYPE_NULL));
    for (int i = 0; i < kRows * kColumns * size; ++i) SAME(whole[i], number(v, i / kColumns, i % kColumns), "var", i);
    free(whole);
  } else {
    const int one = number(v + 3, at[0], at[1]);
    NC(ncmpi_put_var1_all(file, v + 3, at, &one, 0, MPI_DATATYPE_NULL));
  }
  MPI_Type_free(&type);
  MPI_Type_free(&half);
}

/// A float variable from doubles and a double one from shorts, through types.
static void converted(int file, int floats, int doubles) {
  double wide[2 * kColumns];
  short narrow[3 * kColumns];
  MPI_Datatype second, third;
  MPI_Type_vector(kColumns, 1, 2, MPI_DOUBLE, &second);
  MPI_Type_vector(kColumns, 1, 3, MPI_SHORT, &third);
  MPI_Type_commit(&second);
  MPI_Type_commit(&third);
  const MPI_Offset start[2] = {rank, 0}, count[2] = {1, kColumns};
  for (int i = 0; i < 2 * kColumns; ++i) wide[i] = i % 2 ? 1e300 : rank + i / 8.0;
  for (int i = 0; i < 3 * kColumns; ++i) narrow[i] = (short)(i % 3 ? -1 : 100 * rank - i);
  NC(ncmpi_put_vara_all(file, floats, start, count, wide, 1, second));
  NC(ncmpi_put_vara_all(file, doubles, start, count, narrow, 1, third));
  memset(wide, 0, sizeof wide);
  memset(narrow, 0, sizeof narrow);
  NC(ncmpi_get_vara_all(file, floats, start, count, wide, 1, second));
  NC(ncmpi_get_vara_all(file, doubles, start, count, narrow, 1, third));
  for (int i = 0; i < 2 * kColumns; ++i) SAME(wide[i], i % 2 ? 0 : rank + i / 8.0, "doubles", i);
  for (int i = 0; i < 3 * kColumns; ++i) SAME(narrow[i], i % 3 ? 0 : 100 * rank - i, "shorts", i);
  MPI_Type_free(&second);
  MPI_Type_free(&third);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = create("flexible.nc", NC_64BIT_OFFSET);
  const int dims[2] = {dimension(file, "row", kRows * size), dimension(file, "column", kColumns)};
  int v[10];
  for (int i = 0; i < 10; ++i) {
    char name[8];
    snprintf(name, sizeof name, "v%d", i);
    v[i] = variable(file, name, i == 8 ? NC_FLOAT : i == 9 ? NC_DOUBLE : NC_INT, 2, dims);
  }
  NC(ncmpi_enddef(file));
  int buffer[kHigh * kWide];
  MPI_Datatype type = inner(MPI_INT);
  const MPI_Offset begin[2] = {rank * kRows, 0}, count[2] = {kRows, kColumns};
  fill(buffer, v[0]);
  NC(ncmpi_put_vara_all(file, v[0], begin, count, buffer, 1, type));
  columns(file, v[1], 1, rank, 0);
  others(file, v[4], rank, 0);
  converted(file, v[8], v[9]);
  NC(ncmpi_begin_indep_data(file));
  fill(buffer, v[2]);
  NC(ncmpi_put_vara(file, v[2], begin, count, buffer, 1, type));
  check(buffer, v[2], rank);
  columns(file, v[3], 0, rank, 0);
  NC(ncmpi_end_indep_data(file));
  settle(file);
  const int of = (rank + 1) % size;
  const MPI_Offset next[2] = {of * kRows, 0};
  for (int again = 0; again < 2; ++again) {
    for (int i = 0; i < 3; i += 2) {
      clear(buffer);
      NC(ncmpi_get_vara_all(file, v[i], next, count, buffer, 1, type));
      check(buffer, v[i], of);
    }
    columns(file, v[1], 1, of, 1);
    others(file, v[4], of, 1);
    NC(ncmpi_begin_indep_data(file));
    clear(buffer);
    NC(ncmpi_get_vara(file, v[0], next, count, buffer, 1, type));
    check(buffer, v[0], of);
    columns(file, v[3], 0, of, 1);
    NC(ncmpi_end_indep_data(file));
    close_and_tell(file, again ? "reopened" : "created");
    if (!again) file = reopen("flexible.nc", NC_NOWRITE);
  }
  MPI_Type_free(&type);
  return finish();
}
