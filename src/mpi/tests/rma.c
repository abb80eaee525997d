// One-sided communication: every operation, every synchronisation, every kind of window.
#include "check.h"

enum { kWords = 16 };

static void fence(void) {
  int base[kWords];
  int origin[4] = {rank, rank + 1, rank + 2, rank + 3};
  int got[4];
  MPI_Win win;
  for (int i = 0; i < kWords; ++i) base[i] = -1;
  MPI(MPI_Win_create(base, sizeof base, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  MPI(MPI_Put(origin, 4, MPI_INT, right(), 2, 4, MPI_INT, win));
  MPI(MPI_Win_fence(0, win));
  CHECK(base[2] == left() && base[5] == left() + 3);
  MPI(MPI_Get(got, 4, MPI_INT, right(), 2, 4, MPI_INT, win));
  MPI(MPI_Put(origin, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  MPI(MPI_Win_fence(0, win));
  CHECK(got[0] == rank && got[3] == rank + 3);
  MPI(MPI_Accumulate(origin, 2, MPI_INT, 0, 8, 2, MPI_INT, MPI_SUM, win));
  MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  if (rank == 0) CHECK(base[8] == -1 + size * (size - 1) / 2);
  MPI_Group group;
  MPI(MPI_Win_get_group(win, &group));
  MPI(MPI_Group_free(&group));
  MPI(MPI_Win_set_name(win, "fenced"));
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI(MPI_Win_get_name(win, name, &length));
  CHECK(strcmp(name, "fenced") == 0);
  MPI_Info info;
  MPI(MPI_Win_get_info(win, &info));
  MPI(MPI_Win_set_info(win, info));
  MPI(MPI_Info_free(&info));
  MPI(MPI_Win_free(&win));
}

static void post_start(void) {
  int *base = NULL;
  int value = 10 + rank;
  MPI_Win win;
  MPI_Group world;
  MPI_Group to;
  MPI_Group from;
  const int next = right();
  const int previous = left();
  MPI(MPI_Win_allocate(kWords * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MPI(MPI_Group_incl(world, 1, &next, &to));
  MPI(MPI_Group_incl(world, 1, &previous, &from));
  base[0] = -1;
  for (int round = 0; round < 2; ++round) {
    MPI(MPI_Win_post(from, 0, win));
    MPI(MPI_Win_start(to, 0, win));
    MPI(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    MPI(MPI_Win_complete(win));
    if (round == 0) {
      MPI(MPI_Win_wait(win));
    } else {
      for (int flag = 0; !flag;) MPI(MPI_Win_test(win, &flag));
    }
    CHECK(base[0] == 10 + previous);
  }
  MPI(MPI_Group_free(&to));
  MPI(MPI_Group_free(&from));
  MPI(MPI_Group_free(&world));
  MPI(MPI_Win_free(&win));
}

static void lock(void) {
  long *base = NULL;
  long one = 1;
  long old = -1;
  long result[2];
  MPI_Win win;
  MPI_Request request[4];
  MPI(MPI_Alloc_mem(kWords * sizeof(long), MPI_INFO_NULL, &base));
  for (int i = 0; i < kWords; ++i) base[i] = 0;
  MPI(MPI_Win_create(base, kWords * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
  MPI(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
  MPI(MPI_Win_unlock(0, win));
  MPI(MPI_Win_lock_all(0, win));
  MPI(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 1, MPI_SUM, win));
  MPI(MPI_Win_flush(0, win));
  CHECK(old >= 0 && old < size);
  const long compare = -7;
  MPI(MPI_Compare_and_swap(&one, &compare, &old, MPI_LONG, right(), 2, win));  // Open MPI 4.1.4: not to self
  MPI(MPI_Win_flush_local(right(), win));
  MPI(MPI_Win_flush_all(win));
  CHECK(old == 0);
  MPI(MPI_Get_accumulate(&one, 1, MPI_LONG, result, 1, MPI_LONG, rank, 3, 1, MPI_LONG, MPI_REPLACE, win));
  MPI(MPI_Win_flush_local_all(win));
  MPI(MPI_Get_accumulate(NULL, 0, MPI_LONG, result, 1, MPI_LONG, rank, 3, 1, MPI_LONG, MPI_NO_OP, win));
  MPI(MPI_Win_flush(rank, win));
  CHECK(result[0] == 1);
  long mine = 100 + rank;
  MPI(MPI_Rput(&mine, 1, MPI_LONG, right(), 4, 1, MPI_LONG, win, &request[0]));
  MPI(MPI_Raccumulate(&one, 1, MPI_LONG, right(), 5, 1, MPI_LONG, MPI_SUM, win, &request[1]));
  MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  MPI(MPI_Win_flush(right(), win));
  MPI(MPI_Rget(&result[0], 1, MPI_LONG, right(), 4, 1, MPI_LONG, win, &request[2]));
  MPI(MPI_Rget_accumulate(&one, 1, MPI_LONG, &result[1], 1, MPI_LONG, right(), 5, 1, MPI_LONG, MPI_SUM, win,
                          &request[3]));
  MPI(MPI_Wait(&request[3], MPI_STATUS_IGNORE));
  MPI(MPI_Wait(&request[2], MPI_STATUS_IGNORE));
  CHECK(result[0] == mine && result[1] == 1);
  MPI(MPI_Win_sync(win));
  MPI(MPI_Win_unlock_all(win));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) CHECK(base[0] == size && base[1] == size);
  CHECK(base[4] == 100 + left() && base[5] == 2);
  MPI(MPI_Win_free(&win));
  MPI(MPI_Free_mem(base));
}

static void shared(void) {
  int *base = NULL;
  MPI_Win win;
  MPI_Comm node;
  int members = 0;
  int mine = 0;
  MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  MPI(MPI_Comm_size(node, &members));
  MPI(MPI_Comm_rank(node, &mine));
  MPI(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &win));
  MPI(MPI_Win_fence(0, win));
  *base = 50 + mine;
  MPI(MPI_Win_fence(0, win));
  int *theirs = NULL;
  MPI_Aint extent = 0;
  int unit = 0;
  MPI(MPI_Win_shared_query(win, (mine + 1) % members, &extent, &unit, &theirs));
  CHECK(extent == (MPI_Aint)sizeof(int) && unit == (int)sizeof(int) && *theirs == 50 + (mine + 1) % members);
  MPI(MPI_Win_fence(0, win));
  MPI(MPI_Win_free(&win));
  MPI(MPI_Comm_free(&node));
}

static void dynamic(void) {
  MPI_Win win;
  int *memory = malloc(kWords * sizeof(int));
  int value = 30 + rank;
  MPI_Aint here = 0;
  MPI_Aint *there = malloc((size_t)size * sizeof(MPI_Aint));
  MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI(MPI_Win_attach(win, memory, kWords * sizeof(int)));
  MPI(MPI_Get_address(&memory[3], &here));
  MPI(MPI_Allgather(&here, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD));
  MPI(MPI_Win_fence(0, win));
  MPI(MPI_Put(&value, 1, MPI_INT, right(), there[right()], 1, MPI_INT, win));
  MPI(MPI_Win_fence(0, win));
  CHECK(memory[3] == 30 + left());
  MPI(MPI_Win_detach(win, memory));
  MPI(MPI_Win_free(&win));
  free(memory);
  free(there);
}

/* Displacements in a dynamic window are addresses of the target: of several segments, by ranks of another order, in
   memory that MPI gave, of the process itself, and where a segment lies in which another was before. */
static int fixed[kWords];

static void segments(void) {
  MPI_Comm turned;
  MPI_Win win;
  int *own = calloc(kWords, sizeof(int)), *given = NULL;
  MPI_Aint here[3], *there = malloc(3 * (size_t)size * sizeof(MPI_Aint));
  MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned));
  const int place = size - 1 - rank, next = (place + 1) % size, before = (place + size - 1) % size;
  MPI(MPI_Alloc_mem(kWords * sizeof(int), MPI_INFO_NULL, &given));
  memset(given, 0, kWords * sizeof(int));
  MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, turned, &win));
  for (int round = 0; round < 3; ++round) {
    MPI(MPI_Win_attach(win, own + round, (kWords - 3) * sizeof(int)));
    MPI(MPI_Win_attach(win, fixed, sizeof fixed));
    MPI(MPI_Win_attach(win, given, kWords * sizeof(int)));
    MPI(MPI_Get_address(own + round, &here[0]));
    MPI(MPI_Get_address(fixed, &here[1]));
    MPI(MPI_Get_address(given, &here[2]));
    MPI(MPI_Allgather(here, 3, MPI_AINT, there, 3, MPI_AINT, turned));
    const int value = 100 * round + place;
    MPI(MPI_Win_fence(0, win));
    for (int i = 0; i < 3; ++i) {
      const MPI_Aint to = there[3 * next + i] + (MPI_Aint)(2 * sizeof(int)), self = here[i];
      MPI(MPI_Put(&value, 1, MPI_INT, next, to, 1, MPI_INT, win));
      MPI(MPI_Put(&value, 1, MPI_INT, place, self, 1, MPI_INT, win));
    }
    MPI(MPI_Win_fence(0, win));
    int *segment[3] = {own + round, fixed, given};
    for (int i = 0; i < 3; ++i) {
      CHECK(segment[i][0] == value && segment[i][2] == 100 * round + before);
      MPI(MPI_Win_detach(win, segment[i]));
    }
    MPI(MPI_Barrier(turned));
  }
  MPI(MPI_Win_free(&win));
  MPI(MPI_Free_mem(given));
  MPI(MPI_Comm_free(&turned));
  free(own);
  free(there);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  fence();
  post_start();
  lock();
  shared();
  dynamic();
  segments();
  return finish();
}
