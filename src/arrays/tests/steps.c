// A simulation's time steps, each little different from the one before, in record variables and along the first
// dimension of one of fixed size: written step by step, then some written again by the rank that wrote them and by
// others, with and without a sync between; read forwards, backwards, and step by step at random; appended to after the
// file was opened again. `independent`: in independent mode.
#include "check.h"

enum { kSteps = 9, kMore = 14, kEach = 300 };

static float wanted[kMore][64 * kEach];  // of all elements: what should be there
static int file, records, fixed, independent;

static float value(int step, int place, int seed) {
  // A level that each element keeps, and a little that changes.
  return 1000.0F + (float)(mixed((unsigned long long)place) % 1000) +
         (float)(mixed((unsigned long long)(place + 1000003 * (step + 100 * seed))) % 8) / 64;
}

/// The part of rank `part`, of a step, by this rank.
static void put(int step, int part, int seed) {
  static float values[kEach];
  for (int i = 0; i < kEach; ++i) values[i] = value(step, part * kEach + i, seed);
  const MPI_Offset start[2] = {step, (MPI_Offset)part * kEach}, count[2] = {1, kEach};
  double wide[kEach];
  for (int i = 0; i < kEach; ++i) wide[i] = values[i];
  if (independent) {
    NC(ncmpi_put_vara_float(file, records, start, count, values));
    if (step < kSteps) NC(ncmpi_put_vara_double(file, fixed, start, count, wide));
  } else {
    NC(ncmpi_put_vara_float_all(file, records, start, count, values));
    if (step < kSteps) NC(ncmpi_put_vara_double_all(file, fixed, start, count, wide));
  }
}

/// All parts of a step, each by the rank `shift` further on.
static void step_by_all(int step, int shift, int seed) {
  put(step, (rank + shift) % size, seed);
  for (int i = 0; i < size * kEach; ++i) wanted[step][i] = value(step, i, seed);
}

static void check_step(int step, int columns, int first) {
  static float values[64 * kEach];
  static double wide[64 * kEach];
  const MPI_Offset start[2] = {step, first}, count[2] = {1, columns};
  if (independent) {
    NC(ncmpi_get_vara_float(file, records, start, count, values));
    if (step < kSteps) NC(ncmpi_get_vara_double(file, fixed, start, count, wide));
  } else {
    NC(ncmpi_get_vara_float_all(file, records, start, count, values));
    if (step < kSteps) NC(ncmpi_get_vara_double_all(file, fixed, start, count, wide));
  }
  for (int i = 0; i < columns; ++i) {
    SAME(values[i], wanted[step][first + i], "records", step * 100000 + first + i);
    if (step < kSteps) SAME(wide[i], wanted[step][first + i], "fixed", step * 100000 + first + i);
  }
}

static void settle_here(void) {
  settle(file);
  if (independent) NC(ncmpi_end_indep_data(file));
  if (independent) NC(ncmpi_begin_indep_data(file));
}

static void check(int steps) {
  for (int step = steps; step-- > 0;) check_step(step, kEach, (rank + 1) % size * kEach);  // another rank's, backwards
  for (int i = 0; i < 6; ++i) check_step((int)(mixed((unsigned long long)i) % (unsigned)steps), size * kEach, 0);
  for (int step = 0; step < steps; ++step) check_step(step, kEach / 2, rank * kEach + kEach / 4);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(size <= 64);
  independent = told(argc, argv, "independent");
  file = create("steps.nc", NC_64BIT_DATA);
  const int time = dimension(file, "time", NC_UNLIMITED), step = dimension(file, "step", kSteps),
            x = dimension(file, "x", (MPI_Offset)size * kEach);
  records = variable(file, "records", NC_FLOAT, 2, (int[]){time, x});
  fixed = variable(file, "fixed", NC_DOUBLE, 2, (int[]){step, x});
  NC(ncmpi_enddef(file));
  if (independent) NC(ncmpi_begin_indep_data(file));
  for (int i = 0; i < kSteps; ++i) step_by_all(i, 0, 1);
  // Again, by others, before anybody knows of anything: MPI does not say what that comes to, but in collective calls
  // the later one counts.
  if (!independent) {
    step_by_all(4, 1, 2);
    step_by_all(5, 0, 2);
  }
  settle_here();
  check(kSteps);
  // What others are coded against, written again: the last, the first, one in the middle twice.
  step_by_all(kSteps - 1, 0, 3);
  step_by_all(0, 0, 3);
  settle_here();
  step_by_all(3, 1, 4);
  settle_here();
  step_by_all(3, 0, 5);
  step_by_all(4, 0, 5);
  settle_here();
  check(kSteps);
  if (independent) NC(ncmpi_end_indep_data(file));
  close_and_tell(file, "written");
  file = reopen("steps.nc", NC_WRITE);
  if (independent) NC(ncmpi_begin_indep_data(file));
  for (int i = kSteps; i < kMore; ++i) step_by_all(i, i % 2, 6);
  step_by_all(2, 1, 7);
  settle_here();
  check(kMore);
  if (independent) NC(ncmpi_end_indep_data(file));
  close_and_tell(file, "appended");
  file = reopen("steps.nc", NC_NOWRITE);
  if (independent) NC(ncmpi_begin_indep_data(file));
  check(kMore);
  if (independent) NC(ncmpi_end_indep_data(file));
  close_and_tell(file, "read");
  return finish();
}
