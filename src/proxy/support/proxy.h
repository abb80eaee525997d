/* What a generated program stands on, beside MPI: memory that lies where the program's lay, handles under the names
 * that the recording gave them, values that change along ranks or time, and what makes calls come out as they did.
 *
 * Not written for this program: each that `cairn proxy` makes has the same. Calls of MPI that are made in here begin
 * with PMPI_, so that a recorder does not see them. Any thread may call everything, but a stream belongs to one. */
#ifndef PROXY_H
#define PROXY_H

/* Its old functions too: what the program called is called again. */
#ifndef OMPI_OMIT_MPI1_COMPAT_DECLS
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#endif
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#endif
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

/* What libraries had before the standard had it. */
#if defined(OPEN_MPI) && MPI_VERSION < 4
#ifdef __cplusplus
extern "C" {
#endif
#include <mpi-ext.h>
#ifdef __cplusplus
}
#endif
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Alltoallw_init MPIX_Alltoallw_init
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Exscan_init MPIX_Exscan_init
#define MPI_Gather_init MPIX_Gather_init
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Reduce_init MPIX_Reduce_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#define MPI_Scan_init MPIX_Scan_init
#define MPI_Scatter_init MPIX_Scatter_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#define MPI_Neighbor_allgather_init MPIX_Neighbor_allgather_init
#define MPI_Neighbor_allgatherv_init MPIX_Neighbor_allgatherv_init
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#endif
#if defined(MPICH_VERSION) && MPI_VERSION == 4 && MPI_SUBVERSION == 0
#define MPI_Remove_error_class MPIX_Delete_error_class
#define MPI_Remove_error_code MPIX_Delete_error_code
#define MPI_Remove_error_string MPIX_Delete_error_string
#endif

/* GCC takes MPI_STATUSES_IGNORE for an array of no statuses that is written to. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif
/* What the program called is called again, however old it is. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* A list of numbers, and a field, that are there until the call that is given them is made. What may be given for a
 * pointer of any type. */
#ifdef __cplusplus
#include <initializer_list>
#define _Thread_local thread_local
#define LIST(...) (std::initializer_list<long long>{__VA_ARGS__}.begin())
#define FIELD(count, ...) for_now({count, LIST(__VA_ARGS__), NULL, NULL})
#define ANYTHING(pointer) (anything{pointer})
struct anything {
  void *at;
  template <typename Type>
  operator Type *() const {
    return static_cast<Type *>(at);
  }
};
#else
#define LIST(...) ((const long long[]){__VA_ARGS__})
#define FIELD(count, ...) (&(struct field){count, LIST(__VA_ARGS__), NULL, NULL})
#define ANYTHING(pointer) (pointer)
typedef void *anything;
#endif

/* This process in MPI_COMM_WORLD; known before MPI_Init. */
extern long long rank, size;
extern int *program_argc;
extern char ***program_argv;

/* ---- values (values.c) ------------------------------------------------------------------------------------------- */

/* A sequence as rules: a term is a value's number, or with id < 0 the rule -id, `count` times; count 0 ends a rule.
 * Rule 0 is the whole. */
struct term {
  int id;
  long long count;
};

/* Marks among numbers: from ATOM(0) on, what is no number, as named constants and the kinds of addresses. */
#define ATOM(code) (INT64_MIN + (code))
#define IS_ATOM(value) ((value) <= INT64_MIN + 4095)
enum {
  A_NULL = 2,
  A_IMPLIED = 3,
  A_UNKNOWN = 4,
  A_PREFIX_SUMS = 6,
  A_HEAP = 16,
  A_STATIC,
  A_STACK,
  A_MAPPING,
  A_MPI_MEMORY,
  A_DEVICE,
  A_INTEGER
};
enum { A_REQUESTS = 32, A_FIRST_CONSTANT = 64 };

/* One argument of a call. */
struct field {
  int count;
  const long long *atoms;
  const char *text; /* of a string */
  void *array;      /* made of it */
};
#ifdef __cplusplus
inline struct field *for_now(struct field &&one) { return &one; }
#endif

/* What a field is from call to call. */
struct stream;
struct stream *open_stream(const struct term *order, int differences, int stays);
/* Of handles: what the number of the call that made one is for handles_of. */
struct stream *open_handles(const struct term *order, int differences, long long (*handles)(long long made));
/* Its values in order: `times` of `width` atoms each. */
void add_values(struct stream *of, int times, int width, const long long *atoms);
void add_text(struct stream *of, const char *text);
/* The next call's. */
struct field *next_field(struct stream *of);
long long next_number(struct stream *of);
/* The value of that number, of a stream that is no sequence. */
struct field *chosen(struct stream *of, long long number);

/* A call that `make` makes, or `make_row` of a table of calls. */
struct call {
  void (*make)(void);
  void (*make_row)(int row);
  int row;
};
/* Makes the calls of a sequence. */
void play(const struct term *order, const struct call *calls);

/* What a number is from rank to rank: the differences between the members of a part of the ranks. */
struct column {
  const struct term *order;
  const long long *differences;
  long long member, value; /* that was asked for last; member is 1 more */
};
long long along(struct column *of, long long member);
/* A mark's value, if it is a named constant. */
long long number(long long atom);

/* The number, or the value of the constant that it stands for. */
long long number_in(const struct field *of, int at);
/* Of a named constant; what has none is 0. Generated. */
long long constant_of(int id);
void *pointer_constant_of(int id);
/* The code of an error; the program's own are given in order. */
long long error_in(const struct field *of);
/* As an array. `counts`: the argument before, of which it may be the running sums. */
int *ints_in(struct field *of, const struct field *counts);
MPI_Aint *aints_in(struct field *of, const struct field *counts);
MPI_Count *counts_in(struct field *of, const struct field *counts);
MPI_Aint *addresses_in(struct field *of);
/* A constant that the pointer is, or room for `count` times 8 bytes. */
anything output_in(const struct field *of, int number, long long count);
/* Puts `count` times first, first + step, … behind each other into an array; {first, step, count} each, count 0 ends.
 */
void fill_ints(int *array, const long long *runs);
void fill_aints(MPI_Aint *array, const long long *runs);
void fill_counts(MPI_Count *array, const long long *runs);

/* ---- memory (memory.c) ------------------------------------------------------------------------------------------- */

void *heap_at(long long segment, long long offset);
void *data_at(long long module, long long offset);
void *stack_at(long long offset);
void *mapping_at(long long number, long long offset);
void *mpi_memory_at(long long number, long long offset);
void *device_at(long long number, long long offset);
void *integer_at(long long value);
void *elsewhere_at(long long number, long long offset); /* no memory of the program's */
void *address_in(const struct field *of, int at);
/* Of a stream with three numbers for each time that a segment of the heap begins or ends: calls between that and the
 * time before, the segment, its bytes (0: it ends). */
void segments_stay(struct stream *of);   /* each as large as it ever is, from now on */
void segments_change(struct stream *of); /* when next_call comes to it, or last_call */
void next_call(void);
void last_call(void);
#define AINT(address) ((MPI_Aint)(intptr_t)(address))
/* MPI gave this memory, in which that is offset 0. */
void bind_memory(long long number, long long offset, void *given);
void bind_in(const struct field *of, void *given);
/* Room for what a call writes and nobody reads: 64 bytes, or as many times 8. */
anything result(int number);
anything results(int number, long long count);
/* What a call reads that is none or is looked at on other ranks only: zeros. */
anything no_elements(void);
/* The same, with that in it. */
anything copy_of(int number, const void *from, long long bytes);
/* What is sent is filled with numbers that look random, once. */
void fill(const void *buffer, long long count, MPI_Datatype type);

/* ---- handles (handles.c) ----------------------------------------------------------------------------------------- */

/* What one call of the program made: `place` tells those apart that were there at once. A place may be taken by
 * several, first in, first out. */
struct handles {
  struct handle **first;
  long long places;
};
struct handle;

#if MPI_VERSION >= 4
#define PROXY_SESSIONS(X) X(session, MPI_Session, MPI_SESSION_NULL)
#else
#define PROXY_SESSIONS(X)
#endif
#define PROXY_KINDS(X)                                           \
  X(comm, MPI_Comm, MPI_COMM_NULL)                               \
  X(group, MPI_Group, MPI_GROUP_NULL)                            \
  X(request, MPI_Request, MPI_REQUEST_NULL)                      \
  X(message, MPI_Message, MPI_MESSAGE_NULL)                      \
  X(info, MPI_Info, MPI_INFO_NULL)                               \
  X(errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL)             \
  X(file, MPI_File, MPI_FILE_NULL)                               \
  X(window, MPI_Win, MPI_WIN_NULL)                               \
  X(op, MPI_Op, MPI_OP_NULL)                                     \
  X(datatype, MPI_Datatype, MPI_DATATYPE_NULL)                   \
  X(keyval, int, MPI_KEYVAL_INVALID)                             \
  X(t_enum, MPI_T_enum, MPI_T_ENUM_NULL)                         \
  X(t_cvar_handle, MPI_T_cvar_handle, MPI_T_CVAR_HANDLE_NULL)    \
  X(t_pvar_handle, MPI_T_pvar_handle, MPI_T_PVAR_HANDLE_NULL)    \
  X(t_pvar_session, MPI_T_pvar_session, MPI_T_PVAR_SESSION_NULL) \
  PROXY_SESSIONS(X)

/* datatype_new: where a call puts one that it makes. datatype_at: where the first one is; datatype_of: that one.
 * datatype_last: the same, for the call that gives it up. datatype_keep: one that a call gave, which may be there.
 * datatype_copy: a variable that has that one. */
#define PROXY_KIND(name, type, null)                                \
  type *name##_in(const struct field *of, int at);                  \
  type *name##_new(struct handles *of, long long place);            \
  type *name##_at(struct handles *of, long long place);             \
  type *name##_new_in(const struct field *of, int at);              \
  type *name##_last(struct handles *of, long long place);           \
  type name##_of(struct handles *of, long long place);              \
  void name##_keep(struct handles *of, long long place, type made); \
  type *name##_copy(type of);                                       \
  type *name##_null(void);
PROXY_KINDS(PROXY_KIND)
#undef PROXY_KIND

extern struct handles comms; /* by number */

/* Another language's handle of some kind of objects: the number that MPI gave for it in the recording, and gives now.
 */
MPI_Fint number_given(int kind, long long recorded, long long now);
MPI_Fint number_now(int kind, long long recorded);

/* By the number that the first of a field's has. Generated. */
struct handles *handles_of(long long number);
/* A named constant, put where `to` is. Generated. */
void handle_constant(int id, void *to);

/* ---- completion (requests.c) ------------------------------------------------------------------------------------- */

/* An array of requests, as a call is given it. */
struct requests;
struct requests *no_requests(void); /* an empty one */
void add_request(struct requests *to, struct handles *of, long long place);
/* `count` of them, at place, place + step, …; of 0: MPI_REQUEST_NULL. */
void add_requests(struct requests *to, struct handles *of, long long place, long long step, int count);
/* All that a field names. */
void add_requests_in(struct requests *to, const struct field *of);
/* As the call before left its array, which was the `place`-th last: and then as this call leaves it. */
struct arrays;
struct arrays *new_arrays(void);
void recall(struct requests *to, struct arrays *from, int place);
/* Either, as the field says; gives the place: -1: a new one, -2: not to be remembered. */
int recall_in(struct requests *to, struct arrays *from, const struct field *of);
MPI_Request *given(struct requests *of);
/* The call found these done: waits for them, and hides the others. `left`: as numbers among those that are left, of
 * an array that is remembered under `place` (-1: a new one; -2: as places). */
void only(struct requests *of, int count, const long long *places);
void only_left(struct requests *of, struct arrays *in, int place, int count, const long long *numbers);
/* A call found nothing. */
void looked_at(struct requests *of, struct arrays *in, int place);
void wait_for_all(struct requests *of);
/* After the call. */
void settle(struct requests *of);

void wait_for(const MPI_Request *request);
void wait_for_message(int source, int tag, MPI_Comm comm);
void wait_for_partition(MPI_Request request, int partition);

/* A status that says this, for calls that only read one. */
MPI_Status *status_of(long long source, long long tag, long long error, long long bytes, long long cancelled);
MPI_Status *status_in(const struct field *of);
/* Whom a receive from anybody heard, as its status said: source 0, tag 1; else what was asked for. */
int heard_in(const struct field *status, int which, int asked);

/* ---- dynamic windows (windows.c) --------------------------------------------------------------------------------- */

/* What a process attached to dynamic windows, where it lay when it was recorded; 0 ends. */
struct segment {
  unsigned long long recorded, bytes;
};
/* Of that rank of MPI_COMM_WORLD. Generated. */
const struct segment *attached_by(long long of);
/* After MPI_Win_create_dynamic, before MPI_Win_free and before MPI_Win_attach. */
void open_dynamic(MPI_Win window, MPI_Comm comm);
void close_dynamic(MPI_Win window);
void attaching(MPI_Win window, const void *base, long long recorded, long long bytes);
/* Where the target has now what it had at that address; of other windows, and where nothing was: `otherwise`. */
MPI_Aint aimed(MPI_Win window, int target, long long recorded, MPI_Aint otherwise);
MPI_Aint aimed_in(MPI_Win window, int target, const struct field *recorded);
/* The number of an address, where that is kept. */
long long recorded_in(const struct field *address);

/* ---- a part of the ranks (subset.c) ------------------------------------------------------------------------------ */

/* For each rank of a communicator of the recording the one that it is among those that stay, or -1. */
struct members {
  int count;
  const int *now;
};
const struct members *members_of(long long number); /* Generated. */
/* What such a rank is now: MPI_PROC_NULL if it was left out. */
int kept_rank(long long members, long long recorded);
int is_kept(long long members, long long recorded);
/* Of an array with an element for each rank those that stay. */
anything kept_array(long long members, const void *array, size_t bytes);

/* ---- functions of the program (callbacks.c) ---------------------------------------------------------------------- */

/* Calls that the program made in a function that MPI called stand before the call in which that was. */
void later(int depth, void (*call)(void));
void enclose(void);  /* the next call is the one */
void enclosed(void); /* it was */
void make_nested(void);
/* What the next completion says of a generalised request. */
void expect_status(const MPI_Status *status);
void expect_statuses(const struct field *of);
/* The status that such a function was given; else `other`. */
MPI_Status *given_status(MPI_Status *other);

/* The next call failed in the recording, which a function of an attribute may have wanted. 0: it was made. */
void fails(int now);

void user_function(void *in, void *inout, int *length, MPI_Datatype *type);
int comm_copy_attr_function(MPI_Comm old, int keyval, void *state, void *value, void *copy, int *flag);
int comm_delete_attr_function(MPI_Comm comm, int keyval, void *value, void *state);
int type_copy_attr_function(MPI_Datatype old, int keyval, void *state, void *value, void *copy, int *flag);
int type_delete_attr_function(MPI_Datatype type, int keyval, void *value, void *state);
int win_copy_attr_function(MPI_Win old, int keyval, void *state, void *value, void *copy, int *flag);
int win_delete_attr_function(MPI_Win window, int keyval, void *value, void *state);
void comm_errhandler_function(MPI_Comm *comm, int *code, ...);
void win_errhandler_function(MPI_Win *window, int *code, ...);
void file_errhandler_function(MPI_File *file, int *code, ...);
int grequest_query_function(void *state, MPI_Status *status);
int grequest_free_function(void *state);
int grequest_cancel_function(void *state, int complete);
int datarep_extent_function(MPI_Datatype type, MPI_Aint *extent, void *state);
int datarep_conversion_function(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *state);
#if MPI_VERSION >= 4
void user_function_c(void *in, void *inout, MPI_Count *length, MPI_Datatype *type);
void session_errhandler_function(MPI_Session *session, int *code, ...);
#endif
#ifdef MPICH_VERSION
int grequest_poll_function(void *state, MPI_Status *status);
int grequest_wait_function(int count, void **states, double timeout, MPI_Status *status);
#endif

/* ---- the process (process.c) ------------------------------------------------------------------------------------- */

/* Finds rank and size, which must be `ranks`. */
void begin(int *argc, char ***argv, long long ranks);
/* Where MPI was not finalised. */
void end(void);

/* A thread of the program, the number that it had in the recording, and the ticket of its first call. */
void add_thread(void (*run)(void), int recorded, long long first_ticket);
void start_threads(void);
void join_threads(void);
/* Calls begin in the order of their tickets: what other threads end before this one has begun. */
void begin_turns(long long first_ticket, struct stream *skips);
/* Where threads that had one number are made and joined, and begin and end in their own calls: some wait there. */
void threads_change(struct stream *of);
void last_turn_of_part(void);
void turn(void);
void last_turn(void); /* however long it takes: the call gives something up that others may use */
void turns(long long count);

/* Where a file of the program lies now. */
const char *scratch(const char *name);
/* The same, of one that is read. */
const char *provided(const char *name);
/* The same, of one that must not be there when the first of them opens it. */
const char *removed(const char *name, MPI_Comm comm);

/* Goes on computing until so many ns after the last call ended (pace.c). */
void compute(double ns);
void called(void);

#endif
