// Buffers on the stacks of the main and of another thread, deep down and shallow, beside a heap that grows meanwhile:
// whatever size stacks may have (`ulimit -s`), each must be told to be what it is.
#include <alloca.h>
#include <pthread.h>

#include "check.h"

enum { kDeep = 3 << 20, kBlocks = 40 };

static void self(int *out, int *in) {
  MPI(MPI_Sendrecv(out, 1, MPI_INT, rank, 0, in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(*in == *out);
}

static void deep(size_t bytes) {
  char *room = alloca(bytes);
  memset(room, 1, bytes);
  self((int *)room, (int *)room + 1);
}

static void everywhere(size_t bytes) {
  int shallow[2] = {1, 0};
  self(&shallow[0], &shallow[1]);
  int *blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    // The heap grows past what it was at the first call, and then there is one with a mapping of its own.
    blocks[i] = calloc(1, i + 1 < kBlocks ? 100 << 10 : 50 << 20);
    CHECK(blocks[i] != NULL);
    blocks[i][0] = i;
    if (i % 10 == 0 || i + 1 == kBlocks) self(blocks[i], &shallow[1]);
  }
  deep(bytes);
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
}

static void *in_thread(void *argument) {
  (void)argument;
  everywhere(kDeep / 4);
  return NULL;
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  who();
  everywhere(kDeep);
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
  }
  return finish();
}
