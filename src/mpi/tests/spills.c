// Memory runs short while something else happens: messages of which each has a size and a tag of its own, and then
//   spills N            nothing else
//   spills N swift      no call takes long (CAIRN_SPILL_PAUSE says what writing a segment takes)
//   spills N threads    two threads at once
//   spills N fork       children that exit in the ways there are, while a segment is being written
//   spills N refused    the spool is away while N messages are sent, and back for twice as many
//   spills N places     instead of messages, N equal calls of four threads, which take turns in no order
//   spills N unplaced   the same while the spool is away
//   spills N alone      no thread can be started any more
//   spills N exit|kill  every rank ends like that instead of with MPI_Finalize
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int no_threads;
static int messages;
static double longest;
static MPI_Comm comms[2];

typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

// Exported, since MPI uses it, and so found before the C library's.
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  if (no_threads) return 11;  // EAGAIN
  Create real = NULL;
  void *found = dlsym(RTLD_NEXT, "pthread_create");
  memcpy(&real, &found, sizeof real);
  return real(thread, attributes, run, argument);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *work(void *argument) {
  const MPI_Comm comm = comms[(long)argument];
  char out[4096] = "";
  char in[4096];
  uint32_t state = 12345;
  for (int i = 0; i < messages; ++i) {
    state = state * 1664525u + 1013904223u;
    const int count = (int)(state >> 20);
    const int tag = (int)(state >> 8 & 0x7fff);
    MPI_Request request;
    MPI_Status status;
    out[0] = (char)i;
    const double before = seconds();
    MPI(MPI_Irecv(in, count, MPI_CHAR, rank, tag, comm, &request));
    MPI(MPI_Send(out, count, MPI_CHAR, rank, tag, comm));
    MPI(MPI_Wait(&request, &status));
    const double took = seconds() - before;
    if (took > longest) longest = took;
    int got = -1;
    MPI(MPI_Get_count(&status, MPI_CHAR, &got));
    CHECK(got == count);
    CHECK(count == 0 || in[0] == (char)i);
  }
  return NULL;
}

static int turn;  // whose it is; -1: nobody's any more

static void *take_turns(void *argument) {
  const int me = (int)(long)argument;
  static uint32_t state = 12345;
  static int calls;
  for (;;) {
    int whose;
    while ((whose = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != me && whose >= 0) sched_yield();
    if (whose < 0) return NULL;
    int size = 0;
    MPI(MPI_Comm_size(MPI_COMM_SELF, &size));
    state = state * 1664525u + 1013904223u;
    __atomic_store_n(&turn, ++calls == messages ? -1 : (int)(state >> 30), __ATOMIC_RELEASE);
  }
}

static void fork_children(void) {
  for (int how = 0; how < 2; ++how) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      void *block = malloc(1 << 20);
      free(block);
      if (how == 0) exit(block == NULL);
      _exit(block == NULL);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
}

// Nobody can write to the spool that the recorder was given, if there is one.
static void hide_spool(int away) {
  const char *spool = getenv("CAIRN_SPOOL");
  if (spool == NULL) return;
  char hidden[4096];
  snprintf(hidden, sizeof hidden, "%s.away", spool);
  CHECK(rename(away ? spool : hidden, away ? hidden : spool) == 0);
}

int main(int argc, char **argv) {
  const char *how = argc > 2 ? argv[2] : "";
  const int threads = strcmp(how, "threads") == 0;
  int provided = 0;
  const int unplaced = strcmp(how, "unplaced") == 0;
  const int places = unplaced || strcmp(how, "places") == 0;
  const int many = threads || places;
  MPI(MPI_Init_thread(&argc, &argv, many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
  who();
  messages = argc > 1 ? atoi(argv[1]) : 5000;
  for (int i = 0; i < 2; ++i) MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
  no_threads = strcmp(how, "alone") == 0;
  pthread_t other;
  if (threads && provided == MPI_THREAD_MULTIPLE) CHECK(pthread_create(&other, NULL, work, (void *)1L) == 0);
  const int refused = strcmp(how, "refused") == 0;
  if (refused || unplaced) hide_spool(1);
  if (places && provided == MPI_THREAD_MULTIPLE) {
    pthread_t three[3];
    for (long i = 0; i < 3; ++i) CHECK(pthread_create(&three[i], NULL, take_turns, (void *)(i + 1)) == 0);
    take_turns(NULL);
    for (int i = 0; i < 3; ++i) CHECK(pthread_join(three[i], NULL) == 0);
    if (unplaced) hide_spool(0);
    for (int i = 0; i < 2; ++i) MPI(MPI_Comm_free(&comms[i]));
    return finish();
  }
  work((void *)0L);
  if (refused) {
    sleep(1);  // for the recorder's thread to find it away
    hide_spool(0);
    sleep(3);  // it is asked again one second after it refused, and two after that
    messages *= 2;
    work((void *)1L);
  }
  if (threads && provided == MPI_THREAD_MULTIPLE) CHECK(pthread_join(other, NULL) == 0);
  if (strcmp(how, "swift") == 0) CHECK(longest < 1);
  if (strcmp(how, "fork") == 0) {
    fork_children();
    work((void *)1L);
  }
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  for (int i = 0; i < 2; ++i) MPI(MPI_Comm_free(&comms[i]));
  return finish();
}
