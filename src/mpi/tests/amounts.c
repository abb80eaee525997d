// Each rank sends each an amount that no law gives, as programs do that sort: by MPI_Alltoall they tell one another how
// much, by MPI_Alltoallv they send it.
#include "check.h"

enum { kMost = 64, kRounds = 3 };

static unsigned amount(int from, int to, int round) {
  unsigned state = (unsigned)(from * 977 + to * 131 + round * 7919 + size * 31) * 2654435761u;
  state ^= state >> 15;
  return (state * 2246822519u >> 13) % kMost;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int *sends = calloc(4 * (size_t)size, sizeof *sends);
  int *send_at = sends + size, *receives = sends + 2 * size, *receive_at = sends + 3 * size;
  int *out = calloc((size_t)size * kMost, sizeof *out), *in = calloc((size_t)size * kMost, sizeof *in);
  for (int round = 0; round < kRounds; ++round) {
    for (int to = 0; to < size; ++to) sends[to] = (int)amount(rank, to, round);
    MPI(MPI_Alltoall(sends, 1, MPI_INT, receives, 1, MPI_INT, MPI_COMM_WORLD));
    for (int other = 1; other < size; ++other) {
      send_at[other] = send_at[other - 1] + sends[other - 1];
      receive_at[other] = receive_at[other - 1] + receives[other - 1];
    }
    MPI(MPI_Alltoallv(out, sends, send_at, MPI_INT, in, receives, receive_at, MPI_INT, MPI_COMM_WORLD));
    for (int from = 0; from < size; ++from) CHECK(receives[from] == (int)amount(from, rank, round));
  }
  free(out);
  free(in);
  free(sends);
  return finish();
}
