/* What did not come out by itself: which requests a call found done, which message was there, whom a receive from
 * anybody heard. Calls wait, with calls that a recorder does not see, until what they found in the recording is there;
 * they do not see what was not done there. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "proxy.h"
#include "threads.h"

struct name {
  struct handles *of; /* NULL: MPI_REQUEST_NULL */
  long long place;
};
struct requests {
  int count, room;
  struct name *names;
  struct handle **objects; /* where each lies; NULL: it is not there any more */
  MPI_Request *handles;
  char *hidden;
};

static void *grown(void *old, size_t bytes) {
  void *now = realloc(old, bytes);
  if (now == NULL) fprintf(stderr, "proxy: no memory\n"), abort();
  return now;
}

struct requests *no_requests(void) {
  enum { kNested = 8 }; /* a call that encloses this one still has its own */
  static _Thread_local struct requests all[kNested];
  static _Thread_local int next;
  struct requests *one = &all[next++ % kNested];
  one->count = 0;
  return one;
}

static void add_name(struct requests *to, struct name name) {
  if (to->count == to->room) {
    to->room = to->room == 0 ? 16 : 2 * to->room;
    to->names = (struct name *)grown(to->names, (size_t)to->room * sizeof *to->names);
    to->objects = (struct handle **)grown(to->objects, (size_t)to->room * sizeof *to->objects);
    to->handles = (MPI_Request *)grown(to->handles, ((size_t)to->room + 1) * sizeof *to->handles);
    to->hidden = (char *)grown(to->hidden, (size_t)to->room);
  }
  to->hidden[to->count] = 0;
  to->names[to->count++] = name;
}

void add_requests(struct requests *to, struct handles *of, long long place, long long step, int count) {
  for (int i = 0; i < count; ++i) add_name(to, (struct name){of, of == NULL ? 0 : place + i * step});
}

void add_request(struct requests *to, struct handles *of, long long place) { add_name(to, (struct name){of, place}); }

void add_requests_in(struct requests *to, const struct field *of) {
  for (int i = 0; i + 1 < of->count; i += 2) {
    const int there = !IS_ATOM(of->atoms[i]);
    add_name(to, (struct name){there ? handles_of(of->atoms[i]) : NULL, there ? of->atoms[i + 1] : 0});
  }
}

static int is_before(const struct requests *of, int i, int k) {
  return of->names[i].of == of->names[k].of && of->names[i].place == of->names[k].place;
}

MPI_Request *given(struct requests *of) {
  if (of->room == 0) add_name(of, (struct name){NULL, 0}), of->count = 0;
  memset(of->objects, 0, (size_t)of->room * sizeof *of->objects);
  for (int i = 0; i < of->count; ++i) {
    of->handles[i] = MPI_REQUEST_NULL;
    if (of->names[i].of == NULL) continue;
    struct handle *found[2];
    list_requests(of->names[i].of, of->names[i].place, 2, found);
    of->objects[i] = found[0];
    if (found[1] != NULL) {
      /* The name stands for several: the array may have it more than once. */
      int before = 0;
      for (int k = 0; k < i; ++k) before += is_before(of, i, k);
      struct handle **all = (struct handle **)grown(NULL, ((size_t)before + 1) * sizeof *all);
      list_requests(of->names[i].of, of->names[i].place, before + 1, all);
      of->objects[i] = all[before];
      free(all);
    } else {
      for (int k = i - 1; k >= 0 && found[0] != NULL && i < 1024; --k) {
        if (is_before(of, i, k)) of->objects[i] = NULL;
      }
    }
    if (of->objects[i] != NULL) of->handles[i] = *place_of_request(of->objects[i]);
  }
  for (int i = 0; i < of->count; ++i) {
    if (of->hidden[i] != 0) of->handles[i] = MPI_REQUEST_NULL;
  }
  return of->handles;
}

void settle(struct requests *of) {
  for (int i = 0; i < of->count; ++i) {
    if (of->objects[i] != NULL && of->hidden[i] == 0) *place_of_request(of->objects[i]) = of->handles[i];
  }
}

void wait_for(const MPI_Request *request) {
  int flag = 0;
  MPI_Status ignored;
  while (*request != MPI_REQUEST_NULL && PMPI_Request_get_status(*request, &flag, &ignored) == MPI_SUCCESS && !flag) {
    sched_yield();
  }
}

void wait_for_all(struct requests *of) {
  const MPI_Request *all = given(of);
  for (int i = 0; i < of->count; ++i) wait_for(&all[i]);
}

void wait_for_message(int source, int tag, MPI_Comm comm) {
  int flag = 0;
  while (PMPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) sched_yield();
}

void wait_for_partition(MPI_Request request, int partition) {
#if MPI_VERSION >= 4
  int flag = 0;
  while (PMPI_Parrived(request, partition, &flag) == MPI_SUCCESS && !flag) sched_yield();
#else
  (void)request, (void)partition;
#endif
}

void only(struct requests *of, int count, const long long *places) {
  int any = 0;
  for (int i = 0; i < count; ++i) any += places[i] >= 0 && places[i] < of->count;
  if (any == 0) return; /* there was none to wait for */
  memset(of->hidden, 1, (size_t)of->count);
  for (int i = 0; i < count; ++i) {
    if (places[i] >= 0 && places[i] < of->count) of->hidden[places[i]] = 0;
  }
  const MPI_Request *all = given(of);
  for (int i = 0; i < of->count; ++i) {
    if (of->hidden[i] == 0) wait_for(&all[i]);
  }
}

/* ---- arrays that call after call takes requests out of */

enum { kRemembered = 8 };
struct array {
  int count;
  struct name *names;
};
struct arrays {
  int count;
  struct array last[kRemembered]; /* the one that was left last first */
};

struct arrays *new_arrays(void) {
  struct arrays *arrays = (struct arrays *)calloc(1, sizeof *arrays);
  if (arrays == NULL) abort();
  return arrays;
}

void recall(struct requests *to, struct arrays *from, int place) {
  if (place >= from->count) return;
  for (int i = 0; i < from->last[place].count; ++i) add_name(to, from->last[place].names[i]);
}

int recall_in(struct requests *to, struct arrays *from, const struct field *of) {
  if (of->count > 1 && of->atoms[0] > ATOM(A_REQUESTS) && of->atoms[0] < ATOM(A_REQUESTS + 16)) {
    if (of->count == 2) {
      recall(to, from, (int)of->atoms[1]);
      return (int)of->atoms[1];
    }
    const struct field rest = {of->count - 1, of->atoms + 1, NULL, NULL};
    add_requests_in(to, &rest);
    return -1;
  }
  add_requests_in(to, of);
  return -2;
}

static void remember(struct requests *of, struct arrays *in, int place) {
  struct array array = {of->count, (struct name *)grown(NULL, ((size_t)of->count + 1) * sizeof(struct name))};
  if (of->count > 0) memcpy(array.names, of->names, (size_t)of->count * sizeof(struct name));
  if (place >= 0 && place < in->count) {
    free(in->last[place].names);
    memmove(in->last + place, in->last + place + 1, (size_t)(in->count - place - 1) * sizeof *in->last);
    --in->count;
  }
  if (in->count == kRemembered) free(in->last[--in->count].names);
  memmove(in->last + 1, in->last, (size_t)in->count * sizeof *in->last);
  in->last[0] = array;
  ++in->count;
}

void looked_at(struct requests *of, struct arrays *in, int place) {
  if (place != -2) remember(of, in, place);
}

void only_left(struct requests *of, struct arrays *in, int place, int count, const long long *numbers) {
  if (place == -2) {
    only(of, count, numbers);
    return;
  }
  long long *places = (long long *)grown(NULL, ((size_t)count + 1) * sizeof *places);
  struct name *names = (struct name *)grown(NULL, ((size_t)of->count + 1) * sizeof *names);
  if (of->count > 0) memcpy(names, of->names, (size_t)of->count * sizeof *names);
  for (int i = 0; i < count; ++i) {
    places[i] = -1;
    if (numbers[i] < 0) continue;
    long long before = numbers[i];
    int at = 0;
    while (at < of->count && (of->names[at].of == NULL || before-- > 0)) ++at;
    if (at == of->count) break;
    places[i] = at;
    of->names[at].of = NULL; /* for the numbers behind it */
  }
  remember(of, in, place);
  if (of->count > 0) memcpy(of->names, names, (size_t)of->count * sizeof *names);
  only(of, count, places);
  free(names);
  free(places);
}

/* ---- statuses */

MPI_Status *status_of(long long source, long long tag, long long error, long long bytes, long long cancelled) {
  static _Thread_local MPI_Status status;
  memset(&status, 0, sizeof status);
  status.MPI_SOURCE = (int)source;
  status.MPI_TAG = (int)tag;
  status.MPI_ERROR = (int)error;
  PMPI_Status_set_elements_x(&status, MPI_BYTE, bytes < 0 ? 0 : bytes);
  PMPI_Status_set_cancelled(&status, cancelled != 0);
  return &status;
}

MPI_Status *status_in(const struct field *of) {
  return status_of(number_in(of, 0), number_in(of, 1), number_in(of, 2), number_in(of, 3), number_in(of, 4));
}

int heard_in(const struct field *status, int which, int asked) {
  const int at = which + (status->count % 5 == 1); /* behind the constant that says that it was ignored */
  if (status->count < 5) return asked;
  const long long atom = status->atoms[at];
  return IS_ATOM(atom) && atom - ATOM(0) < A_FIRST_CONSTANT ? asked : (int)number(atom);
}
