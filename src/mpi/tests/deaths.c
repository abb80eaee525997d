// Dies in many ways, having said how far it came: each rank counts the MPI calls that have returned in a file
// `calls.<rank>` (two words: the count, and its pid), which outlives it.
//
//     deaths HOW STEPS [irregular|spawn]
//
// HOW: what rank 0 does after that many steps: finalize (as is right), exit, _exit, quick_exit, abort, MPI_Abort,
// crash, kill (SIGKILL to itself), all (SIGKILL of all ranks to themselves), return (from main), exec (becomes `sleep
// 0`), thread (a second thread calls exit), after (all are killed after MPI_Finalize). "outside": goes on until
// somebody else kills it. irregular: every call has another tag, so that memory fills. spawn: rank 0 makes its steps
// with a process that the ranks spawn and that counts its calls in `child.0`; HOW may be child as well: that process
// kills itself.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static volatile uint64_t *calls;

static void *leave(void *unused) {
  (void)unused;
  exit(3);
}

static void open_count(int child) {
  char name[64];
  const char *given = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  snprintf(name, sizeof name, "%s.%s", child ? "child" : "calls", given != NULL ? given : "0");
  const int file = open(name, O_RDWR | O_CREAT, 0666);
  if (file < 0 || ftruncate(file, 16) != 0) abort();
  calls = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (calls == MAP_FAILED) abort();
  calls[0] = 0;
  calls[1] = (uint64_t)getpid();
}

#define COUNTED(call) \
  do {                \
    MPI(call);        \
    ++calls[0];       \
  } while (0)

static void die(const char *how) {
  const int first = rank == 0;
  fflush(stdout);
  if (strcmp(how, "all") == 0) raise(SIGKILL);
  if (!first) return;
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "quick_exit") == 0) quick_exit(5);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "MPI_Abort") == 0) MPI_Abort(MPI_COMM_WORLD, 6);
  if (strcmp(how, "crash") == 0) raise(SIGSEGV);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "terminate") == 0) raise(SIGTERM);
  if (strcmp(how, "exec") == 0) execlp("sleep", "sleep", "0", (char *)NULL);
  if (strcmp(how, "thread") == 0) {
    pthread_t other;
    pthread_create(&other, NULL, leave, NULL);
    pthread_join(other, NULL);
  }
}

/// What is left when somebody else is to die, or to notice.
static void wait_for_ever(MPI_Comm comm) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, 0, 999, comm, MPI_STATUS_IGNORE);
}

static void talk(MPI_Comm other, long steps) {
  int value = 0;
  for (long i = 0; i < steps; ++i) {
    COUNTED(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, (int)(i % 7), 0, (int)(i % 7), other, MPI_STATUS_IGNORE));
  }
}

/// deaths spawned HOW STEPS
static int child(char **argv) {
  MPI_Comm parent;
  const char *how = argv[2];
  open_count(1);
  COUNTED(MPI_Init(NULL, NULL));
  COUNTED(MPI_Comm_get_parent(&parent));
  talk(parent, atol(argv[3]));
  if (strcmp(how, "child") == 0 || strcmp(how, "all") == 0) raise(SIGKILL);
  if (strcmp(how, "finalize") != 0) wait_for_ever(parent);
  COUNTED(MPI_Comm_disconnect(&parent));
  COUNTED(MPI_Finalize());
  return 0;
}

static void spawn(char **argv, MPI_Comm *other) {
  char *arguments[] = {"spawned", argv[1], argv[2], NULL};
  COUNTED(MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, other, MPI_ERRCODES_IGNORE));
}

int main(int argc, char **argv) {
  if (argc > 3 && strcmp(argv[1], "spawned") == 0) return child(argv);
  const char *how = argc > 1 ? argv[1] : "finalize";
  const long steps = argc > 2 ? atol(argv[2]) : 100;
  const int spawning = argc > 3 && strcmp(argv[3], "spawn") == 0;
  const int irregular = argc > 3 && !spawning;
  open_count(0);
  MPI(MPI_Init(&argc, &argv));
  ++calls[0];
  MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  ++calls[0];
  MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  ++calls[0];
  int value = rank;
  uint32_t random = 1;
  MPI_Comm other = MPI_COMM_NULL;
  if (spawning) {
    spawn(argv, &other);
    if (rank == 0) talk(other, steps);
  }
  for (long i = spawning ? steps : 0; i < steps || strcmp(how, "outside") == 0; ++i) {
    random = random * 1664525 + 1013904223;
    const int tag = irregular ? (int)(random >> 17) : (int)(i % 7);
    COUNTED(MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), tag, left(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  if (strcmp(how, "return") == 0) return 0;
  if (strcmp(how, "finalize") != 0 && strcmp(how, "after") != 0) {
    die(how);
    wait_for_ever(MPI_COMM_WORLD);
  }
  if (spawning) COUNTED(MPI_Comm_disconnect(&other));
  COUNTED(MPI_Finalize());
  if (strcmp(how, "after") == 0) {
    int done = 0;
    for (int i = 0; i < 10; ++i) COUNTED(MPI_Finalized(&done));
    raise(SIGKILL);
  }
  printf("ok\n");
  return 0;
}
