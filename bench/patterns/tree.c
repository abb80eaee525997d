// A gather along a binary tree in every step, framed by a root that talks to every rank: what Nek5000's laminar flow
// does while it solves, and before and after.
//
//   tree [STEPS] [irregular]
//
// Before and after the steps every rank sends to the root, which receives from 1, 2, …, P-1 and answers each. In a step
// a rank receives from those of its children that exist and sends what they and it have to its parent. irregular: each
// rank also exchanges, every step, with partners that differ from rank to rank in number, place and size of the
// message.
#include "pattern.h"

enum { kFirst = 64, kMost = 8 };

static void talk(long about) {
  int word[kFirst];
  if (rank == 0) {
    for (int other = 1; other < size; ++other) {
      MPI(MPI_Recv(word, kFirst, MPI_INT, other, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(word[0] == other && word[kFirst - 1] == (int)about);
    }
    for (int other = 1; other < size; ++other) {
      word[0] = other * 2;
      MPI(MPI_Send(word, kFirst, MPI_INT, other, 22, MPI_COMM_WORLD));
    }
  } else {
    word[0] = rank;
    word[kFirst - 1] = (int)about;
    MPI(MPI_Send(word, kFirst, MPI_INT, 0, 21, MPI_COMM_WORLD));
    MPI(MPI_Recv(word, kFirst, MPI_INT, 0, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(word[0] == rank * 2);
  }
}

/// Binary tree over the ranks; every partial sum goes one level up.
static void gather(long step) {
  long sum = rank + step;
  for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < size; ++child) {
    long part = 0;
    MPI(MPI_Recv(&part, 1, MPI_LONG, child, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    sum += part;
  }
  if (rank > 0)
    MPI(MPI_Send(&sum, 1, MPI_LONG, (rank - 1) / 2, 23, MPI_COMM_WORLD));
  else
    CHECK(sum == (long)size * (size - 1) / 2 + size * step);
}

/// The list of pairs is the same on all ranks; each takes its own.
static void exchange(const int *pairs, int count, long step) {
  MPI_Request request[2 * kMost];
  static int in[kMost][kFirst], out[kMost][kFirst];
  int other[kMost], items[kMost], used = 0;
  for (int k = 0; k < count && used < kMost; ++k) {
    const int a = pairs[3 * k], b = pairs[3 * k + 1];
    if (a != rank && b != rank) continue;
    other[used] = a == rank ? b : a;
    items[used] = pairs[3 * k + 2];
    out[used][items[used] - 1] = (int)(rank + 7 * step);
    MPI(MPI_Irecv(in[used], items[used], MPI_INT, other[used], k, MPI_COMM_WORLD, &request[2 * used]));
    MPI(MPI_Isend(out[used], items[used], MPI_INT, other[used], k, MPI_COMM_WORLD, &request[2 * used + 1]));
    ++used;
  }
  MPI(MPI_Waitall(2 * used, request, MPI_STATUSES_IGNORE));
  for (int u = 0; u < used; ++u) CHECK(in[u][items[u] - 1] == (int)(other[u] + 7 * step));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 10);
  // Pairs (lower, higher, items); no rank is in more than kMost of them.
  int count = 0;
  int *pairs = room(sizeof(int) * 3 * (size_t)size);
  int *degree = room(sizeof(int) * (size_t)size);
  unsigned long long state = 11;
  for (int k = 0; k < size && size > 1 && said(argc, argv, "irregular"); ++k) {
    const int a = (int)(draw(&state) % (unsigned)size), b = (int)(draw(&state) % (unsigned)size);
    if (a == b || degree[a] == kMost || degree[b] == kMost) continue;
    ++degree[a];
    ++degree[b];
    pairs[3 * count] = a;
    pairs[3 * count + 1] = b;
    pairs[3 * count++ + 2] = 1 + (int)(draw(&state) % kFirst);
  }
  talk(1);
  for (long i = 0; i < steps; ++i) {
    gather(i);
    if (count > 0) exchange(pairs, count, i);
  }
  talk(2);
  return done("tree", steps);
}
