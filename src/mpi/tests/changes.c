// Three calls a step, and by the letters of the argument: b: a barrier more; c: no broadcast; s: 20 steps more in the
// middle; x: calls of another kind instead, in no order that the others have.
#include <string.h>

#include "check.h"

static const char *how = "";
static int has(char what) { return strchr(how, what) != NULL; }

static void step(void) {
  int to = (rank + 1) % size, from = (rank + size - 1) % size, other = 0;
  MPI(MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &other, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  if (has('b')) MPI(MPI_Barrier(MPI_COMM_WORLD));
  MPI(MPI_Allreduce(&rank, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  if (!has('c')) MPI(MPI_Bcast(&other, 1, MPI_INT, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  if (argc > 1) how = argv[1];
  for (int i = 0; i < 200 && !has('x'); ++i) {
    step();
    if (i != 99) continue;
    MPI(MPI_Barrier(MPI_COMM_SELF));
    for (int more = 0; more < 20 && has('s'); ++more) {
      MPI(MPI_Barrier(MPI_COMM_WORLD));
      step();
    }
  }
  for (int i = 0; i < 100 && has('x'); ++i) {
    int all[64];
    MPI(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
  }
  return MPI_Finalize();
}
