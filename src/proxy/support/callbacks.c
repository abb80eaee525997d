/* Functions of the program that MPI calls: these stand in for them. They make the calls that those made, and answer
 * what lets MPI go on. */
#include <string.h>

#include "proxy.h"

/* A call that was made within another one, and those that were made within it. */
struct nested_call {
  int depth;
  void (*make)(void);
  struct calls *inner;
};
struct calls {
  int count, room;
  struct nested_call *all;
};

static _Thread_local struct calls pending;
static _Thread_local struct calls *now; /* of the call that is being made */
static _Thread_local MPI_Status *status_given;
static _Thread_local MPI_Status *expected;
static _Thread_local int expected_count, expected_next;

static void add(struct calls *to, struct nested_call call) {
  if (to->count == to->room) {
    to->room = to->room == 0 ? 8 : 2 * to->room;
    to->all = (struct nested_call *)realloc(to->all, (size_t)to->room * sizeof *to->all);
    if (to->all == NULL) abort();
  }
  to->all[to->count++] = call;
}

/* Those of the pending calls that are deeper. */
static struct calls *take(int depth) {
  int from = pending.count;
  while (from > 0 && pending.all[from - 1].depth > depth) --from;
  if (from == pending.count) return NULL;
  struct calls *inner = (struct calls *)calloc(1, sizeof *inner);
  if (inner == NULL) abort();
  for (int i = from; i < pending.count; ++i) add(inner, pending.all[i]);
  pending.count = from;
  return inner;
}

void later(int depth, void (*make)(void)) { add(&pending, (struct nested_call){depth, make, take(depth)}); }

static void make_all(struct calls *calls) {
  for (int i = 0; calls != NULL && i < calls->count; ++i) {
    struct calls *outer = now;
    now = calls->all[i].inner;
    calls->all[i].make();
    struct calls *left = now;
    now = NULL;
    make_all(left);
    now = outer;
  }
  if (calls != NULL) free(calls->all), free(calls);
}

void enclose(void) { now = take(0); }

void enclosed(void) {
  struct calls *left = now;
  now = NULL;
  make_all(left); /* this time MPI has not called the function */
}

void make_nested(void) {
  struct calls *calls = now;
  now = NULL;
  make_all(calls);
}

static void make_with(MPI_Status *status) {
  if (expected_next < expected_count) *status = expected[expected_next++];
  MPI_Status *outer = status_given;
  status_given = status;
  make_nested();
  status_given = outer;
}

void expect_status(const MPI_Status *status) {
  if (expected_next == expected_count) expected_next = expected_count = 0;
  expected = (MPI_Status *)realloc(expected, (size_t)(expected_count + 1) * sizeof *expected);
  if (expected == NULL) abort();
  expected[expected_count++] = *status;
}
void expect_statuses(const struct field *of) {
  expected_next = expected_count = 0;
  for (int i = of->count % 5 == 1; i + 5 <= of->count; i += 5) {
    const struct field each = {5, of->atoms + i, NULL, NULL};
    expect_status(status_in(&each));
  }
}
MPI_Status *given_status(MPI_Status *other) { return status_given == NULL ? other : status_given; }

void user_function(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)in, (void)inout, (void)length, (void)type;
  make_nested();
}

static _Thread_local int failing;
void fails(int now) { failing = now; }

/* Every attribute goes on to the copy, as it is, but in a call that failed. */
#define ATTRIBUTES(name, type)                                                                           \
  int name##_copy_attr_function(type old, int keyval, void *state, void *value, void *copy, int *flag) { \
    (void)old, (void)keyval, (void)state;                                                                \
    make_nested();                                                                                       \
    memcpy(copy, &value, sizeof value);                                                                  \
    *flag = 1;                                                                                           \
    return failing ? MPI_ERR_OTHER : MPI_SUCCESS;                                                        \
  }                                                                                                      \
  int name##_delete_attr_function(type object, int keyval, void *value, void *state) {                   \
    (void)object, (void)keyval, (void)value, (void)state;                                                \
    make_nested();                                                                                       \
    return failing ? MPI_ERR_OTHER : MPI_SUCCESS;                                                        \
  }
ATTRIBUTES(comm, MPI_Comm)
ATTRIBUTES(type, MPI_Datatype)
ATTRIBUTES(win, MPI_Win)

/* What failed returns its code, as it did where the program's function returned. */
#define ERRORS(name, type)                                        \
  void name##_errhandler_function(type *object, int *code, ...) { \
    (void)object, (void)code;                                     \
    make_nested();                                                \
  }
ERRORS(comm, MPI_Comm)
ERRORS(win, MPI_Win)
ERRORS(file, MPI_File)

int grequest_query_function(void *state, MPI_Status *status) {
  (void)state;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  make_with(status);
  return MPI_SUCCESS;
}
int grequest_free_function(void *state) {
  (void)state;
  make_nested();
  return MPI_SUCCESS;
}
int grequest_cancel_function(void *state, int complete) {
  (void)state, (void)complete;
  make_nested();
  return MPI_SUCCESS;
}
int datarep_extent_function(MPI_Datatype type, MPI_Aint *extent, void *state) {
  (void)state;
  make_nested();
  MPI_Aint lower = 0;
  return PMPI_Type_get_extent(type, &lower, extent);
}
int datarep_conversion_function(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *state) {
  (void)user, (void)type, (void)count, (void)file, (void)at, (void)state;
  make_nested();
  return MPI_SUCCESS;
}
#if MPI_VERSION >= 4
void user_function_c(void *in, void *inout, MPI_Count *length, MPI_Datatype *type) {
  (void)in, (void)inout, (void)length, (void)type;
  make_nested();
}
ERRORS(session, MPI_Session)
#endif
#ifdef MPICH_VERSION
/* The program's own completes its request, which is one of the calls that it makes. */
int grequest_poll_function(void *state, MPI_Status *status) {
  (void)state, (void)status;
  make_nested();
  return MPI_SUCCESS;
}
int grequest_wait_function(int count, void **states, double timeout, MPI_Status *status) {
  (void)count, (void)states, (void)timeout, (void)status;
  make_nested();
  return MPI_SUCCESS;
}
#endif
