// What a recorder could break, one way a run: unharmed WAY. It prints the same and ends the same, recorded or not; and
// unharmed.py says what the trace must have.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

/// Where a library of its own stands in front of MPI (unharmed_tool.c): all that it counts.
static void sends(void) {
  int out = 0, in = 0;
  for (int i = 0; i < 10; ++i) {
    MPI(MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  }
}

static int codes[4], seen;
static void on_error(MPI_Comm *comm, int *error, ...) {
  (void)comm;
  if (seen < 4) codes[seen++] = *error;
}
static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  *flag = 0;
  return 777777;
}

/// Codes that MPI does not know go through it, while MPI_COMM_WORLD's errors are fatal.
static void errors(void) {
  MPI_Comm comm, other = MPI_COMM_NULL;
  MPI_Errhandler handler;
  int key, added;
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  MPI(MPI_Comm_create_errhandler(on_error, &handler));
  MPI(MPI_Comm_set_errhandler(comm, handler));
  MPI_Comm_call_errhandler(comm, 123456);
  MPI(MPI_Add_error_class(&added));
  MPI_Comm_call_errhandler(comm, added);
  MPI(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  MPI(MPI_Comm_set_attr(comm, key, NULL));
  CHECK(MPI_Comm_dup(comm, &other) != MPI_SUCCESS);
  CHECK(seen >= 2 && codes[0] == 123456 && codes[1] == added);
  MPI(MPI_Errhandler_free(&handler));
}

static void *unmap(void *page) {
  munmap(page, 4096);
  return NULL;
}

/// A thread gives back the memory that its own id was written to.
static void ids(void) {
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < 5000; ++i) {
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    while (pthread_create((pthread_t *)(page + 64), &detached, unmap, page) != 0) usleep(1000);
  }
}

/// Files may not become large from now on, and much is still to be recorded.
static void limit(void) {
  static char bytes[1 << 20];
  const struct rlimit small = {65536, 65536};
  unsigned any = 12345;
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  for (int i = 0; i < 60000; ++i) {
    MPI_Request request;
    any = any * 1103515245U + 12345U;
    MPI(MPI_Irecv(bytes + (any >> 8) % 1000, (int)((any >> 4) % 1000), MPI_BYTE, MPI_PROC_NULL,
                  (int)((any >> 9) % 30000), MPI_COMM_SELF, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
}

static int depth;
static void go_deeper(MPI_Comm *comm, int *error, ...) {
  (void)error;
  char byte = 0;
  if (++depth < 200) MPI_Send(&byte, -1, MPI_BYTE, 0, depth, *comm);
}

/// Calls in callbacks in callbacks.
static void deep(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  char byte = 0;
  MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  MPI(MPI_Comm_create_errhandler(go_deeper, &handler));
  MPI(MPI_Comm_set_errhandler(comm, handler));
  MPI_Send(&byte, -1, MPI_BYTE, 0, 0, comm);
  CHECK(depth == 200);
  MPI(MPI_Comm_free(&comm));
  MPI(MPI_Errhandler_free(&handler));
}

int main(int argc, char **argv) {
  int provided;
  CHECK(argc == 2);
  // An error handler may not call MPI where it has a lock for several threads.
  const int level = strcmp(argv[1], "ids") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI(MPI_Init_thread(&argc, &argv, level, &provided));
  MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  if (strcmp(argv[1], "sends") == 0) sends();
  if (strcmp(argv[1], "errors") == 0) errors();
  if (strcmp(argv[1], "ids") == 0) ids();
  if (strcmp(argv[1], "limit") == 0) limit();
  if (strcmp(argv[1], "deep") == 0) deep();
  return finish();
}
