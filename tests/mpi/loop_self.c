// A steady loop of Irecv, Isend and Waitall to self; prints the CPU time a call took.
// usage: loop_self iterations [evicted bytes]      the second: memory touched between iterations, not counted
#include <time.h>

#include "check.h"

static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long iterations = argc > 1 ? atol(argv[1]) : 100000;
  const size_t evict = argc > 2 ? (size_t)atol(argv[2]) : 0;
  volatile char *memory = malloc(evict + 1);
  static int out = 1;
  static int in = 0;
  double spent = 0;
  double begin = 0;
  for (long i = -1000; i < iterations; ++i) {
    if (evict > 0) {
      for (size_t k = 0; k < evict; k += 64) memory[k] = (char)(memory[k] + 1);
      begin = cpu_ns();
    } else if (i == 0) {
      begin = cpu_ns();
    }
    MPI_Request request[2];
    MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(&out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    if (evict > 0 && i >= 0) spent += cpu_ns() - begin;
  }
  if (evict == 0) spent = cpu_ns() - begin;
  CHECK(in == 1);
  free((void *)memory);
  if (rank == 0) printf("%.2f ns/call\n", spent / (3.0 * (double)iterations));
  MPI(MPI_Finalize());
  return 0;
}
