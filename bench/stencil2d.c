// A 2-D five-point stencil on any number of ranks: the regular program whose trace must not grow.
//
//   stencil2d ITERATIONS [onetag] [plain] [line] [linear] [memory]
//
// No periods: ranks at the edge exchange with MPI_PROC_NULL. A tag for each direction, or with onetag one for all.
// plain: through MPI_COMM_WORLD instead of the mesh. line: a mesh of one column. Rank 0 prints the heat that is left;
// with memory every rank prints, after MPI_Finalize, its peak resident memory. linear: heat is a linear function of the
// place, which no step may change, so that what came through each halo is verified; halos are wiped between steps.
#include "patterns/pattern.h"

enum { kSide = 32, kRow = kSide + 2 };

static double grid[kRow * kRow], next[kRow * kRow];
static double linear(int x, int y, int i) { return 3 * (y * kSide + i / kRow) + 5 * (x * kSide + i % kRow); }

static void start_heat(int verify, int me, const int rows_columns[2]) {
  const int x = me % rows_columns[1], y = me / rows_columns[1], rows = rows_columns[0], columns = rows_columns[1];
  for (int i = 0; i < kRow * kRow; ++i) {
    const int halo = (i < kRow && y > 0) || (i >= (kSide + 1) * kRow && y < rows - 1) || (i % kRow == 0 && x > 0) ||
                     (i % kRow == kSide + 1 && x < columns - 1);
    grid[i] = me;
    if (verify) grid[i] = next[i] = halo ? -1 : linear(x, y, i);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
  int ranks, me, dims[2] = {0, said(argc, argv, "line")}, periods[2] = {0, 0}, north, south, west, east;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Comm mesh;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &mesh);
  MPI_Comm_rank(mesh, &me);
  const MPI_Comm comm = said(argc, argv, "plain") ? MPI_COMM_WORLD : mesh;
  MPI_Cart_shift(mesh, 0, 1, &north, &south);
  MPI_Cart_shift(mesh, 1, 1, &west, &east);
  MPI_Datatype column;
  MPI_Type_vector(kSide, 1, kRow, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  const int verify = said(argc, argv, "linear"), tags = !said(argc, argv, "onetag");
  start_heat(verify, me, dims);
  for (long n = 0; n < iterations; ++n) {
    MPI_Request r[8];
    MPI_Irecv(&grid[1], kSide, MPI_DOUBLE, north, 1 * tags, comm, &r[0]);
    MPI_Irecv(&grid[(kSide + 1) * kRow + 1], kSide, MPI_DOUBLE, south, 2 * tags, comm, &r[1]);
    MPI_Irecv(&grid[kRow], 1, column, west, 3 * tags, comm, &r[2]);
    MPI_Irecv(&grid[kRow + kSide + 1], 1, column, east, 4 * tags, comm, &r[3]);
    MPI_Isend(&grid[kSide * kRow + 1], kSide, MPI_DOUBLE, south, 1 * tags, comm, &r[4]);
    MPI_Isend(&grid[kRow + 1], kSide, MPI_DOUBLE, north, 2 * tags, comm, &r[5]);
    MPI_Isend(&grid[kRow + kSide], 1, column, east, 3 * tags, comm, &r[6]);
    MPI_Isend(&grid[kRow + 1], 1, column, west, 4 * tags, comm, &r[7]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    for (int row = 1; row <= kSide; ++row) {
      for (int at = row * kRow + 1; at <= row * kRow + kSide; ++at)
        next[at] = 0.25 * (grid[at - 1] + grid[at + 1] + grid[at - kRow] + grid[at + kRow]);
    }
    memcpy(grid, next, sizeof grid);
  }

  double sum = 0, total = 0;
  for (int i = 0; i < kRow * kRow; ++i) sum += grid[i];
  for (int i = kRow; verify && i < (kSide + 1) * kRow; ++i)
    if (i % kRow > 0 && i % kRow <= kSide) CHECK(grid[i] == linear(me % dims[1], me / dims[1], i));
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, mesh);
  MPI_Type_free(&column);
  MPI_Comm_free(&mesh);
  if (me == 0) printf("%d ranks, %ld steps: mean temperature %.4f\n", ranks, iterations, total / (kRow * kRow) / ranks);
  MPI_Finalize();
  if (said(argc, argv, "memory")) printf("{\"peak_kib\": %ld}\n", peak_kib());
  return 0;
}
