// Calls that never repeat themselves, in an order that nobody can foresee: what a recorder takes of memory there.
//
//   disorder [CALLS] [memory] [alike]
//
// A rank sends to itself, each message with a size and a tag of its own, and draws which of four ways it takes; so each
// rank makes about CALLS calls, three of four with arguments that none before had, in an order of its own. alike: all
// ranks draw the same. memory: each rank tells its peak resident memory, after MPI_Finalize, as a line of JSON.
#include "pattern.h"

enum { kMost = 4096, kTags = 32768 };

static unsigned char out[kMost], in[kMost];

/// One message; gives how many calls that took.
static long exchange(int way, int count, int tag, long turn) {
  MPI_Request requests[2];
  mark(out, count, stamp(rank, rank, turn));
  switch (way) {
    case 0:
      MPI(MPI_Sendrecv(out, count, MPI_BYTE, rank, tag, in, count, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
      break;
    case 1:
      MPI(MPI_Irecv(in, count, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &requests[0]));
      MPI(MPI_Send(out, count, MPI_BYTE, rank, tag, MPI_COMM_WORLD));
      MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
      break;
    case 2:
      MPI(MPI_Isend(out, count, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &requests[0]));
      MPI(MPI_Recv(in, count, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
      break;
    default:
      MPI(MPI_Sendrecv(out, count, MPI_BYTE, rank, tag, in, kMost, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
      break;
  }
  expect(in, count, stamp(rank, rank, turn));
  return way == 1 || way == 2 ? 3 : 1;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long calls = number(argc, argv, 1, 1000);
  unsigned long long state = said(argc, argv, "alike") ? 1 : (unsigned long long)rank + 1;
  long turns = 0;
  for (long made = 0; made < calls; ++turns) {
    const unsigned long long drawn = draw(&state);
    made += exchange((int)(drawn & 3), (int)(drawn >> 8 & (kMost - 1)), (int)(drawn >> 32 & (kTags - 1)), turns);
  }
  const int result = done("disorder", calls);
  if (said(argc, argv, "memory")) printf("{\"peak_kib\": %ld}\n", peak_kib());
  return result;
}
