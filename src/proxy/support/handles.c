/* What handles of the recording stand for now. A name there is the call that made the object, and its place among those
 * that were there at once. Several objects may have one name: two MPI_Isend that are done at once get one handle, and
 * an object may be looked up again. They are used and given up in the order in which they came. MPI writes each where
 * it lies, so that one that was given up is the null handle from then on. */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "proxy.h"
#include "threads.h"

struct handle {
  struct handle *next;
  union {
    void *pointer;
    long long number;
  } value;
  int thread;   /* that made it */
  int seen;     /* it was there: null means that it was given up */
  int given_up; /* by the call that is being made */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct handles comms;

static struct handle **queue(struct handles *of, long long place) {
  if (place < 0) place = 0;
  if (place >= of->places) {
    of->first = (struct handle **)realloc(of->first, (size_t)(place + 1) * sizeof *of->first);
    if (of->first == NULL) abort();
    memset(of->first + of->places, 0, (size_t)(place + 1 - of->places) * sizeof *of->first);
    of->places = place + 1;
  }
  return &of->first[place];
}

/* Without those that were given up, so that a queue is no longer than what is there. */
static struct handle **living(struct handles *of, long long place, int (*is_null)(const void *)) {
  struct handle **all = queue(of, place);
  for (struct handle **at = all; *at != NULL;) {
    struct handle *each = *at;
    if (is_null(&each->value) && each->seen && (!each->given_up || each->thread == this_thread)) {
      *at = each->next;
      free(each);
    } else {
      at = &each->next;
    }
  }
  return all;
}

static struct handle *append(struct handles *of, long long place, int (*is_null)(const void *)) {
  struct handle *made = (struct handle *)calloc(1, sizeof *made);
  if (made == NULL) abort();
  made->thread = this_thread;
  pthread_mutex_lock(&lock);
  struct handle **end = living(of, place, is_null);
  while (*end != NULL) end = &(*end)->next;
  *end = made;
  pthread_mutex_unlock(&lock);
  return made;
}

/* The first one that is there, of this thread if there is such; waits for other threads to make it. NULL: nobody does.
 */
static struct handle *find(struct handles *of, long long place, int (*is_null)(const void *)) {
  struct handle *found = NULL, *unset = NULL;
  pthread_mutex_lock(&lock);
  for (struct handle *each = *living(of, place, is_null); each != NULL; each = each->next) {
    if (is_null(&each->value)) {
      if (unset == NULL) unset = each;
      continue;
    }
    each->seen = 1;
    if (each->given_up && each->given_up != this_thread + 1) continue;
    if (found == NULL || (found->thread != this_thread && each->thread == this_thread)) found = each;
  }
  if (found == NULL && !several_threads) found = unset;
  pthread_mutex_unlock(&lock);
  return found;
}

static struct handle *first(struct handles *of, long long place, int (*is_null)(const void *)) {
  struct handle *found = find(of, place, is_null);
  for (const time_t begin = time(NULL); found == NULL && several_threads && time(NULL) - begin < 10;) {
    sched_yield();
    found = find(of, place, is_null);
  }
  return found;
}

/* A communicator has its number alone. */
static struct handles *named(const char *kind, const struct field *of, int at) {
  return strcmp(kind, "comm") == 0 ? &comms : handles_of(of->atoms[at]);
}
static long long place_in(const char *kind, const struct field *of, int at) {
  return strcmp(kind, "comm") == 0 ? of->atoms[at] : at + 1 < of->count ? of->atoms[at + 1] : 0;
}

#define DEFINE(name, type, null)                                                                              \
  static int name##_is_null(const void *value) { return *(const type *)value == (type)null; }                 \
  type *name##_null(void) {                                                                                   \
    static _Thread_local type nothing;                                                                        \
    nothing = null;                                                                                           \
    return &nothing;                                                                                          \
  }                                                                                                           \
  type *name##_copy(type of) {                                                                                \
    static _Thread_local type all[8];                                                                         \
    static _Thread_local int next;                                                                            \
    type *one = &all[next++ % 8];                                                                             \
    *one = of;                                                                                                \
    return one;                                                                                               \
  }                                                                                                           \
  type *name##_new(struct handles *of, long long place) {                                                     \
    struct handle *made = append(of, place, name##_is_null);                                                  \
    *(type *)(void *)&made->value = null;                                                                     \
    return (type *)(void *)&made->value;                                                                      \
  }                                                                                                           \
  type *name##_at(struct handles *of, long long place) {                                                      \
    struct handle *found = first(of, place, name##_is_null);                                                  \
    return found == NULL ? name##_null() : (type *)(void *)&found->value;                                     \
  }                                                                                                           \
  type *name##_last(struct handles *of, long long place) {                                                    \
    struct handle *found = first(of, place, name##_is_null);                                                  \
    if (found == NULL) return name##_null();                                                                  \
    if (several_threads) found->given_up = this_thread + 1;                                                   \
    return (type *)(void *)&found->value;                                                                     \
  }                                                                                                           \
  type *name##_in(const struct field *of, int at) {                                                           \
    if (at >= of->count || (IS_ATOM(of->atoms[at]) && of->atoms[at] - ATOM(0) < A_FIRST_CONSTANT))            \
      return name##_null();                                                                                   \
    if (!IS_ATOM(of->atoms[at])) return name##_at(named(#name, of, at), place_in(#name, of, at));             \
    type *constant = name##_null();                                                                           \
    handle_constant((int)(of->atoms[at] - ATOM(A_FIRST_CONSTANT)), constant);                                 \
    return constant;                                                                                          \
  }                                                                                                           \
  type *name##_new_in(const struct field *of, int at) {                                                       \
    if (at >= of->count || IS_ATOM(of->atoms[at])) return name##_null();                                      \
    return name##_new(named(#name, of, at), place_in(#name, of, at));                                         \
  }                                                                                                           \
  type name##_of(struct handles *of, long long place) { return *name##_at(of, place); }                       \
  void name##_keep(struct handles *of, long long place, type made) {                                          \
    struct handle *each;                                                                                      \
    pthread_mutex_lock(&lock);                                                                                \
    for (each = *queue(of, place); each != NULL && *(type *)(void *)&each->value != made;) each = each->next; \
    pthread_mutex_unlock(&lock);                                                                              \
    if (each == NULL) *name##_new(of, place) = made;                                                          \
  }
PROXY_KINDS(DEFINE)

struct number {
  struct number *next;
  int kind;
  long long recorded, now;
};
static struct number *numbers;

MPI_Fint number_given(int kind, long long recorded, long long now) {
  struct number *made = (struct number *)calloc(1, sizeof *made);
  if (made == NULL) abort();
  pthread_mutex_lock(&lock);
  *made = (struct number){numbers, kind, recorded, now};
  numbers = made;
  pthread_mutex_unlock(&lock);
  return (MPI_Fint)now;
}
MPI_Fint number_now(int kind, long long recorded) {
  pthread_mutex_lock(&lock);
  const struct number *at = numbers;
  while (at != NULL && (at->kind != kind || at->recorded != recorded)) at = at->next;
  const long long now = at == NULL ? recorded : at->now; /* one that MPI never gave is the same in every run */
  pthread_mutex_unlock(&lock);
  return (MPI_Fint)now;
}

void list_requests(struct handles *of, long long place, int most, struct handle **found) {
  int count = 0;
  if (several_threads) (void)first(of, place, request_is_null);
  pthread_mutex_lock(&lock);
  for (int own = 1; own >= 0; --own) {
    struct handle *each = own ? *living(of, place, request_is_null) : *queue(of, place);
    for (; each != NULL && count < most; each = each->next) {
      if ((each->thread == this_thread) == own && !request_is_null(&each->value)) each->seen = 1, found[count++] = each;
    }
  }
  pthread_mutex_unlock(&lock);
  while (count < most) found[count++] = NULL;
}

MPI_Request *place_of_request(struct handle *handle) { return (MPI_Request *)(void *)&handle->value; }
