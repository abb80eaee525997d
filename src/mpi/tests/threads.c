// MPI_THREAD_MULTIPLE: threads with communicators of their own, requests completed by another thread than posted them,
// threads that end and others that begin.
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kRounds = 20 };

static MPI_Comm comms[kThreads];
static MPI_Request handed[kRounds];
static int arrived[kRounds];
static pthread_barrier_t barrier;

static void *ring(void *argument) {
  const int number = (int)(long)argument;
  for (int i = 0; i < kRounds; ++i) {
    int out = 100 * rank + number;
    int in = -1;
    MPI_Request request[2];
    MPI(MPI_Irecv(&in, 1, MPI_INT, left(), number, comms[number], &request[0]));
    MPI(MPI_Isend(&out, 1, MPI_INT, right(), number, comms[number], &request[1]));
    MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK(in == 100 * left() + number);
  }
  return NULL;
}

static void *post(void *argument) {
  (void)argument;
  for (int i = 0; i < kRounds; ++i) MPI(MPI_Irecv(&arrived[i], 1, MPI_INT, left(), 50 + i, MPI_COMM_WORLD, &handed[i]));
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kRounds; ++i) MPI(MPI_Send(&i, 1, MPI_INT, right(), 50 + i, MPI_COMM_WORLD));
  return NULL;
}

static void *complete(void *argument) {
  (void)argument;
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kRounds; i += 2) MPI(MPI_Wait(&handed[i], MPI_STATUS_IGNORE));
  MPI_Status statuses[kRounds];
  MPI(MPI_Waitall(kRounds, handed, statuses));
  return NULL;
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  who();
  int main_thread = 0;
  MPI(MPI_Query_thread(&provided));
  MPI(MPI_Is_thread_main(&main_thread));
  CHECK(main_thread);
  if (provided < MPI_THREAD_MULTIPLE) return finish();
  for (int i = 0; i < kThreads; ++i) MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
  pthread_t thread[kThreads];
  for (int round = 0; round < 2; ++round) {
    for (long i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, ring, (void *)i);
    for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&thread[0], NULL, post, NULL);
  pthread_create(&thread[1], NULL, complete, NULL);
  pthread_join(thread[0], NULL);
  pthread_join(thread[1], NULL);
  for (int i = 0; i < kRounds; ++i) CHECK(arrived[i] == i && handed[i] == MPI_REQUEST_NULL);
  for (int i = 0; i < kThreads; ++i) MPI(MPI_Comm_free(&comms[i]));
  return finish();
}
