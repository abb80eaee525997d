// Threads that do the same, but for how often, and take each other's place: which of them is which can be told by
// nothing in their calls but their number.
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 12 };

static void *ask(void *argument) {
  const int times = (int)(long)argument;
  for (int i = 0; i < times; ++i) {
    int flag = 1;
    MPI(MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    MPI(MPI_Comm_rank(MPI_COMM_WORLD, &flag));
  }
  return NULL;
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  who();
  if (provided < MPI_THREAD_MULTIPLE) return finish();
  pthread_t thread[kThreads];
  for (int round = 0; round < kRounds; ++round) {
    for (long i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, ask, (void *)(1 + (i * 5 + round * 3) % 7));
    // In another order each time, so that numbers become free in another order, too.
    for (int i = 0; i < kThreads; ++i) pthread_join(thread[(i * 3 + round) % kThreads], NULL);
  }
  return finish();
}
