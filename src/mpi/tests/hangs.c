// Hangs, in a way that can be told: every rank waits for what never comes (hangs.py looks at it and kills it). The
// comments that name calls are what hangs.py finds their lines by.
//
//     hangs HOW
//
// point: rank 0 in MPI_Recv, rank 1 in MPI_Waitall, rank 2 in no call, the others in MPI_Barrier. rooted: all but the
// root in collective calls on a communicator of their own. threads: a second thread of each rank in MPI_Recv.
// callback: MPI_Recv in a callback of MPI_Comm_free. finalize: all but rank 0 in MPI_Finalize. init: all but rank 0 in
// MPI_Init. aborted: as threads, until rank 0 calls MPI_Abort. busy: all of them make calls, one after the other.
// requests: MPI_Waitany on many requests, MPI_Wait.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static int value;
static MPI_Comm other;

static void sleep_for_ever(void) {
  for (;;) sleep(1);
}

static void point(void) {
  MPI_Request requests[3];
  int values[3];
  if (rank == 0) MPI(MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // recv
  if (rank == 1) {
    for (int i = 0; i < 3; ++i) {
      MPI(MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]));  // irecv
    }
    MPI(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));  // waitall
  }
  if (rank == 2) sleep_for_ever();
  MPI(MPI_Barrier(MPI_COMM_WORLD));  // barrier
}

static void rooted(void) {
  static double numbers[16];
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));  // dup
  if (rank == 0) sleep_for_ever();
  if (rank == 1) MPI(MPI_Bcast(numbers, 3, MPI_DOUBLE, 0, other));  // bcast
  if (rank == 2) {
    MPI(MPI_Recv(numbers, 4, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));  // any
  }
  MPI(MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, numbers, 2, MPI_DOUBLE, 0, other));  // scatter
}

static void requests(void) {
  MPI_Request some[6];
  static int values[6];
  for (int i = 0; i < 6; ++i) MPI(MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &some[i]));  // many
  int index;
  if (rank == 0) MPI(MPI_Wait(&some[5], MPI_STATUS_IGNORE));            // wait
  if (rank != 0) MPI(MPI_Waitany(6, some, &index, MPI_STATUS_IGNORE));  // waitany
}

static void *receive(void *unused) {
  (void)unused;
  MPI(MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 9, other, MPI_STATUS_IGNORE));  // thread
  return NULL;
}

static void threads(void) {
  pthread_t thread;
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));  // dup2
  pthread_create(&thread, NULL, receive, NULL);
  if (rank == 0) MPI(MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // main
  pthread_join(thread, NULL);
}

/// Until somebody makes the file.
static void aborted(void) {
  pthread_t thread;
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));  // dup3
  if (rank != 0) MPI(MPI_Barrier(other));     // others
  pthread_create(&thread, NULL, receive, NULL);
  while (access("abort", F_OK) != 0) usleep(10000);
  MPI_Abort(MPI_COMM_WORLD, 3);  // abort
}

static int on_delete(MPI_Comm comm, int keyval, void *attribute, void *extra) {
  (void)comm, (void)keyval, (void)attribute, (void)extra;
  return MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // inner
}

static void callback(void) {
  int keyval;
  MPI(MPI_Comm_dup(MPI_COMM_SELF, &other));
  MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
  MPI(MPI_Comm_set_attr(other, keyval, NULL));
  MPI(MPI_Comm_free(&other));  // outer
}

static void busy(void) {
  for (;;) MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "point";
  const char *given = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  if (strcmp(how, "init") == 0 && given != NULL && atoi(given) == 0) sleep_for_ever();
  const int threaded = strcmp(how, "threads") == 0 || strcmp(how, "aborted") == 0;
  int level;
  MPI(MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,  // init
                      &level));
  MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  for (int i = 0; i < 20; ++i) {
    MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));  // allreduce
  }
  if (strcmp(how, "point") == 0) point();
  if (strcmp(how, "rooted") == 0) rooted();
  if (strcmp(how, "requests") == 0) requests();
  if (strcmp(how, "threads") == 0) threads();
  if (strcmp(how, "aborted") == 0) aborted();
  if (strcmp(how, "callback") == 0) callback();
  if (strcmp(how, "busy") == 0) busy();
  if (rank == 0) MPI(MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // last
  MPI(MPI_Finalize());                                                                        // finalize
  return 0;
}
