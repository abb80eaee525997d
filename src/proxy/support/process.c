/* The process: which rank it is before MPI says so, its threads and the order of their calls, its files. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
#include <atomic>
#define _Atomic(type) std::atomic<type>
using std::atomic_load;
using std::atomic_store;
#else
#include <stdatomic.h>
#endif

#include "proxy.h"
#include "threads.h"

long long rank, size;
int *program_argc;
char ***program_argv;
_Thread_local int this_thread;
int several_threads;

/* What launchers tell their processes. */
static long long told(const char *const *names, long long otherwise) {
  for (; *names != NULL; ++names) {
    const char *value = getenv(*names);
    if (value != NULL && *value != '\0') return strtoll(value, NULL, 10);
  }
  return otherwise;
}

void begin(int *argc, char ***argv, long long ranks) {
  static const char *const kRank[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
  static const char *const kSize[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
  program_argc = argc;
  program_argv = argv;
  rank = told(kRank, 0);
  size = told(kSize, ranks);
  if (size != ranks || rank < 0 || rank >= ranks) {
    if (rank == 0) fprintf(stderr, "proxy: this program has %lld ranks: start it with mpiexec -n %lld\n", ranks, ranks);
    exit(2);
  }
}

void end(void) {
  int begun = 0, ended = 0;
  join_threads();
  if (PMPI_Initialized(&begun) != MPI_SUCCESS || PMPI_Finalized(&ended) != MPI_SUCCESS) return;
  if (begun && !ended) PMPI_Finalize();
}

/* ---- threads */

struct thread {
  void (*run)(void);
  int number;   /* its place in the table */
  int recorded; /* the number that it has in the recording, where several had it, one after the other */
  pthread_t id;
  _Atomic(long long) ticket;      /* of the call that it begins next */
  _Atomic(int) waits;             /* for its turn */
  _Atomic(int) waits_for_another; /* to make the next one of that number, or to end */
  _Atomic(long long) made, begun; /* those of that number */
  _Atomic(int) is_alive;
};
enum { kMost = 1024 };
static struct thread threads[kMost];
static int thread_count, started;

void add_thread(void (*run)(void), int recorded, long long first_ticket) {
  if (thread_count == kMost) return;
  threads[thread_count].run = run;
  threads[thread_count].number = thread_count;
  threads[thread_count].recorded = recorded;
  atomic_store(&threads[thread_count].is_alive, 1);
  atomic_store(&threads[thread_count].ticket, first_ticket);
  ++thread_count;
  several_threads = thread_count > 1;
}

static void *run_thread(void *argument) {
  struct thread *thread = (struct thread *)argument;
  this_thread = thread->number;
  thread->run();
  atomic_store(&thread->ticket, INT64_MAX);
  return NULL;
}

void start_threads(void) {
  for (; started + 1 < thread_count; ++started) {
    struct thread *next = &threads[started + 1];
    if (pthread_create(&next->id, NULL, run_thread, next) != 0) {
      fprintf(stderr, "proxy: rank %lld: no thread can be started\n", rank);
      abort();
    }
  }
}

void join_threads(void) {
  if (this_thread != 0) { /* the first one joins this one */
    for (int i = 0; i < thread_count; ++i) {
      while (i != this_thread && atomic_load(&threads[i].ticket) != INT64_MAX) sched_yield();
    }
    return;
  }
  if (thread_count > 0) atomic_store(&threads[0].ticket, INT64_MAX);
  for (; started > 0; --started) pthread_join(threads[started].id, NULL);
  thread_count = thread_count > 0 ? 1 : 0;
}

static int is_turn(long long now) {
  for (int i = 0; i < thread_count; ++i) {
    if (i != this_thread && atomic_load(&threads[i].ticket) < now) return 0;
  }
  return 1;
}

/* Of those that wait. */
static int is_next(long long now) {
  for (int i = 0; i < thread_count; ++i) {
    if (i != this_thread && atomic_load(&threads[i].waits) && atomic_load(&threads[i].ticket) < now) return 0;
  }
  return 1;
}

/* Grows as long as any thread goes on. */
static long long progress(void) {
  long long sum = 0;
  for (int i = 0; i < thread_count; ++i) sum += atomic_load(&threads[i].ticket) & INT32_MAX;
  return sum;
}

/* A ticket tells when a call ended. What began before it is not known: so while nothing
 * happens the first of those that wait goes on. */
static void wait_for_turn(long long now, long long next, int gives_up) {
  const long long kLong = 200000000;
  struct timespec begin, at;
  atomic_store(&threads[this_thread].ticket, now);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  atomic_store(&threads[this_thread].waits, 1);
  for (long long seen = progress(); !is_turn(now);) {
    sched_yield();
    if (progress() != seen) {
      seen = progress();
      clock_gettime(CLOCK_MONOTONIC, &begin);
    }
    clock_gettime(CLOCK_MONOTONIC, &at);
    if ((at.tv_sec - begin.tv_sec) * 1000000000LL + (at.tv_nsec - begin.tv_nsec) > kLong && !gives_up && is_next(now))
      break;
  }
  atomic_store(&threads[this_thread].waits, 0);
  atomic_store(&threads[this_thread].ticket, next); /* others need not wait for this call to end */
}

static int may_begin(struct thread *of) { return atomic_load(&of->made) > atomic_load(&of->begun); }
static int has_ended(struct thread *of) {
  return atomic_load(&of->ticket) == INT64_MAX || (!may_begin(of) && !atomic_load(&of->is_alive));
}

/* Of the others. */
static int all_are_idle(void) {
  for (int i = 0; i < thread_count; ++i) {
    const int waits = atomic_load(&threads[i].waits_for_another);
    if (i != this_thread && !waits && atomic_load(&threads[i].ticket) != INT64_MAX) return 0;
  }
  return 1;
}

/* Unless all wait for each other. */
static void wait_until(int (*holds)(struct thread *), struct thread *of) {
  const time_t kLong = 2;
  time_t begin = time(NULL);
  atomic_store(&threads[this_thread].waits_for_another, 1);
  while (!holds(of) && time(NULL) - begin < kLong) {
    sched_yield();
    if (!all_are_idle()) begin = time(NULL);
  }
  atomic_store(&threads[this_thread].waits_for_another, 0);
}

/* {calls before it that are counted, -1 - thread, twice the others, and 1 if it ends}, among others */
static _Thread_local struct stream *events;
static _Thread_local const struct field *event; /* the next; NULL: there is none */
static _Thread_local long long calls_left;      /* before it */

static void go_on(void) {
  calls_left = 0;
  for (event = next_field(events); event->count == 3; event = next_field(events)) {
    calls_left += event->atoms[0];
    if (event->atoms[1] >= 0) continue;
    calls_left += event->atoms[2] / 2;
    return;
  }
  event = NULL;
}

static void happens(void) {
  const long long number = -1 - event->atoms[1];
  const int ends = event->atoms[2] % 2 != 0;
  struct thread *of = NULL;
  for (int i = 0; i < thread_count; ++i) {
    if (threads[i].recorded == number) of = &threads[i];
  }
  if (of == NULL) { /* it never called MPI */
  } else if (of == &threads[this_thread] && !ends) {
    wait_until(may_begin, of);
    atomic_store(&of->is_alive, 1);
    atomic_fetch_add(&of->begun, 1);
  } else if (of == &threads[this_thread]) {
    atomic_store(&of->is_alive, 0);
  } else if (!ends) {
    atomic_fetch_add(&of->made, 1);
  } else {
    wait_until(has_ended, of);
  }
  go_on();
}

void threads_change(struct stream *of) {
  events = of;
  go_on();
}

void last_turn_of_part(void) {
  while (event != NULL) happens();
}

static _Thread_local struct stream *order; /* of the segment of its life that the thread is in */
static _Thread_local long long next_ticket;

void begin_turns(long long first_ticket, struct stream *skips) {
  order = skips;
  next_ticket = first_ticket;
  (void)next_number(order); /* the first one means nothing */
}

static void take_turns(long long count, int gives_up) {
  for (; order != NULL && count > 0; --count) {
    const long long now = next_ticket;
    next_ticket += next_number(order) + 1;
    if (event != NULL) {
      atomic_store(&threads[this_thread].ticket, now); /* none waits for what comes behind it */
      while (event != NULL && calls_left == 0) happens();
      --calls_left;
    }
    if (several_threads && count == 1) wait_for_turn(now, next_ticket, gives_up);
  }
}
void turns(long long count) { take_turns(count, 0); }
void turn(void) { take_turns(1, 0); }
void last_turn(void) { take_turns(1, 1); }

/* ---- files */

const char *scratch(const char *name) {
  static _Thread_local char paths[8][512];
  static _Thread_local int next;
  char *path = paths[next++ % 8];
  const char *folder = getenv("PROXY_FILES");
  /* "ufs:out": a name may begin with the file system's type. */
  const char *colon = strchr(name, ':');
  const int type = colon == NULL ? 0 : (int)(colon - name) + 1;
  snprintf(path, sizeof paths[0], "%.*s%s/%s", type, name, folder == NULL ? "." : folder, name + type);
  return path;
}

const char *removed(const char *name, MPI_Comm comm) {
  const char *path = scratch(name);
  const char *colon = strchr(name, ':');
  int first = 0;
  if (PMPI_Comm_rank(comm, &first) == MPI_SUCCESS && first == 0) unlink(path + (colon == NULL ? 0 : colon - name + 1));
  return path;
}

const char *provided(const char *name) {
  const char *path = scratch(name);
  const char *colon = strchr(name, ':');
  const off_t kLength = (off_t)1 << 36; /* of holes: it takes no room */
  const int file = open(path + (colon == NULL ? 0 : colon - name + 1), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return path; /* it is there, or MPI will say why not */
  for (off_t length = kLength; length >= 4096 && ftruncate(file, length) != 0; length /= 16) {
  }
  close(file);
  return path;
}
