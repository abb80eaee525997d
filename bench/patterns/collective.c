// One collective over message sizes, as the OSU micro-benchmarks: warm-up, timed calls with a barrier after each, then
// the least, greatest and mean time are reduced.
//
//   collective NAME [ITERATIONS [MAX_BYTES]]     NAME: allgather, …, scatterv; with an i before it, its nonblocking
//   form
#include "pattern.h"

static int *counts;  // of the v forms: equal, as in OSU
static int *displacements;
static char *in, *out;
static long step;
static const int root = 0;

/// A collective in both forms: with a request, it is started; without, it is done when it returns.
#define COLLECTIVE(name, Name, ...)               \
  static void name(int n, MPI_Request *request) { \
    (void)n;                                      \
    if (request)                                  \
      MPI(MPI_I##name(__VA_ARGS__, request));     \
    else                                          \
      MPI(MPI_##Name(__VA_ARGS__));               \
  }
#define WORLD MPI_COMM_WORLD
COLLECTIVE(allgather, Allgather, out, n, MPI_CHAR, in, n, MPI_CHAR, WORLD)
COLLECTIVE(allgatherv, Allgatherv, out, n, MPI_CHAR, in, counts, displacements, MPI_CHAR, WORLD)
COLLECTIVE(allreduce, Allreduce, out, in, n, MPI_INT, MPI_SUM, WORLD)
COLLECTIVE(alltoall, Alltoall, out, n, MPI_CHAR, in, n, MPI_CHAR, WORLD)
COLLECTIVE(alltoallv, Alltoallv, out, counts, displacements, MPI_CHAR, in, counts, displacements, MPI_CHAR, WORLD)
COLLECTIVE(barrier, Barrier, WORLD)
COLLECTIVE(bcast, Bcast, in, n, MPI_CHAR, root, WORLD)
COLLECTIVE(gather, Gather, out, n, MPI_CHAR, in, n, MPI_CHAR, root, WORLD)
COLLECTIVE(gatherv, Gatherv, out, n, MPI_CHAR, in, counts, displacements, MPI_CHAR, root, WORLD)
COLLECTIVE(reduce, Reduce, out, in, n, MPI_INT, MPI_SUM, root, WORLD)
COLLECTIVE(reduce_scatter, Reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, WORLD)
COLLECTIVE(scatter, Scatter, out, n, MPI_CHAR, in, n, MPI_CHAR, root, WORLD)
COLLECTIVE(scatterv, Scatterv, out, counts, displacements, MPI_CHAR, in, n, MPI_CHAR, root, WORLD)

/// Who has a block for whom afterwards.
enum shape { kNothing, kSame, kAllToRoot, kAllToAll, kEachToAll, kRootToAll, kSum, kSumAtRoot };

static const struct collective {
  const char *name;
  void (*call)(int, MPI_Request *);
  enum shape shape;
} kCollectives[] = {
    {"allgather", allgather, kEachToAll},
    {"allgatherv", allgatherv, kEachToAll},
    {"allreduce", allreduce, kSum},
    {"alltoall", alltoall, kAllToAll},
    {"alltoallv", alltoallv, kAllToAll},
    {"barrier", barrier, kNothing},
    {"bcast", bcast, kSame},
    {"gather", gather, kAllToRoot},
    {"gatherv", gatherv, kAllToRoot},
    {"reduce", reduce, kSumAtRoot},
    {"reduce_scatter", reduce_scatter, kSum},
    {"scatter", scatter, kRootToAll},
    {"scatterv", scatterv, kRootToAll},
};

enum { kCount = sizeof kCollectives / sizeof *kCollectives };

/// Stamps what this rank gives. Sums add integers; everything else moves blocks of bytes.
static void give(enum shape shape, int n) {
  if (shape == kSum || shape == kSumAtRoot) {
    for (long i = 0; i < (long)n * size; ++i) ((int *)out)[i] = rank + (int)(i % 5) + (int)step;
    memset(in, 0, (size_t)n * sizeof(int));
  } else if (shape == kSame) {
    mark(in, n, rank == root ? stamp(root, root, step) : 0);
  } else {
    for (int to = 0; to < size; ++to)
      mark(out + (long)to * n, n, stamp(rank, shape == kEachToAll || shape == kAllToRoot ? 0 : to, step));
    for (int from = 0; from < size; ++from) mark(in + (long)from * n, n, 0);
  }
}

static void verify(enum shape shape, int n, int first) {
  if (shape == kSum || (shape == kSumAtRoot && rank == root)) {
    for (int i = 0; i < n; ++i)
      CHECK(((int *)in)[i] == size * (size - 1) / 2 + size * ((int)((first + i) % 5) + (int)step));
  } else if (shape == kSame) {
    expect(in, n, stamp(root, root, step));
  } else if (shape == kRootToAll) {
    expect(in, n, stamp(root, rank, step));
  } else if (shape == kAllToAll || shape == kEachToAll || (shape == kAllToRoot && rank == root)) {
    for (int from = 0; from < size; ++from)
      expect(in + (long)from * n, n, stamp(from, shape == kAllToAll ? rank : 0, step));
  }
}

/// All sizes of one collective.
static void measure(const struct collective *what, int nonblocking, long iterations, long most) {
  const long warmup = iterations / 10 + 1;
  const int sums = what->shape == kSum || what->shape == kSumAtRoot;
  // Bytes of a block become integers of a sum; a barrier has one size.
  const long least = what->shape == kNothing ? most : sums ? (long)sizeof(int) : 1;
  for (long bytes = least; bytes <= most; bytes *= 2) {
    const int n = (int)(sums ? bytes / (long)sizeof(int) : bytes);
    for (int i = 0; i < size; ++i) {
      counts[i] = n;
      displacements[i] = i * n;
    }
    double spent = 0;
    MPI(MPI_Barrier(WORLD));
    for (step = 0; step < iterations + warmup; ++step) {
      give(what->shape, n);
      const double begin = MPI_Wtime();
      if (nonblocking) {
        MPI_Request request;
        what->call(n, &request);
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
      } else {
        what->call(n, NULL);
      }
      if (step >= warmup) spent += MPI_Wtime() - begin;
      MPI(MPI_Barrier(WORLD));
      verify(what->shape, n, what->call == reduce_scatter ? rank * n : 0);
    }
    double shortest = 0, longest = 0, sum = 0;
    MPI(MPI_Reduce(&spent, &shortest, 1, MPI_DOUBLE, MPI_MIN, 0, WORLD));
    MPI(MPI_Reduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, WORLD));
    MPI(MPI_Reduce(&spent, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD));
    CHECK(shortest <= longest);
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *name = argc > 1 ? argv[1] : "all";
  const long iterations = number(argc, argv, 2, 20);
  const long most = number(argc, argv, 3, 1 << 20);
  counts = room(sizeof(int) * (size_t)size);
  displacements = room(sizeof(int) * (size_t)size);
  in = room((size_t)most * (size_t)size);
  out = room((size_t)most * (size_t)size);
  int measured = 0;
  for (int i = 0; i < kCount; ++i) {
    const struct collective *what = &kCollectives[i];
    for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
      const int named =
          strcmp(name, "all") == 0 || (nonblocking == (name[0] == 'i') && strcmp(name + nonblocking, what->name) == 0);
      if (named) measure(what, nonblocking, iterations, most);
      measured += named;
    }
  }
  CHECK(measured > 0);  // otherwise there is no collective of that name
  return done(name, iterations);
}
