// A steady loop of Irecv, Isend and Waitall to self, timed from inside: what a recorder adds to an MPI call.
//
//   loop_self ITERATIONS EVICT_BYTES
//
// With EVICT_BYTES above 0, that much memory is written between iterations, outside of what is timed, so that each
// iteration finds its caches emptied as behind a computing phase. Prints one line of JSON: CPU nanoseconds a call over
// the whole loop (meaningful without eviction), the median over iterations of wall nanoseconds a call, and, read
// after MPI_Finalize, the peak resident memory in KiB.
#include <time.h>

#include "patterns/pattern.h"

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
  size_t evict = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  const long warmup = 2000;
  double *wall = malloc(sizeof(double) * (size_t)(iterations + warmup));
  volatile char *cold = evict ? malloc(evict) : NULL;
  double send[16] = {3}, receive[16] = {0};
  if (iterations < 1 || !wall || (evict && !cold)) return 2;

  MPI_Init(&argc, &argv);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  double cpu_start = 0;
  for (long i = 0; i < iterations + warmup; ++i) {
    if (i == warmup) cpu_start = now(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t at = 0; at < evict; at += 64) cold[at] = (char)i;
    MPI_Request requests[2];
    double start = evict ? now(CLOCK_MONOTONIC) : 0;
    MPI_Irecv(receive, 16, MPI_DOUBLE, me, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(send, 16, MPI_DOUBLE, me, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (evict) wall[i] = now(CLOCK_MONOTONIC) - start;
  }
  double cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
  CHECK(receive[0] == 3);
  MPI_Finalize();

  double calls = 3.0 * (double)iterations, median = 0;
  if (evict) {
    qsort(wall + warmup, (size_t)iterations, sizeof(double), ascending);
    median = wall[warmup + iterations / 2] / 3;
  }
  printf("{\"calls\": %.0f, \"cpu_ns_per_call\": %.2f, \"median_wall_ns_per_call\": %.2f, \"peak_kib\": %ld}\n", calls,
         cpu / calls, median, peak_kib());
  free(wall);
  free((void *)cold);
  return 0;
}
