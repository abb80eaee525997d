// Windows of 64 messages and an acknowledgement, over message sizes, as osu_bw, osu_bibw and osu_mbw_mr.
//
//   bandwidth one|both|pairs [ITERATIONS [MAX_BYTES]]
//
// one: rank 0 sends, rank 1 receives. both: each sends and receives. pairs: every rank of the lower half sends to its
// partner in the upper half; with an odd number of ranks the last only meets in the barriers.
#include "pattern.h"

enum { kWindow = 64 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *mode = argc > 1 ? argv[1] : "one";
  const long iterations = number(argc, argv, 2, 20);
  const long most = number(argc, argv, 3, 1 << 20);
  const int both = strcmp(mode, "both") == 0;
  const int pairs = strcmp(mode, "pairs") == 0 ? size / 2 : 1;
  CHECK(size >= 2);
  const int sends = rank < pairs;
  const int receives = rank >= pairs && rank < 2 * pairs;
  const int other = sends ? rank + pairs : rank - pairs;
  char *out = room((size_t)most);
  // A slot for each message of a window, so that each can be verified.
  char *in = room((size_t)most * kWindow);
  char acknowledgement = 0;

  for (long bytes = 1; bytes <= most; bytes *= 2) {
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (!sends && !receives) continue;
    for (long i = 0; i < iterations; ++i) {
      MPI_Request request[2 * kWindow];
      int posted = 0;
      mark(out, bytes, stamp(rank, other, i));
      if (receives || both)
        for (int k = 0; k < kWindow; ++k)
          MPI(MPI_Irecv(in + k * most, (int)bytes, MPI_CHAR, other, 10, MPI_COMM_WORLD, &request[posted++]));
      if (sends || both)
        for (int k = 0; k < kWindow; ++k)
          MPI(MPI_Isend(out, (int)bytes, MPI_CHAR, other, 10, MPI_COMM_WORLD, &request[posted++]));
      MPI(MPI_Waitall(posted, request, MPI_STATUSES_IGNORE));
      if (receives || both)
        for (int k = 0; k < kWindow; ++k) expect(in + k * most, bytes, stamp(other, rank, i));
      if (receives) {
        acknowledgement = (char)stamp(rank, other, bytes);
        MPI(MPI_Send(&acknowledgement, 1, MPI_CHAR, other, 101, MPI_COMM_WORLD));
      } else {
        MPI(MPI_Recv(&acknowledgement, 1, MPI_CHAR, other, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(acknowledgement == (char)stamp(other, rank, bytes));
      }
    }
  }
  return done("bandwidth", iterations);
}
