// Alltoallv whose counts change in every step, as when a program balances its load (NAS IS does this with its keys).
//
//   rebalance [STEPS] [random]
//
// Counts drift by rule, or with random have none. They travel first, through Alltoall, as programs do it that do not
// know what they will get.
#include "pattern.h"

enum { kMost = 1021 };

static int by_chance;

static int share(int from, int to, long step) {
  if (!by_chance) return (int)((from * 7 + to * 5 + step * 3) % kMost);
  unsigned long long state =
      ((unsigned long long)step << 32) + (unsigned long long)from * 65536 + (unsigned long long)to;
  return (int)(draw(&state) % kMost);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 20);
  by_chance = said(argc, argv, "random");
  const size_t ranks = (size_t)size;
  int *give = room(sizeof(int) * ranks), *get = room(sizeof(int) * ranks);
  int *give_at = room(sizeof(int) * ranks), *get_at = room(sizeof(int) * ranks);
  int *out = room(sizeof(int) * kMost * ranks), *in = room(sizeof(int) * kMost * ranks);
  for (long i = 0; i < steps; ++i) {
    for (int to = 0, at = 0; to < size; at += give[to++]) {
      give[to] = share(rank, to, i);
      give_at[to] = at;
      for (int k = 0; k < give[to]; ++k) out[at + k] = rank * 1000 + to * 10 + k % 10;
    }
    MPI(MPI_Alltoall(give, 1, MPI_INT, get, 1, MPI_INT, MPI_COMM_WORLD));
    for (int from = 0, at = 0; from < size; at += get[from++]) {
      CHECK(get[from] == share(from, rank, i));
      get_at[from] = at;
    }
    MPI(MPI_Alltoallv(out, give, give_at, MPI_INT, in, get, get_at, MPI_INT, MPI_COMM_WORLD));
    for (int from = 0; from < size; ++from)
      for (int k = 0; k < get[from]; ++k) CHECK(in[get_at[from] + k] == from * 1000 + rank * 10 + k % 10);
  }
  return done("rebalance", steps);
}
