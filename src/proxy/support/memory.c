/* The program's memory. Each region that the recording told apart (a segment of the heap, the stack of a thread, the
 * data of a module) is a range of addresses of its own, in which buffers lie at the offsets that they had, so that they
 * overlap as they did. The ranges are reserved, not filled: what MPI does not touch takes no memory. Segments of the
 * heap are allocated with the sizes that they had, where the recording says when they began. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "proxy.h"

struct region {
  char *origin;     /* offset 0; NULL: not there now */
  char *low, *high; /* what it holds */
  char *filled_begin, *filled_end;
  int allocated; /* origin is of the heap */
};
struct regions {
  struct region **all;
  long long count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The system may not give as much: then less, as long as it makes sense. */
static void reserve(struct region *region) {
  static size_t most = (size_t)1 << 36;
  for (; most >= (size_t)1 << 24; most /= 2) {
    char *at = (char *)mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    region->origin = at + most / 16; /* stacks grow downwards, and types may reach below a buffer */
    region->low = at;
    region->high = at + most;
    return;
  }
  fprintf(stderr, "proxy: rank %lld: the system gives no addresses\n", rank);
  abort();
}

static struct region *region(struct regions *of, long long number, int moves) {
  if (number < 0) number = 0;
  pthread_mutex_lock(&lock);
  if (number >= of->count) {
    of->all = (struct region **)realloc(of->all, (size_t)(number + 1) * sizeof *of->all);
    if (of->all == NULL) abort();
    memset(of->all + of->count, 0, (size_t)(number + 1 - of->count) * sizeof *of->all);
    of->count = number + 1;
  }
  if (of->all[number] == NULL) {
    of->all[number] = (struct region *)calloc(1, sizeof **of->all);
    if (of->all[number] == NULL) abort();
  }
  struct region *found = of->all[number];
  if (!moves && found->origin == NULL) reserve(found);
  pthread_mutex_unlock(&lock);
  return found;
}

static struct regions heap, data, mappings, mpi_memory, devices, elsewhere;
static _Thread_local struct regions stack;

void *heap_at(long long segment, long long offset) { return region(&heap, segment, 0)->origin + offset; }
void *data_at(long long module, long long offset) { return region(&data, module, 0)->origin + offset; }
void *stack_at(long long offset) { return region(&stack, 0, 0)->origin + offset; }
void *mapping_at(long long number, long long offset) { return region(&mappings, number, 0)->origin + offset; }
void *device_at(long long number, long long offset) { return region(&devices, number, 0)->origin + offset; }
void *mpi_memory_at(long long number, long long offset) {
  return integer_at((long long)(intptr_t)region(&mpi_memory, number, 1)->origin + offset);
}
void *elsewhere_at(long long number, long long offset) { return region(&elsewhere, number, 0)->origin + offset; }
void *integer_at(long long value) { return (void *)(intptr_t)value; }

void bind_memory(long long number, long long offset, void *given) {
  region(&mpi_memory, number, 1)->origin = (char *)given - offset;
}
void bind_in(const struct field *of, void *given) {
  if (of->count == 3 && of->atoms[0] == ATOM(A_MPI_MEMORY)) bind_memory(of->atoms[1], of->atoms[2], given);
}

void *address_in(const struct field *of, int at) {
  if (of->count == 0 && of->text == NULL) return result(15); /* MPI looks at it on other ranks only */
  if (3 * at + 2 >= of->count) return NULL;
  const long long *atoms = of->atoms + 3 * at;
  const long long kind = atoms[0] - ATOM(0);
  switch (kind) {
    case A_HEAP:
      return heap_at(atoms[1], atoms[2]);
    case A_STATIC:
      return data_at(atoms[1], atoms[2]);
    case A_STACK:
      return stack_at(atoms[2]);
    case A_MAPPING:
      return mapping_at(atoms[1], atoms[2]);
    case A_MPI_MEMORY:
      return mpi_memory_at(atoms[1], atoms[2]);
    case A_DEVICE:
      return device_at(atoms[1], atoms[2]);
    case A_UNKNOWN:
      return elsewhere_at(atoms[1], atoms[2]);
    case A_INTEGER:
      return integer_at(atoms[2]);
    default:
      return kind >= A_FIRST_CONSTANT ? pointer_constant_of((int)(kind - A_FIRST_CONSTANT)) : NULL;
  }
}

/* ---- segments of the heap, which come and go */

/* What is large takes pages only as they are touched. */
static char *zeros(size_t bytes) {
  const size_t page = 4096;
  void *block = NULL;
  if (posix_memalign(&block, 64, bytes == 0 ? 1 : bytes) != 0) return NULL;
  char *const begin = (char *)block;
  const size_t behind = (uintptr_t)begin % page, before = behind == 0 ? 0 : page - behind;
  const size_t front = before < bytes ? before : bytes, pages = (bytes - front) / page * page;
  /* Pages that were given back are read as zeros. */
  if (bytes < 16 * page || madvise(begin + front, pages, MADV_DONTNEED) != 0) {
    memset(begin, 0, bytes);
  } else {
    memset(begin, 0, front);
    memset(begin + front + pages, 0, bytes - front - pages);
  }
  return begin;
}

static void free_segment(struct region *segment) {
  if (segment->allocated) free(segment->origin);
  memset(segment, 0, sizeof *segment);
}

static void begin_segment(long long number, long long bytes) {
  struct region *segment = region(&heap, number, 1);
  if (segment->origin != NULL && !segment->allocated) return; /* used before: a range */
  free_segment(segment);
  segment->origin = segment->low = zeros((size_t)bytes);
  if (segment->origin == NULL) return; /* a range, when it is used */
  segment->high = segment->low + bytes;
  segment->allocated = 1;
}

static void end_segment(long long number) {
  struct region *segment = region(&heap, number, 1);
  if (segment->allocated) free_segment(segment);
}

/* {calls before it, segment, bytes; 0: it ends}; those of threads have numbers below 0. NULL: there is none left. */
static const struct field *next_event(struct stream *of, long long *calls) {
  *calls = 0;
  for (const struct field *event = next_field(of); event->count == 3 && event->atoms[2] >= 0; event = next_field(of)) {
    *calls += event->atoms[0];
    if (event->atoms[1] >= 0) return event;
  }
  return NULL;
}

void segments_stay(struct stream *of) {
  long long calls;
  for (const struct field *event = next_event(of, &calls); event != NULL; event = next_event(of, &calls)) {
    const struct region *segment = region(&heap, event->atoms[1], 1);
    if (segment->high - segment->low < event->atoms[2]) begin_segment(event->atoms[1], event->atoms[2]);
  }
}

static struct stream *events;
static const struct field *event; /* the next; NULL: there is none */
static long long calls_left;      /* before it */

static void go_on(void) { event = next_event(events, &calls_left); }

static void happens(void) {
  if (event->atoms[2] == 0) {
    end_segment(event->atoms[1]);
  } else {
    begin_segment(event->atoms[1], event->atoms[2]);
  }
  go_on();
}

void segments_change(struct stream *of) {
  events = of;
  go_on();
}

void next_call(void) {
  while (event != NULL && calls_left == 0) happens();
  --calls_left;
}

void last_call(void) {
  while (event != NULL) happens();
}

/* ---- what calls write */

static _Thread_local struct {
  char *at;
  long long bytes;
} rooms[16];

anything results(int number, long long count) {
  long long bytes = 8 * count < 64 ? 64 : 8 * count;
  if (rooms[number].bytes < bytes) {
    rooms[number].at = (char *)calloc(1, (size_t)bytes); /* a call that encloses this one may still have the old one */
    if (rooms[number].at == NULL) abort();
    rooms[number].bytes = bytes;
  }
  return ANYTHING(rooms[number].at);
}
anything result(int number) { return results(number, 8); }
anything copy_of(int number, const void *from, long long bytes) {
  return ANYTHING(memcpy(results(number, bytes / 8 + 256), from, (size_t)bytes));
}

/* ---- what is sent */

static void put(char *from, const char *to) {
  uint64_t state = (uint64_t)(uintptr_t)from * 0x9e3779b97f4a7c15U + (uint64_t)rank + 1;
  for (; from < to; ++from) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    *from = (char)state;
  }
}

static int fill_within(struct regions *of, char *begin, char *end) {
  for (long long i = 0; i < of->count; ++i) {
    struct region *each = of->all[i];
    if (each == NULL || each->origin == NULL || begin < each->low || begin >= each->high) continue;
    if (end > each->high) end = each->high;
    if (each->filled_begin == each->filled_end) each->filled_begin = each->filled_end = begin;
    if (begin < each->filled_begin) put(begin, each->filled_begin), each->filled_begin = begin;
    if (end > each->filled_end) put(each->filled_end, end), each->filled_end = end;
    return 1;
  }
  return 0;
}

void fill(const void *buffer, long long count, MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  if (count <= 0 || buffer == NULL || buffer == MPI_BOTTOM || buffer == MPI_IN_PLACE || type == MPI_DATATYPE_NULL)
    return;
  if (PMPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS) return;
  if (PMPI_Type_get_true_extent(type, &true_lower, &true_extent) != MPI_SUCCESS) return;
  const MPI_Aint last = (MPI_Aint)(count - 1) * extent;
  char *begin = (char *)(uintptr_t)buffer + true_lower + (last < 0 ? last : 0);
  char *end = begin + true_extent + (last < 0 ? -last : last);
  pthread_mutex_lock(&lock);
  if (!fill_within(&heap, begin, end) && !fill_within(&data, begin, end) && !fill_within(&stack, begin, end)) {
    fill_within(&mappings, begin, end);
  }
  pthread_mutex_unlock(&lock);
}
