// A 2-D five-point stencil on any number of ranks: the regular program whose trace must not grow.
//
//   stencil2d ITERATIONS [memory]
//
// No periods: ranks at the edge exchange with MPI_PROC_NULL. A tag for each direction. Rank 0 prints the heat that is
// left; with `memory` every rank prints, after MPI_Finalize, a line of JSON with its peak resident memory in KiB.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSide = 32, kRow = kSide + 2 };

static double grid[kRow * kRow], next[kRow * kRow];

static long peak_kib(void) {
  char line[256];
  long kib = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) {
    if (strncmp(line, "VmHWM:", 6) == 0) kib = strtol(line + 6, NULL, 10);
  }
  if (status) fclose(status);
  return kib;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
  int ranks, me, dims[2] = {0, 0}, periods[2] = {0, 0}, north, south, west, east;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Comm mesh;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &mesh);
  MPI_Comm_rank(mesh, &me);
  MPI_Cart_shift(mesh, 0, 1, &north, &south);
  MPI_Cart_shift(mesh, 1, 1, &west, &east);
  MPI_Datatype column;
  MPI_Type_vector(kSide, 1, kRow, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < kRow * kRow; ++i) grid[i] = me;

  for (long n = 0; n < iterations; ++n) {
    MPI_Request r[8];
    MPI_Irecv(&grid[1], kSide, MPI_DOUBLE, north, 1, mesh, &r[0]);
    MPI_Irecv(&grid[(kSide + 1) * kRow + 1], kSide, MPI_DOUBLE, south, 2, mesh, &r[1]);
    MPI_Irecv(&grid[kRow], 1, column, west, 3, mesh, &r[2]);
    MPI_Irecv(&grid[kRow + kSide + 1], 1, column, east, 4, mesh, &r[3]);
    MPI_Isend(&grid[kSide * kRow + 1], kSide, MPI_DOUBLE, south, 1, mesh, &r[4]);
    MPI_Isend(&grid[kRow + 1], kSide, MPI_DOUBLE, north, 2, mesh, &r[5]);
    MPI_Isend(&grid[kRow + kSide], 1, column, east, 3, mesh, &r[6]);
    MPI_Isend(&grid[kRow + 1], 1, column, west, 4, mesh, &r[7]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    for (int y = 1; y <= kSide; ++y) {
      for (int x = 1; x <= kSide; ++x) {
        int at = y * kRow + x;
        next[at] = 0.25 * (grid[at - 1] + grid[at + 1] + grid[at - kRow] + grid[at + kRow]);
      }
    }
    memcpy(grid, next, sizeof grid);
  }

  double sum = 0, total = 0;
  for (int i = 0; i < kRow * kRow; ++i) sum += grid[i];
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, mesh);
  MPI_Type_free(&column);
  MPI_Comm_free(&mesh);
  if (me == 0) printf("%d ranks, %ld steps: mean temperature %.4f\n", ranks, iterations, total / (kRow * kRow) / ranks);
  MPI_Finalize();
  if (argc > 2 && strcmp(argv[2], "memory") == 0) printf("{\"peak_kib\": %ld}\n", peak_kib());
  return 0;
}
