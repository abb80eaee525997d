// Rank 0 writes all of a variable, and in the next collective call all ranks write their own parts of it, with nothing
// between the two calls: collective calls are order enough. Then ranks write each other's parts in turn, and at last
// all of them the same bytes in one call and in independent mode, where any of their values may be left, but one of
// them must be, in each element.
#include "check.h"

enum { kEach = 64, kVariables = 3, kRounds = 4 };

static int column(int v, int round, int part) { return (part + (v == 1 ? round : 0)) % size; }

/// Variable 2 is written in stripes: element i of all ranks stand side by side.
static void put(int file, int v, int of, int plus) {
  int values[kEach];
  for (int i = 0; i < kEach; ++i) values[i] = plus + (v == 2 ? i * size + of : of * kEach + i);
  const MPI_Offset start[1] = {v == 2 ? of : (MPI_Offset)of * kEach}, count[1] = {kEach},
                   stride[1] = {v == 2 ? size : 1};
  NC(ncmpi_put_vars_int_all(file, v, start, count, stride, values));
}

static void check(int file, int v, int plus) {
  int *values = malloc(sizeof(int) * (size_t)(kEach * size));
  NC(ncmpi_get_var_int_all(file, v, values));
  for (int i = 0; i < kEach * size; ++i) SAME(values[i], i + plus, "values", i);
  free(values);
}

static void put_all(int file, int v, int value, int independent) {
  int *values = malloc(sizeof(int) * (size_t)(kEach * size));
  for (int i = 0; i < kEach * size; ++i) values[i] = value;
  if (independent) {
    NC(ncmpi_put_var_int(file, v, values));
  } else {
    NC(ncmpi_put_var_int_all(file, v, values));
  }
  free(values);
}

static void check_any(int file, int v, int least) {
  int *values = malloc(sizeof(int) * (size_t)(kEach * size));
  NC(ncmpi_get_var_int_all(file, v, values));
  for (int i = 0; i < kEach * size; ++i) CHECK(values[i] >= least && values[i] < least + size);
  free(values);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int file = create("initialised.nc", NC_64BIT_DATA), v[kVariables];
  const int x = dimension(file, "x", (MPI_Offset)kEach * size);
  const char *names[kVariables] = {"own", "turns", "stripes"};
  for (int i = 0; i < kVariables; ++i) v[i] = variable(file, names[i], NC_INT, 1, &x);
  const int same = variable(file, "same", NC_INT, 1, &x), alone = variable(file, "alone", NC_INT, 1, &x);
  NC(ncmpi_enddef(file));
  const MPI_Offset begin = 0, all = rank == 0 ? (MPI_Offset)kEach * size : 0;
  int *zeros = calloc((size_t)(kEach * size), sizeof(int));
  for (int i = 0; i < kVariables; ++i) NC(ncmpi_put_vara_int_all(file, v[i], &begin, &all, zeros));
  free(zeros);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kVariables; ++i) put(file, v[i], column(i, round, rank), round);
  }
  for (int i = 0; i < kVariables; ++i) check(file, v[i], kRounds - 1);
  put_all(file, same, 1000 + rank, 0);
  check_any(file, same, 1000);
  NC(ncmpi_begin_indep_data(file));
  put_all(file, alone, 2000 + rank, 1);
  NC(ncmpi_end_indep_data(file));
  check_any(file, alone, 2000);
  // In the file that is left, the values are the same each time.
  if (rank != 0) {
    const MPI_Offset nothing = 0;
    NC(ncmpi_put_vara_int_all(file, same, &nothing, &nothing, NULL));
  } else {
    int *last = calloc((size_t)(kEach * size), sizeof(int));
    const MPI_Offset whole = (MPI_Offset)kEach * size;
    NC(ncmpi_put_vara_int_all(file, same, &begin, &whole, last));
    free(last);
  }
  settle(file);
  put_all(file, alone, 7, 0);
  close_and_tell(file, "initialised");
  file = reopen("initialised.nc", NC_NOWRITE);
  for (int i = 0; i < kVariables; ++i) check(file, v[i], kRounds - 1);
  NC(ncmpi_close(file));
  return finish();
}
