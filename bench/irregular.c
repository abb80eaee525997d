// A program that never repeats itself: what recording adds to a call whose every signature is new, and to the slowest
// one.
//
//   irregular CALLS [each]
//
// Sends to MPI_PROC_NULL, each with another tag and count, so that MPI itself does next to nothing. Prints one line of
// JSON: CPU nanoseconds a call over the whole loop; with `each`, where the thread's CPU clock is read around every call
// (which keeps time slices of other processes out, and costs some hundred nanoseconds), also the slowest call and how
// many took longer than 100 microseconds and a millisecond. Run it untraced, too.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  const long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
  const int each = argc > 2 && strcmp(argv[2], "each") == 0;
  static double buffer[1];
  double slowest = 0;
  long slow_call = 0, over_100us = 0, over_1ms = 0;

  MPI_Init(&argc, &argv);
  const double start = cpu();
  for (long i = 0; i < calls; ++i) {
    const double before = each ? cpu() : 0;
    MPI_Send(buffer, (int)(i % 1000), MPI_BYTE, MPI_PROC_NULL, (int)(i / 1000), MPI_COMM_WORLD);
    if (!each) continue;
    const double took = cpu() - before;
    if (took > slowest) slowest = took, slow_call = i;
    over_100us += took > 1e5;
    over_1ms += took > 1e6;
  }
  const double all = cpu() - start;
  MPI_Finalize();
  printf(
      "{\"calls\": %ld, \"cpu_ns_per_call\": %.1f, \"slowest_ns\": %.0f, \"slowest_call\": %ld, \"over_100us\": %ld, "
      "\"over_1ms\": %ld}\n",
      calls, all / (double)calls, slowest, slow_call, over_100us, over_1ms);
  return 0;
}
