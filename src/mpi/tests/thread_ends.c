// MPI_THREAD_MULTIPLE: threads that end in other ways than by returning, and MPI begun and ended by others than the
// first thread: `thread_ends plain | begins | ends`.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "check.h"

static pthread_key_t key;
static pthread_t first;
static atomic_int waits;

static void call(void) {
  int provided = 0;
  MPI(MPI_Query_thread(&provided));
  CHECK(provided == MPI_THREAD_MULTIPLE);
}

/// A destructor of thread-local data may call MPI.
static void destroy(void *data) {
  (void)data;
  call();
}

static void *return_it(void *argument) {
  call();
  CHECK(pthread_setspecific(key, &key) == 0);
  return argument;
}
static void *leave(void *argument) {
  return_it(argument);
  pthread_exit(argument);
}
static void *wait_for_ever(void *argument) {
  return_it(argument);
  waits = 1;
  for (; argument == NULL;) pause();
  return argument;
}
static void *make_another(void *argument) {
  pthread_t other;
  call();
  CHECK(pthread_create(&other, NULL, return_it, argument) == 0 && pthread_join(other, NULL) == 0);
  call();
  return argument;
}
static int of_c11(void *argument) {
  return_it(argument);
  return 0;
}

static void *begin_mpi(void *argument) {
  int provided = 0;
  MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
  CHECK(provided == MPI_THREAD_MULTIPLE);
  who();
  return argument;
}

static void *end_mpi(void *argument) {
  CHECK(pthread_join(first, NULL) == 0);
  exit(finish());
  return argument;
}

int main(int argc, char **argv) {
  pthread_t thread;
  pthread_t other;
  CHECK(pthread_key_create(&key, destroy) == 0);
  if (argc > 1 && strcmp(argv[1], "begins") == 0) {
    CHECK(pthread_create(&thread, NULL, begin_mpi, NULL) == 0 && pthread_join(thread, NULL) == 0);
  } else {
    begin_mpi(NULL);
  }
  for (int step = 0; step < 10; ++step) {
    CHECK(pthread_create(&thread, NULL, leave, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
    CHECK(pthread_create(&other, NULL, make_another, NULL) == 0);
    while (!waits) sched_yield();
    waits = 0;
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0 && pthread_join(other, NULL) == 0);
    thrd_t standard;
    CHECK(thrd_create(&standard, of_c11, NULL) == thrd_success && thrd_join(standard, NULL) == thrd_success);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
  }
  if (argc > 1 && strcmp(argv[1], "ends") == 0) {
    first = pthread_self();
    CHECK(pthread_create(&thread, NULL, end_mpi, NULL) == 0);
    pthread_exit(NULL);
  }
  return finish();
}
