// What a recorder could break, one way a run: unharmed WAY. It prints the same and ends the same, recorded or not; and
// unharmed.py says what the trace must have.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
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

/// Before the C library has begun: there is no environment yet.
static int version, subversion;
static void call_early(int argc, char **argv, char **environment) {
  (void)environment;
  if (argc == 2 && strcmp(argv[1], "early") == 0) MPI_Get_version(&version, &subversion);
}
__attribute__((section(".preinit_array"), used)) static void (*early)(int, char **, char **) = call_early;

/// What dlerror gives is the program's own.
static void said(const char *error) { puts(error == NULL ? "no error" : error); }
static void linker_before(int taken) {
  int flag;
  dlopen("libnothere.so.1", RTLD_NOW);
  const char *text = taken ? dlerror() : NULL;
  MPI(MPI_Initialized(&flag));
  said(taken ? text : dlerror());
  said(dlerror());
}
static void linker_after(void) {
  int *value = malloc(sizeof *value);
  *value = 3;
  dlopen("libnothere.so.3", RTLD_NOW);
  MPI(MPI_Send(value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF));
  munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
  dlsym(RTLD_DEFAULT, "malloc");  // takes it away
  said(dlerror());
  dlopen("libnothere.so.4", RTLD_NOW);
  MPI(MPI_Send(value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF));
  said(dlerror());
  free(value);
}

/// A thread is cancelled before it first calls MPI, which here is no point where that takes effect.
static volatile int is_cancelled, has_returned;
static void *first_call(void *unused) {
  (void)unused;
  while (!is_cancelled) continue;
  double position = MPI_Wtime();
  has_returned = position >= 0;
  for (int i = 0; i < 1000000000; ++i) pthread_testcancel();
  return NULL;
}
static void cancelled(void) {
  pthread_t thread;
  void *result;
  CHECK(pthread_create(&thread, NULL, first_call, NULL) == 0 && pthread_cancel(thread) == 0);
  is_cancelled = 1;
  CHECK(pthread_join(thread, &result) == 0);
  printf("%s %s\n", has_returned ? "returned" : "did not return", result == PTHREAD_CANCELED ? "cancelled" : "ended");
}

/// Sends that are all different.
static void many(int n) {
  static char bytes[1 << 20];
  unsigned any = 12345;
  for (int i = 0; i < n; ++i) {
    any = any * 1103515245U + 12345U;
    MPI(MPI_Send(bytes + (any >> 8) % 1000, (int)((any >> 4) % 1000), MPI_BYTE, MPI_PROC_NULL,
                 (int)((any >> 9) % 30000), MPI_COMM_SELF));
  }
}

/// No descriptor is left, and none more to be had.
static void descriptors(void) {
  const struct rlimit few = {256, 256};
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  while (open("/", O_PATH) >= 0) continue;
  many(60000);
}

/// The program becomes a user who may not write to the spool.
static void user(void) {
  const int others = 65534;
  int value = rank;
  for (int i = 0; i < 20; ++i) {
    MPI(MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), 0, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  CHECK(setgid(others) == 0 && setuid(others) == 0);
  many(60000);
}

/// A program that trusts nobody keeps a few variables of its environment: here those that MPI needs.
static void clear(void) {
  extern char **environ;
  static char *kept[1024];
  int count = 0;
  for (char **each = environ; *each != NULL && count < 1023; ++each) {
    if (strncmp(*each, "CAIRN_", 6) != 0 && strncmp(*each, "LD_", 3) != 0) kept[count++] = *each;
  }
  environ = kept;
}

/// So little memory that MPI could not begin to communicate now.
static void little(void) {
  const struct rlimit stack = {65536, 65536}, memory = {1 << 20, 1 << 20};
  int value = rank;
  for (int i = 0; i < 20; ++i) {
    MPI(MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), 0, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  CHECK(setrlimit(RLIMIT_STACK, &stack) == 0 && setrlimit(RLIMIT_AS, &memory) == 0);
}

int main(int argc, char **argv) {
  int provided;
  CHECK(argc == 2);
  if (strcmp(argv[1], "linker") == 0 || strcmp(argv[1], "text") == 0) linker_before(argv[1][0] == 't');
  if (strcmp(argv[1], "cleared") == 0) clear();
  // An error handler may not call MPI where it has a lock for several threads.
  const int threads = strcmp(argv[1], "ids") == 0 || strcmp(argv[1], "cancelled") == 0;
  const int level = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI(MPI_Init_thread(&argc, &argv, level, &provided));
  MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  if (strcmp(argv[1], "sends") == 0) sends();
  if (strcmp(argv[1], "errors") == 0) errors();
  if (strcmp(argv[1], "ids") == 0) ids();
  if (strcmp(argv[1], "limit") == 0) limit();
  if (strcmp(argv[1], "deep") == 0) deep();
  if (strcmp(argv[1], "linker") == 0) linker_after();
  if (strcmp(argv[1], "cancelled") == 0) cancelled();
  if (strcmp(argv[1], "descriptors") == 0) descriptors();
  if (strcmp(argv[1], "user") == 0) user();
  if (strcmp(argv[1], "little") == 0) little();
  if (strcmp(argv[1], "early") == 0) CHECK(version >= 3);
  if (strcmp(argv[1], "leaves") == 0) {
    puts("ok");
    fflush(stdout);
    _exit(0);
  }
  return finish();
}
