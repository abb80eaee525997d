// Segments of the heap that come and go.
//   segments few        a message within each of two segments, which stay
//   segments many       the same in fifty, one after the other, from 3 to 6 MiB; after each a small one, which stays,
//                       so that all have other numbers
//   segments loop N     N turns that allocate two segments, exchange them, and free them; one stays, and grows at last
//   segments polls N    the same, where chance decides how often each turn asks whether a message is there
//   segments threads    a segment that another thread frees, between two messages
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { kMiB = 1 << 20, kMany = 50, kBytes = 4000 };

static void exchange(char *segment, int bytes) {
  memset(segment, 1, (size_t)bytes);
  MPI(MPI_Sendrecv(segment, bytes / 2, MPI_BYTE, right(), 0, segment + bytes / 2, bytes / 2, MPI_BYTE, left(), 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void few(void) {
  char *segments[2] = {malloc(3 * kMiB), malloc(kBytes)};
  exchange(segments[0], 3 * kMiB);
  exchange(segments[1], kBytes);
  free(segments[1]);
  free(segments[0]);
}

static void many(void) {
  char *stay[kMany];
  for (int i = 0; i < kMany; ++i) {
    const int bytes = 3 * kMiB + i * (3 * kMiB / kMany);
    char *segment = malloc((size_t)bytes);
    exchange(segment, bytes);
    free(segment);
    stay[i] = malloc(kBytes);
    exchange(stay[i], kBytes);
  }
  for (int i = 0; i < kMany; ++i) free(stay[i]);
}

static void loop(int turns, int polls) {
  char *stays = malloc(kBytes);
  unsigned seed = (unsigned)rank;
  for (int i = 0; i < turns; ++i) {
    char *out = calloc(1, kBytes);
    char *in = malloc(kBytes);
    MPI_Request request;
    int flag = 0;
    if (polls) usleep(rand_r(&seed) % 300);
    MPI(MPI_Irecv(in, kBytes, MPI_BYTE, left(), 0, MPI_COMM_WORLD, &request));
    MPI(MPI_Send(out, kBytes, MPI_BYTE, right(), 0, MPI_COMM_WORLD));
    while (polls && !flag) MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    if (!polls) MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(out);
    free(in);
    MPI(MPI_Bcast(stays, kBytes, MPI_BYTE, 0, MPI_COMM_WORLD));
  }
  stays = realloc(stays, 3 * kBytes);
  MPI(MPI_Bcast(stays, 3 * kBytes, MPI_BYTE, 0, MPI_COMM_WORLD));
  free(stays);
}

static void *free_it(void *segment) {
  free(segment);
  return NULL;
}

static void threads(void) {
  for (int i = 0; i < 2; ++i) {
    char *segment = malloc(kBytes);
    exchange(segment, kBytes);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, free_it, segment) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  CHECK(argc > 1);
  if (strcmp(argv[1], "few") == 0) few();
  if (strcmp(argv[1], "many") == 0) many();
  if (strcmp(argv[1], "loop") == 0) loop(atoi(argv[2]), 0);
  if (strcmp(argv[1], "polls") == 0) loop(atoi(argv[2]), 1);
  if (strcmp(argv[1], "threads") == 0) threads();
  return finish();
}
