// Ping-pong between ranks 0 and 1 over message sizes, as osu_latency: others only meet in the barriers.
//
//   latency [ITERATIONS [MAX_BYTES]]
#include "pattern.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long iterations = number(argc, argv, 1, 100);
  const long most = number(argc, argv, 2, 1 << 20);
  const long warmup = iterations / 10 + 1;
  CHECK(size >= 2);
  char *out = room((size_t)most);
  char *in = room((size_t)most);
  double slowest = 0;

  for (long bytes = 1; bytes <= most; bytes *= 2) {
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    double begin = 0;
    for (long i = -warmup; i < iterations && rank < 2; ++i) {
      if (i == 0) begin = MPI_Wtime();
      const int other = 1 - rank;
      mark(out, bytes, stamp(rank, other, i + warmup));
      if (rank == 0) MPI(MPI_Send(out, (int)bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD));
      MPI(MPI_Recv(in, (int)bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      if (rank == 1) MPI(MPI_Send(out, (int)bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD));
      expect(in, bytes, stamp(other, rank, i + warmup));
    }
    if (rank < 2) slowest = MPI_Wtime() - begin;
  }
  CHECK(slowest >= 0);
  return done("latency", iterations);
}
