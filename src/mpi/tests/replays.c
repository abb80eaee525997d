// What replays.py replays in several ways.
//   replays sends   two ranks that send to each other before they receive: it goes well while MPI buffers
//   replays pauses  ranks that compute between calls
//   replays paces   of ten pauses before one call, nine of a millisecond and one of twenty
//   replays buffers messages from and to segments of the heap of their own
//   replays bottom  parts for neighbours whose places are addresses
#include <time.h>

#include "check.h"

enum { kBytes = 1024, kSegments = 5 };

static void send_first(void) {
  static char out[kBytes], in[kBytes];
  if (rank > 1) return;
  MPI(MPI_Send(out, kBytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD));
  MPI(MPI_Recv(in, kBytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void pause_between(void) {
  for (int i = 0; i < 3; ++i) {
    const struct timespec tenth = {0, 100000000};
    nanosleep(&tenth, NULL);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
}

static void two_paces(void) {
  for (int i = 0; i < 100; ++i) {
    const struct timespec pause = {0, i % 10 == 9 ? 20000000 : 1000000};
    nanosleep(&pause, NULL);
    MPI(MPI_Barrier(MPI_COMM_SELF));
  }
}

static void from_segments(void) {
  char *segments[kSegments];
  for (int i = 0; i < kSegments; ++i) segments[i] = calloc(1, kBytes);
  for (int i = 0; i + 1 < kSegments; ++i)
    MPI(MPI_Sendrecv(segments[i], kBytes, MPI_BYTE, right(), i, segments[i + 1], kBytes, MPI_BYTE, left(), i,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < kSegments; ++i) free(segments[i]);
}

static void from_bottom(void) {
  const int periodic = 1;
  static int out[2], in[2], counts[2] = {1, 1};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Aint from[2], to[2];
  for (int i = 0; i < 2; ++i) {
    MPI(MPI_Get_address(&out[i], &from[i]));
    MPI(MPI_Get_address(&in[i], &to[i]));
  }
  MPI_Comm ring;
  MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring));
  MPI(MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, ring));
  MPI(MPI_Comm_free(&ring));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(argc == 2 && size > 1);
  if (strcmp(argv[1], "sends") == 0) send_first();
  if (strcmp(argv[1], "pauses") == 0) pause_between();
  if (strcmp(argv[1], "paces") == 0) two_paces();
  if (strcmp(argv[1], "buffers") == 0) from_segments();
  if (strcmp(argv[1], "bottom") == 0) from_bottom();
  return finish();
}
