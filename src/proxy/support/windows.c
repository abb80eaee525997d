/* Displacements in dynamic windows, which are addresses of the target process. The recording keeps where the attached
 * segments of all processes lay: the same place of the same segment is meant now. Processes tell one another where
 * their segments lie by a window of our own beside each dynamic one; what is attached later is waited for. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "proxy.h"

/* Where a segment lies now; order 0: nobody said so yet, else the one that was told last is the greatest. */
struct told {
  unsigned long long address, order;
};
struct dynamic {
  struct dynamic *next;
  MPI_Win window, beside;
  struct told *own;
  long long *ranks; /* of its processes in MPI_COMM_WORLD */
  int size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dynamic *all;
static unsigned long long order;

static struct dynamic *find(MPI_Win window) {
  pthread_mutex_lock(&lock);
  struct dynamic *at = all;
  while (at != NULL && at->window != window) at = at->next;
  pthread_mutex_unlock(&lock);
  return at;
}

void open_dynamic(MPI_Win window, MPI_Comm comm) {
  if (window == MPI_WIN_NULL) return;
  struct dynamic *made = (struct dynamic *)calloc(1, sizeof *made);
  if (made == NULL) abort();
  int segments = 1;
  for (const struct segment *each = attached_by(rank); each->recorded != 0; ++each) ++segments;
  PMPI_Comm_size(comm, &made->size);
  made->ranks = (long long *)calloc((size_t)made->size, sizeof *made->ranks);
  if (made->ranks == NULL) abort();
  made->window = window;
  PMPI_Win_allocate((MPI_Aint)(segments * sizeof *made->own), 1, MPI_INFO_NULL, comm, &made->own, &made->beside);
  memset(made->own, 0, segments * sizeof *made->own);
  PMPI_Win_lock_all(MPI_MODE_NOCHECK, made->beside);
  PMPI_Win_sync(made->beside);
  PMPI_Allgather(&rank, 1, MPI_LONG_LONG, made->ranks, 1, MPI_LONG_LONG, comm);
  pthread_mutex_lock(&lock);
  made->next = all;
  all = made;
  pthread_mutex_unlock(&lock);
}

void close_dynamic(MPI_Win window) {
  struct dynamic *gone = find(window);
  if (gone == NULL) return;
  pthread_mutex_lock(&lock);
  struct dynamic **at = &all;
  while (*at != gone) at = &(*at)->next;
  *at = gone->next;
  pthread_mutex_unlock(&lock);
  PMPI_Win_unlock_all(gone->beside);
  PMPI_Win_free(&gone->beside);
  free(gone->ranks);
  free(gone);
}

void attaching(MPI_Win window, const void *base, long long recorded, long long bytes) {
  struct dynamic *in = find(window);
  if (in == NULL) return;
  const struct segment *own = attached_by(rank);
  for (int i = 0; own[i].recorded != 0; ++i) {
    if (own[i].recorded != (unsigned long long)recorded || own[i].bytes != (unsigned long long)bytes) continue;
    pthread_mutex_lock(&lock);
    in->own[i].address = (unsigned long long)(uintptr_t)base;
    PMPI_Win_sync(in->beside);
    in->own[i].order = ++order;
    PMPI_Win_sync(in->beside);
    pthread_mutex_unlock(&lock);
  }
}

/* One that is being written may be half there. */
static struct told told_by(const struct dynamic *in, int target, int segment) {
  struct told before = {0, 0}, now = {0, 0};
  do {
    before = now;
    PMPI_Get(&now, sizeof now, MPI_BYTE, target, (MPI_Aint)(segment * sizeof now), sizeof now, MPI_BYTE, in->beside);
    PMPI_Win_flush(target, in->beside);
  } while (before.address != now.address || before.order != now.order);
  return now;
}

MPI_Aint aimed(MPI_Win window, int target, long long recorded, MPI_Aint otherwise) {
  const struct dynamic *in = find(window);
  if (in == NULL || target < 0 || target >= in->size) return otherwise;
  const struct segment *theirs = attached_by(in->ranks[target]);
  const unsigned long long wanted = (unsigned long long)recorded;
  const time_t begun = time(NULL);
  for (int there = 1; there;) {
    struct told last = {0, 0};
    there = 0;
    /* Memory that was given up may have been given again. One past the end is where nothing is put. */
    for (int end = 0; end < 2 && !there; ++end) {
      for (int i = 0; theirs[i].recorded != 0; ++i) {
        const unsigned long long distance = wanted - theirs[i].recorded;
        if (end ? distance != theirs[i].bytes : distance >= theirs[i].bytes) continue;
        there = 1;
        const struct told told = told_by(in, target, i);
        if (told.order <= last.order) continue;
        last.address = told.address + distance;
        last.order = told.order;
      }
    }
    if (last.order != 0) return (MPI_Aint)last.address;
    int flag = 0;
    if (there) PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    sched_yield();
    if (there && time(NULL) - begun > 60) {
      fprintf(stderr, "proxy: rank %lld: rank %lld attaches no memory that is needed for a minute\n", rank,
              in->ranks[target]);
      abort();
    }
  }
  return otherwise; /* MPI may say that nothing is there */
}

MPI_Aint aimed_in(MPI_Win window, int target, const struct field *recorded) {
  const MPI_Aint otherwise = AINT(address_in(recorded, 0));
  return recorded->count == 0 ? otherwise : aimed(window, target, recorded_in(recorded), otherwise);
}

long long recorded_in(const struct field *address) {
  return address->count > 3 ? address->atoms[3] : address->count == 3 ? address->atoms[2] : 0;
}
