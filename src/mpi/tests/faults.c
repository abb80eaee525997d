// Faults that a trace shows, each made once, in ways that both MPIs live through: `cairn check` must find them and
// nothing else. The comments that name calls are what faults.py finds their lines by.
//
//     faults all        everything but what follows; 3 ranks
//     faults KIND       a deadlock, until somebody kills it: cycle, star, barrier, gone, any, waits
//     faults moving     ranks that wait, but for one that computes
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static int value;
static int values[16];
static float reals[16];
static MPI_Comm apart;  // of each part of the program

static int copy_nothing(MPI_Comm comm, int key, void *extra, void *from, void *to, int *flag) {
  (void)comm, (void)key, (void)extra, (void)from, (void)to;
  *flag = 0;
  return MPI_SUCCESS;
}

static void on_error(MPI_Comm *comm, int *error, ...) { (void)comm, (void)error; }

static void add(void *in, void *out, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; ++i) ((int *)out)[i] += ((int *)in)[i];
}

static void leaks(void) {
  static char room[4096];
  static int lost[2];
  const int first = 0;
  MPI_Comm comm;
  MPI_Group all, group;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Request request;
  int key;
  MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm));  // lost comm
  MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
  MPI(MPI_Group_incl(all, 1, &first, &group));  // lost group
  MPI(MPI_Group_free(&all));
  for (int i = 0; i < 5; ++i) MPI(MPI_Comm_group(MPI_COMM_SELF, &all));            // lost groups
  MPI(MPI_Op_create(add, 1, &op));                                                 // lost op
  MPI(MPI_Info_create(&info));                                                     // lost info
  MPI(MPI_Comm_create_errhandler(on_error, &handler));                             // lost handler
  MPI(MPI_Comm_create_keyval(copy_nothing, MPI_COMM_NULL_DELETE_FN, &key, NULL));  // lost key
  MPI(MPI_Buffer_attach(room, sizeof room));                                       // lost buffer
  MPI(MPI_Recv_init(&lost[0], 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request));     // lost persistent
  for (int i = 0; i < 100; ++i) {
    MPI(MPI_Type_contiguous(3, MPI_INT, &type));  // lost type
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Sendrecv(values, 1, type, rank, 9, &values[3], 3, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (i != 40 && i != 60) MPI(MPI_Type_free(&type));
  }
  MPI(MPI_Irecv(&lost[1], 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &request));  // lost request
  MPI(MPI_Send(values, 1, MPI_INT, rank, 4, MPI_COMM_WORLD));
}

static void arguments(void) {
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK(MPI_Send(&value, -3, MPI_INT, right(), 0, MPI_COMM_WORLD) != MPI_SUCCESS);  // negative count
  CHECK(MPI_Send(&value, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD) != MPI_SUCCESS);  // no such rank
  CHECK(MPI_Send(&value, 1, MPI_INT, right(), -7, MPI_COMM_WORLD) != MPI_SUCCESS);  // negative tag
  CHECK(MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD) != MPI_SUCCESS);        // no such root
  MPI_Request request;
  MPI(MPI_Isend(values + 4, 4, MPI_INT, rank, 5, MPI_COMM_WORLD, &request));                       // long message
  CHECK(MPI_Recv(values, 2, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);  // short room
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void types(void) {
  MPI_Datatype pair, column;
  const int lengths[2] = {1, 2};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype of[2] = {MPI_INT, MPI_FLOAT};
  MPI(MPI_Type_create_struct(2, lengths, places, of, &pair));
  MPI(MPI_Type_vector(4, 1, 3, MPI_INT, &column));
  MPI(MPI_Type_commit(&pair));
  MPI(MPI_Type_commit(&column));
  if (rank == 0) {
    MPI(MPI_Send(values, 4, MPI_INT, 1, 0, apart));   // ints
    MPI(MPI_Send(values, 1, pair, 1, 1, apart));      // pair
    MPI(MPI_Send(values, 4, MPI_BYTE, 1, 2, apart));  // bytes
    // These are as they should be: part of what is expected, another layout, packed.
    MPI(MPI_Send(values, 1, column, 1, 3, apart));
    MPI(MPI_Send(values, 12, MPI_PACKED, 1, 4, apart));
    MPI(MPI_Send(values, 0, MPI_DOUBLE, 1, 5, apart));
  } else if (rank == 1) {
    MPI(MPI_Recv(reals, 4, MPI_FLOAT, 0, 0, apart, MPI_STATUS_IGNORE));  // floats
    MPI(MPI_Recv(values, 3, MPI_INT, 0, 1, apart, MPI_STATUS_IGNORE));   // three
    MPI(MPI_Recv(values, 1, MPI_INT, 0, 2, apart, MPI_STATUS_IGNORE));   // one int
    MPI(MPI_Recv(values, 7, MPI_INT, 0, 3, apart, MPI_STATUS_IGNORE));
    MPI(MPI_Recv(values, 3, MPI_INT, 0, 4, apart, MPI_STATUS_IGNORE));
    MPI(MPI_Recv(values, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, apart, MPI_STATUS_IGNORE));
  }
  if (rank == 0) MPI(MPI_Bcast(values, 4, MPI_INT, 0, apart));                           // bcast ints
  if (rank != 0) MPI(MPI_Bcast(reals, 4, MPI_FLOAT, 0, apart));                          // bcast floats
  if (rank != 1) MPI(MPI_Gather(values, 2, MPI_INT, values + 4, 2, MPI_INT, 0, apart));  // gather ints
  if (rank == 1) MPI(MPI_Gather(reals, 2, MPI_FLOAT, NULL, 0, MPI_INT, 0, apart));       // gather floats
  // Right: the root's column, and as many ints.
  if (rank == 0) MPI(MPI_Bcast(values, 1, column, 0, apart));
  if (rank != 0) MPI(MPI_Bcast(values, 4, MPI_INT, 0, apart));
  MPI(MPI_Type_free(&pair));
  MPI(MPI_Type_free(&column));
}

static void messages(void) {
  static int lost[2];
  MPI_Request request[2];
  if (rank == 0) MPI(MPI_Send(values, 2, MPI_INT, 1, 1, apart));                           // nobody receives
  if (rank == 1) MPI(MPI_Irecv(lost, 2, MPI_INT, 2, 1, apart, &request[0]));               // nobody sends
  if (rank == 2) MPI(MPI_Irecv(lost, 2, MPI_INT, MPI_ANY_SOURCE, 6, apart, &request[0]));  // nobody at all sends
  if (rank == 0) {
    MPI(MPI_Irecv(values, 2, MPI_INT, 2, 8, apart, &request[1]));
    MPI(MPI_Cancel(&request[1]));
    MPI(MPI_Wait(&request[1], MPI_STATUS_IGNORE));
    MPI(MPI_Recv_init(lost, 2, MPI_INT, 1, 8, apart, &request[1]));
    MPI(MPI_Start(&request[1]));  // started
    MPI(MPI_Request_free(&request[1]));
  }
}

static void buffers(void) {
  MPI_Request request[3];
  MPI(MPI_Irecv(values, 4, MPI_INT, rank, 0, apart, &request[0]));      // one receive
  MPI(MPI_Irecv(values + 3, 4, MPI_INT, rank, 1, apart, &request[1]));  // another receive
  MPI(MPI_Irecv(values + 7, 4, MPI_INT, rank, 2, apart, &request[2]));  // beside it
  MPI(MPI_Ssend(values + 5, 1, MPI_INT, rank, 2, apart));               // send of it
  for (int i = 0; i < 2; ++i) MPI(MPI_Send(values + 12, 2, MPI_INT, rank, i, apart));
  MPI(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
  // What is sent may be read and sent again, and then written.
  MPI(MPI_Irecv(values, 1, MPI_INT, rank, 3, apart, &request[0]));
  MPI(MPI_Irecv(values + 1, 1, MPI_INT, rank, 3, apart, &request[1]));
  MPI(MPI_Isend(values + 4, 1, MPI_INT, rank, 3, apart, &request[2]));
  MPI(MPI_Send(values + 4, 1, MPI_INT, rank, 3, apart));
  MPI(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
  MPI(MPI_Isend(values + 4, 1, MPI_INT, rank, 4, apart, &request[0]));       // to be sent
  MPI(MPI_Recv(values + 4, 1, MPI_INT, rank, 4, apart, MPI_STATUS_IGNORE));  // received there
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  // The root may read what it sends.
  MPI(MPI_Isend(values + 4, 1, MPI_INT, rank, 5, apart, &request[0]));  // not sent yet
  MPI(MPI_Bcast(values + 4, 1, MPI_INT, 1, apart));                     // given by another
  MPI(MPI_Recv(values, 1, MPI_INT, rank, 5, apart, MPI_STATUS_IGNORE));
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
}

/// The same of datatypes with gaps, and of parts for all ranks.
static void layouts(void) {
  static int matrix[4][8];
  static int parts[12];
  const int counts[3] = {2, 2, 2};
  const int places[3] = {0, 4, 8};
  const int over[3] = {0, 4, 5};
  MPI_Datatype column, narrow, twice;
  MPI_Request request[3];
  MPI(MPI_Type_vector(4, 1, 8, MPI_INT, &column));
  MPI(MPI_Type_create_resized(column, 0, sizeof(int), &narrow));
  MPI(MPI_Type_vector(2, 2, 1, MPI_INT, &twice));
  MPI(MPI_Type_commit(&column));
  MPI(MPI_Type_commit(&narrow));
  MPI(MPI_Type_commit(&twice));
  MPI(MPI_Irecv(&matrix[0][2], 1, column, rank, 15, apart, &request[0]));
  MPI(MPI_Irecv(&matrix[0][3], 2, narrow, rank, 16, apart, &request[1]));   // two columns
  MPI(MPI_Irecv(&matrix[2][4], 3, MPI_INT, rank, 17, apart, &request[2]));  // across them
  for (int tag = 15; tag < 18; ++tag) MPI(MPI_Send(values, 3, MPI_INT, rank, tag, apart));
  MPI(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
  MPI(MPI_Ialltoall(values, 2, MPI_INT, parts, 2, MPI_INT, apart, &request[0]));  // parts of all
  MPI(MPI_Irecv(parts + 5, 3, MPI_INT, rank, 18, apart, &request[1]));            // the last of them
  MPI(MPI_Send(values, 3, MPI_INT, rank, 18, apart));
  MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  MPI(MPI_Alltoallv(values, counts, places, MPI_INT, parts, counts, places, MPI_INT, apart));
  MPI(MPI_Alltoallv(values, counts, places, MPI_INT, parts, counts, over, MPI_INT, apart));  // places of parts
  int *const behind = values + 2;
  MPI_Status *const none = MPI_STATUS_IGNORE;
  MPI(MPI_Sendrecv(values, 3, MPI_INT, rank, 21, behind, 3, MPI_INT, rank, 21, apart, none));  // both ways
  MPI(MPI_Sendrecv(values, 2, MPI_INT, rank, 21, behind, 2, MPI_INT, rank, 21, apart, none));
  MPI(MPI_Sendrecv(matrix[0], 1, column, rank, 21, matrix[0] + 1, 1, column, rank, 21, apart, none));
  // What is sent may be there twice.
  MPI(MPI_Irecv(values + 4, 4, MPI_INT, rank, 19, apart, &request[0]));
  MPI(MPI_Send(values, 1, twice, rank, 19, apart));
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  MPI(MPI_Irecv(values + 4, 1, twice, rank, 19, apart, &request[0]));  // twice
  MPI(MPI_Send(values, 4, MPI_INT, rank, 19, apart));
  MPI(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  MPI(MPI_Type_free(&column));
  MPI(MPI_Type_free(&narrow));
  MPI(MPI_Type_free(&twice));
}

/// Rank 0 lets the others in: at one time in one place, beside each other, and one after the other.
static void exposures(MPI_Win win) {
  static const int members[] = {1, 2, 0};
  MPI_Group all, group;
  MPI(MPI_Comm_group(apart, &all));
  MPI(MPI_Group_incl(all, rank == 0 ? 2 : 1, rank == 0 ? members : members + 2, &group));
  for (int i = 0; i < 2; ++i) {
    if (rank == 0) {
      MPI(MPI_Win_post(group, 0, win));
      MPI(MPI_Win_wait(win));
      continue;
    }
    MPI(MPI_Win_start(group, 0, win));
    if (i == 0) MPI(MPI_Put(values, 1, MPI_INT, 0, 5, 1, MPI_INT, win));  // in one exposure
    MPI(MPI_Put(values, 1, MPI_INT, 0, rank, 1, MPI_INT, win));
    if (rank == i + 1) MPI(MPI_Put(values, 1, MPI_INT, 0, 4, 1, MPI_INT, win));
    MPI(MPI_Win_complete(win));
  }
  MPI(MPI_Group_free(&group));
  MPI(MPI_Group_free(&all));
}

/// By locks: at one time, one after the other, and of one rank.
static void locks(MPI_Win win) {
  static int taken[2];
  MPI(MPI_Barrier(apart));
  if (rank > 0) {
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    MPI(MPI_Put(values, 1, MPI_INT, 0, 3, 1, MPI_INT, win));  // by shared locks
    MPI(MPI_Put(values, 1, MPI_INT, 0, rank, 1, MPI_INT, win));
    MPI(MPI_Accumulate(values, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_SUM, win));
  }
  MPI(MPI_Barrier(apart));
  if (rank > 0) MPI(MPI_Win_unlock(0, win));
  MPI(MPI_Barrier(apart));
  MPI(MPI_Win_lock_all(0, win));
  for (int i = 0; i < 3; ++i) {
    if (rank == i) {
      MPI(MPI_Put(values, 1, MPI_INT, 0, 3, 1, MPI_INT, win));
      MPI(MPI_Win_flush(0, win));
    }
    MPI(MPI_Barrier(apart));
  }
  if (rank == 1) {
    MPI(MPI_Put(values, 1, MPI_INT, 2, 6, 1, MPI_INT, win));  // not flushed
    MPI(MPI_Get(taken, 1, MPI_INT, 2, 6, 1, MPI_INT, win));   // got before that
    MPI(MPI_Win_flush_all(win));
    MPI(MPI_Put(values, 1, MPI_INT, 2, 6, 1, MPI_INT, win));
    MPI(MPI_Win_flush(2, win));
    MPI(MPI_Get(taken + 1, 1, MPI_INT, 2, 6, 1, MPI_INT, win));
  }
  MPI(MPI_Win_unlock_all(win));
}

/// One-sided access. Open MPI refuses what reaches beyond a window itself.
static void windows(void) {
  static int shared[16];
  static int taken[16];
  MPI_Datatype every_other;
  MPI_Win win;
  MPI(MPI_Type_vector(2, 1, 2, MPI_INT, &every_other));
  MPI(MPI_Type_commit(&every_other));
  MPI(MPI_Win_create(shared, 8 * sizeof(int), sizeof(int), MPI_INFO_NULL, apart, &win));
  MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  MPI(MPI_Win_fence(0, win));
  if (rank > 0) MPI(MPI_Put(values, 2, MPI_INT, 0, rank - 1, 2, MPI_INT, win));  // both put
  if (rank == 0) MPI(MPI_Get(taken, 1, MPI_INT, 1, 4, 1, MPI_INT, win));         // got
  if (rank == 2) MPI(MPI_Put(values, 1, MPI_INT, 1, 4, 1, MPI_INT, win));        // put there
  // Beside it, between it, together, and only looked at.
  if (rank == 2) MPI(MPI_Put(values, 1, MPI_INT, 1, 5, 1, MPI_INT, win));
  if (rank > 0) MPI(MPI_Put(values, 2, MPI_INT, 0, 3 + rank, 1, every_other, win));
  MPI(MPI_Accumulate(values, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win));
  MPI(MPI_Get(taken + 4, 2, MPI_INT, 2, 4, 2, MPI_INT, win));
  MPI(MPI_Win_fence(0, win));
  if (rank == 1) MPI(MPI_Put(values, 2, MPI_INT, 0, 0, 2, MPI_INT, win));      // after a fence
  if (rank == 0) (void)MPI_Put(values, 2, MPI_INT, 1, 7, 2, MPI_INT, win);     // beyond
  if (rank == 2) MPI(MPI_Put(values + 2, 1, MPI_INT, 1, 0, 1, MPI_INT, win));  // once
  if (rank == 2) MPI(MPI_Put(values + 3, 1, MPI_INT, 1, 0, 1, MPI_INT, win));  // once more
  MPI(MPI_Win_fence(0, win));
  // One after the other, and so by locks, whatever a fence said before.
  MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
  MPI(MPI_Put(values, 1, MPI_INT, 0, 2, 1, MPI_INT, win));
  MPI(MPI_Win_unlock(0, win));
  MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  for (int i = 0; i < 2; ++i) {
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, win));
    MPI(MPI_Put(values, 2, MPI_INT, right(), 0, 2, MPI_INT, win));
    (void)MPI_Get(taken, 3, MPI_INT, right(), 6, 3, MPI_INT, win);  // beyond by lock
    MPI(MPI_Win_unlock(right(), win));
  }
  exposures(win);
  locks(win);
  MPI(MPI_Win_free(&win));
  MPI(MPI_Type_free(&every_other));
}

static void collectives(void) {
  MPI_Comm comm[4];
  for (int i = 0; i < 4; ++i) MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));  // lost comms
  // Roots send and go on.
  if (rank == 0) MPI(MPI_Bcast(&value, 1, MPI_INT, 0, comm[0]));                     // bcast
  if (rank != 0) MPI(MPI_Gather(&value, 1, MPI_INT, NULL, 0, MPI_INT, 0, comm[0]));  // gather
  if (rank == 0) MPI(MPI_Bcast(&value, 1, MPI_INT, 0, comm[1]));                     // root 0
  if (rank != 0) MPI(MPI_Bcast(&value, 1, MPI_INT, rank, comm[1]));                  // other root
  if (rank == 0) MPI(MPI_Allreduce(&value, values, 1, MPI_INT, MPI_SUM, comm[2]));   // sum
  if (rank != 0) MPI(MPI_Allreduce(&value, values, 1, MPI_INT, MPI_MAX, comm[2]));   // max
  if (rank == 0) MPI(MPI_Bcast(&value, 1, MPI_INT, 0, comm[3]));                     // alone
}

/// Rank 0, and ranks 1 and 2.
static void two_groups(void) {
  MPI_Comm own, both;
  MPI(MPI_Comm_split(apart, rank == 0, 0, &own));
  MPI(MPI_Intercomm_create(own, 0, apart, rank == 0 ? 1 : 0, 9, &both));
  MPI(MPI_Bcast(values, 4, MPI_INT, rank == 0 ? MPI_ROOT : 0, both));
  MPI(MPI_Allgather(values + 8, rank == 0 ? 2 : 1, MPI_INT, values, rank == 0 ? 1 : 2, MPI_INT, both));
  if (rank == 0) MPI(MPI_Bcast(values, 4, MPI_INT, MPI_ROOT, both));             // ints to others
  if (rank != 0) MPI(MPI_Bcast(reals, 4, MPI_FLOAT, 0, both));                   // floats of others
  if (rank < 2) MPI(MPI_Allreduce(&value, values, 1, MPI_INT, MPI_SUM, both));   // sum of others
  if (rank == 2) MPI(MPI_Allreduce(&value, values, 1, MPI_INT, MPI_MAX, both));  // max of others
  MPI(MPI_Comm_free(&both));
  MPI(MPI_Comm_free(&own));
}

/// Which both refuse.
static void commits(void) {
  MPI_Datatype raw;
  MPI(MPI_Type_contiguous(2, MPI_INT, &raw));  // not committed
  MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  MPI_Send(values, 1, raw, MPI_PROC_NULL, 0, MPI_COMM_SELF);  // by that
  MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
  MPI(MPI_Type_commit(&raw));
  MPI(MPI_Send(values, 1, raw, MPI_PROC_NULL, 0, MPI_COMM_SELF));
  MPI(MPI_Type_free(&raw));
}

/// Only in MPICH, which may or may not see it: in Open MPI a handle is an address, and what is there is taken for an
/// object.
static void handles(void) {
  MPI_Datatype type, copy;
  MPI_Group all, group, stale;
  int answer = 0;
  commits();
  MPI(MPI_Type_contiguous(5, MPI_INT, &type));
  MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
  MPI(MPI_Group_incl(all, 1, &answer, &group));
  (void)copy, (void)stale;
#ifdef MPICH
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  copy = type;
  stale = group;
#endif
  MPI(MPI_Type_free(&type));  // freed type
  MPI(MPI_Group_free(&all));
  MPI(MPI_Group_free(&group));  // freed group
#ifdef MPICH
  MPI_Type_size(copy, &answer);    // stale type
  MPI_Group_size(stale, &answer);  // stale group
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
#endif
}

/// Messages of a few bytes, which every MPI buffers.
static void buffering(void) {
  MPI_Request request;
  const int left = (rank + size - 1) % size;
  for (int i = 0; i < 4; ++i) {
    MPI(MPI_Send(&value, 1, MPI_INT, right(), 20, apart));  // ring
    MPI(MPI_Recv(values, 1, MPI_INT, left, 20, apart, MPI_STATUS_IGNORE));
  }
  MPI(MPI_Isend(&value, 1, MPI_INT, right(), 21, apart, &request));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));  // ring of waits
  MPI(MPI_Recv(values, 1, MPI_INT, left, 21, apart, MPI_STATUS_IGNORE));
  if (rank == 0) MPI(MPI_Send(&value, 1, MPI_INT, 1, 22, apart));  // ahead
  MPI(MPI_Barrier(apart));                                         // meeting first
  if (rank == 1) MPI(MPI_Recv(values, 1, MPI_INT, 0, 22, apart, MPI_STATUS_IGNORE));
  // A root need not wait.
  if (rank == 0) MPI(MPI_Send(&value, 1, MPI_INT, 1, 23, apart));  // ahead of root
  MPI(MPI_Bcast(values, 1, MPI_INT, 1, apart));                    // root first
  if (rank == 1) MPI(MPI_Recv(values, 1, MPI_INT, 0, 23, apart, MPI_STATUS_IGNORE));
  MPI(MPI_Barrier(apart));
  MPI(MPI_Send(&value, 1, MPI_INT, rank, 24, apart));  // to itself
  MPI(MPI_Recv(values, 1, MPI_INT, rank, 24, apart, MPI_STATUS_IGNORE));
  // Nobody waits in a circle: one rank receives first, both go on at once, or the program has a buffer of its own.
  if (rank != 0) MPI(MPI_Send(&value, 1, MPI_INT, right(), 25, apart));
  MPI(MPI_Recv(values, 1, MPI_INT, left, 25, apart, MPI_STATUS_IGNORE));
  if (rank == 0) MPI(MPI_Send(&value, 1, MPI_INT, right(), 25, apart));
  MPI(MPI_Sendrecv(&value, 1, MPI_INT, right(), 26, values, 1, MPI_INT, left, 26, apart, MPI_STATUS_IGNORE));
  MPI(MPI_Irecv(values, 1, MPI_INT, left, 27, apart, &request));
  MPI(MPI_Send(&value, 1, MPI_INT, right(), 27, apart));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI(MPI_Bsend(&value, 1, MPI_INT, right(), 28, apart));  // from the buffer that `leaks` attached
  MPI(MPI_Recv(values, 1, MPI_INT, left, 28, apart, MPI_STATUS_IGNORE));
  // Who tests may do something else.
  MPI(MPI_Isend(&value, 1, MPI_INT, right(), 29, apart, &request));
  for (int done = 0; !done;) MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
  MPI(MPI_Recv(values, 1, MPI_INT, left, 29, apart, MPI_STATUS_IGNORE));
}

static int all(void) {
  void (*const parts[])(void) = {leaks, arguments, types, messages, buffers, layouts, windows, handles, buffering};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &apart));
    parts[i]();
    MPI(MPI_Barrier(apart));
    MPI(MPI_Comm_free(&apart));
  }
  collectives();
  MPI(MPI_Comm_dup(MPI_COMM_WORLD, &apart));
  two_groups();
  MPI(MPI_Comm_free(&apart));
  return finish();
}

/// MPI ends the run when it sees that a message is too long.
static void end_by_truncation(void) {
  MPI_Request request[2];
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) MPI(MPI_Send(values, 4, MPI_INT, 1, 0, MPI_COMM_WORLD));  // fits
  if (rank == 0) MPI(MPI_Send(values, 4, MPI_INT, 1, 0, MPI_COMM_WORLD));  // too long
  if (rank == 2) MPI(MPI_Send(values, 5, MPI_INT, 1, 1, MPI_COMM_WORLD));  // too long as well
  if (rank == 1) {
    MPI(MPI_Probe(2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // both have sent before anything ends
    MPI(MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Irecv(values, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, &request[0]));
    MPI(MPI_Irecv(values + 6, 3, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request[1]));  // room of any
    MPI(MPI_Recv(values + 4, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));          // room
  }
  MPI(MPI_Barrier(MPI_COMM_WORLD));
}

static void hang(const char *how) {
  MPI_Request request[2];
  int index;
  if (strcmp(how, "cycle") == 0)
    MPI(MPI_Recv(&value, 1, MPI_INT, right(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // cycle
  if (strcmp(how, "star") == 0) {
    if (rank == 0) MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // centre
    MPI(MPI_Ssend(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));                                                // point
  }
  if (strcmp(how, "barrier") == 0) {
    if (rank == 0) MPI(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // before barrier
    MPI(MPI_Barrier(MPI_COMM_WORLD));                                                           // meeting
  }
  if (strcmp(how, "probes") == 0) {
    if (rank == 0) MPI(MPI_Probe(1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // probe
    MPI(MPI_Ssend(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD));                // of another tag
  }
  if (strcmp(how, "gone") == 0) {
    if (rank == 0) MPI(MPI_Recv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));  // left behind
    MPI(MPI_Finalize());                                                                        // gone
  }
  if (strcmp(how, "waits") == 0 || strcmp(how, "moving") == 0) {
    MPI(MPI_Irecv(&values[0], 1, MPI_INT, right(), 0, MPI_COMM_WORLD, &request[0]));
    MPI(MPI_Irecv(&values[1], 1, MPI_INT, left(), 0, MPI_COMM_WORLD, &request[1]));
    if (rank == 0 && strcmp(how, "moving") == 0) {
      for (;;) sleep(1);
    }
    if (rank != 1) MPI(MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE));  // waitany
    if (rank == 1) MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));        // waitall
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  if (argc != 2 || size != 3) return 1;
  if (strcmp(argv[1], "all") == 0) return all();
  if (strcmp(argv[1], "truncation") == 0) end_by_truncation();
  hang(argv[1]);
  return 0;
}
