// A master that hands out work: MPI_ANY_SOURCE, and polling loops whose number of polls nobody can know beforehand.
//
//   workers [TASKS] [quiet]
//
// The master polls with Iprobe for whoever is done and receives from that rank; a worker polls the request of its next
// task with Test. quiet: blocking calls instead of polls. Which worker gets which task differs from run to run; the sum
// of the results does not.
#include "pattern.h"

enum { kTask = 31, kResult = 32 };

static long work(long task) {
  volatile long x = task;
  for (long i = 0; i < task % 7 * 500; ++i) x = x * 3 % 1000003;
  return task * task;
}

static long master(long tasks, int quiet) {
  long next = 0, sum = 0, stop = -1;
  int busy = 0;
  for (int worker = 1; worker < size; ++worker) {
    const long *what = next < tasks ? &next : &stop;
    MPI(MPI_Send(what, 1, MPI_LONG, worker, kTask, MPI_COMM_WORLD));
    if (*what != stop) ++busy, ++next;
  }
  while (busy > 0) {
    MPI_Status status;
    int source = MPI_ANY_SOURCE;
    for (int found = quiet; !found;) {
      MPI(MPI_Iprobe(MPI_ANY_SOURCE, kResult, MPI_COMM_WORLD, &found, &status));
      if (found) source = status.MPI_SOURCE;
    }
    long result[2];
    MPI(MPI_Recv(result, 2, MPI_LONG, source, kResult, MPI_COMM_WORLD, &status));
    CHECK(result[1] == result[0] * result[0] && status.MPI_TAG == kResult);
    sum += result[1];
    const long *what = next < tasks ? &next : &stop;
    MPI(MPI_Send(what, 1, MPI_LONG, status.MPI_SOURCE, kTask, MPI_COMM_WORLD));
    if (*what == stop)
      --busy;
    else
      ++next;
  }
  return sum;
}

static void worker(int quiet) {
  for (;;) {
    long task = -1;
    if (quiet) {
      MPI(MPI_Recv(&task, 1, MPI_LONG, 0, kTask, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
      MPI_Request request;
      MPI(MPI_Irecv(&task, 1, MPI_LONG, 0, kTask, MPI_COMM_WORLD, &request));
      for (int complete = 0; !complete;) MPI(MPI_Test(&request, &complete, MPI_STATUS_IGNORE));
    }
    if (task < 0) return;
    const long result[2] = {task, work(task)};
    MPI(MPI_Send(result, 2, MPI_LONG, 0, kResult, MPI_COMM_WORLD));
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long tasks = number(argc, argv, 1, 100);
  const int quiet = said(argc, argv, "quiet");
  CHECK(size >= 2);
  if (rank == 0)
    CHECK(master(tasks, quiet) == (tasks - 1) * tasks * (2 * tasks - 1) / 6);
  else
    worker(quiet);
  return done("workers", tasks);
}
