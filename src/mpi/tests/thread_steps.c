// MPI_THREAD_MULTIPLE: threads that each step makes anew and joins: `thread_steps STEPS [plain]`. One begins with
// probes until it finds something, one ends with tests, unless it is to be plain, and one makes no call of MPI. Another
// lasts, detached, from the first step on.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "check.h"

enum { kThreads = 3 };

static MPI_Comm comms[kThreads];
static int plain;
static atomic_int over;
static atomic_int lasts;

/// Thread 0 gets a message from the first one, thread 1 sends one more, and all exchange with neighbours.
static void *work(void *argument) {
  const int number = (int)(long)argument;
  int out = 100 * rank + number;
  int in = -1;
  int flag = 0;
  MPI_Request request;
  if (number == 0) {
    while (!flag && !plain) {
      MPI(MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
      sched_yield();
    }
    MPI(MPI_Recv(&in, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(in == 4711);
  }
  MPI(MPI_Sendrecv(&out, 1, MPI_INT, right(), number, &in, 1, MPI_INT, left(), number, comms[number],
                   MPI_STATUS_IGNORE));
  CHECK(in == 100 * left() + number);
  if (number == 1) {
    MPI(MPI_Isend(&out, 1, MPI_INT, right(), 8, comms[number], &request));
    MPI(MPI_Recv(&in, 1, MPI_INT, left(), 8, comms[number], MPI_STATUS_IGNORE));
    if (plain) MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (flag = plain; !flag; sched_yield()) MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  }
  return NULL;
}

static void *nothing(void *argument) { return argument; }

static void *last(void *argument) {
  (void)argument;
  int flag = 0;
  MPI(MPI_Is_thread_main(&flag));
  CHECK(!flag);
  while (!over) sched_yield();
  MPI(MPI_Is_thread_main(&flag));
  lasts = 0;
  return NULL;
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  who();
  if (provided < MPI_THREAD_MULTIPLE) return finish();
  const int steps = argc > 1 ? atoi(argv[1]) : 20;
  plain = argc > 2;
  for (int i = 0; i < kThreads; ++i) MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread[kThreads + 1];
  lasts = 1;
  pthread_create(&thread[0], &detached, last, NULL);
  for (int step = 0; step < steps; ++step) {
    const int value = 4711;
    MPI_Request request;
    for (long i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, work, (void *)i);
    pthread_create(&thread[kThreads], NULL, nothing, NULL);
    MPI(MPI_Isend(&value, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i <= kThreads; ++i) pthread_join(thread[i], NULL);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
  over = 1;
  while (lasts) sched_yield();
  for (int i = 0; i < kThreads; ++i) MPI(MPI_Comm_free(&comms[i]));
  return finish();
}
