// Ranks that wait for each other in every way that `cairn waits` tells, for times that each of them writes down: into
// said.RANK a line for each call that matters, "PHASE LINE BEGIN END", in seconds on one clock. For 4 ranks.
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static FILE *said;
static int rank;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#define SAY(phase, call)                                               \
  do {                                                                 \
    const double begin = now();                                        \
    call;                                                              \
    fprintf(said, "%s %d %.9f %.9f\n", phase, __LINE__, begin, now()); \
  } while (0)

static void late(int who, int milliseconds) {
  if (rank == who) usleep((unsigned)milliseconds * 1000);
}

static void add_slowly(void *in, void *sums, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int *)sums)[i] += ((const int *)in)[i];
  usleep(50000);
  int initialized;
  MPI_Initialized(&initialized);
}

static void point_to_point(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Status *none = MPI_STATUS_IGNORE;
  MPI_Request request, requests[3];
  MPI_Status statuses[3];
  int out = rank, in = 0, many[3];

  MPI_Barrier(world);
  late(0, 60);
  if (rank == 0) SAY("sender", MPI_Send(&out, 1, MPI_INT, 1, 1, world));
  if (rank == 1) SAY("sender", MPI_Recv(&in, 1, MPI_INT, 0, 1, world, none));

  MPI_Barrier(world);
  if (rank == 1) MPI_Irecv(&in, 1, MPI_INT, 0, 2, world, &request);
  late(1, 20);
  late(0, 80);
  if (rank == 0) SAY("sender_wait", MPI_Isend(&out, 1, MPI_INT, 1, 2, world, &request));
  if (rank == 1) SAY("sender_wait", MPI_Wait(&request, none));
  if (rank == 0) MPI_Wait(&request, none);

  MPI_Barrier(world);
  if (rank == 0) MPI_Send(&out, 1, MPI_INT, 1, 3, world);
  late(0, 50);
  if (rank == 0) SAY("order", MPI_Send(&out, 1, MPI_INT, 1, 4, world));
  if (rank == 1) SAY("order", MPI_Recv(&in, 1, MPI_INT, 0, 4, world, none));
  if (rank == 1) MPI_Recv(&in, 1, MPI_INT, 0, 3, world, none);

  MPI_Barrier(world);
  late(1, 50);
  if (rank == 0) SAY("receiver", MPI_Ssend(&out, 1, MPI_INT, 1, 5, world));
  if (rank == 1) SAY("receiver", MPI_Recv(&in, 1, MPI_INT, 0, 5, world, none));

  MPI_Barrier(world);
  late(1, 45);
  if (rank == 0) MPI_Issend(&out, 1, MPI_INT, 1, 6, world, &request);
  if (rank == 0) SAY("receiver_wait", MPI_Wait(&request, none));
  if (rank == 1) SAY("receiver_wait", MPI_Irecv(&in, 1, MPI_INT, 0, 6, world, &request));
  if (rank == 1) MPI_Wait(&request, none);

  // What a probe has found is received when it is asked for.
  MPI_Barrier(world);
  MPI_Message message;
  if (rank == 0) SAY("found", MPI_Ssend(&out, 1, MPI_INT, 1, 14, world));
  if (rank == 1) MPI_Mprobe(0, 14, world, &message, none);
  late(1, 65);
  if (rank == 1) SAY("found", MPI_Mrecv(&in, 1, MPI_INT, &message, none));

  // A probe waits, and the receive behind it does not.
  MPI_Barrier(world);
  late(0, 40);
  if (rank == 0) SAY("probed", MPI_Send(&out, 1, MPI_INT, 1, 12, world));
  if (rank == 1) SAY("probed", MPI_Probe(MPI_ANY_SOURCE, 12, world, statuses));
  if (rank == 1) SAY("taken", MPI_Recv(&in, 1, MPI_INT, statuses[0].MPI_SOURCE, 12, world, none));

  // The receive that is posted gets the first message, and the probe finds the second.
  MPI_Barrier(world);
  if (rank == 0) MPI_Send(&out, 1, MPI_INT, 1, 13, world);
  late(0, 55);
  if (rank == 0) SAY("behind", MPI_Send(&out, 1, MPI_INT, 1, 13, world));
  if (rank == 1) MPI_Irecv(&many[0], 1, MPI_INT, 0, 13, world, &request);
  if (rank == 1) SAY("behind", MPI_Probe(0, 13, world, none));
  if (rank == 1) MPI_Recv(&in, 1, MPI_INT, 0, 13, world, none);
  if (rank == 1) MPI_Wait(&request, none);

  // Whom the last one waits for, through all others.
  MPI_Barrier(world);
  late(0, 70);
  if (rank == 0) SAY("chain", MPI_Send(&out, 1, MPI_INT, 1, 7, world));
  if (rank > 0) SAY("chain", MPI_Recv(&in, 1, MPI_INT, rank - 1, 7, world, none));
  if (rank > 0 && rank < 3) SAY("chain", MPI_Send(&in, 1, MPI_INT, rank + 1, 7, world));

  MPI_Barrier(world);
  late(1, 20);
  late(2, 60);
  if (rank > 0) SAY("several", MPI_Send(&out, 1, MPI_INT, 0, 8, world));
  for (int i = 0; rank == 0 && i < 3; ++i) MPI_Irecv(&many[i], 1, MPI_INT, i + 1, 8, world, &requests[i]);
  if (rank == 0) SAY("several", MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));

  // In a call that has to do with no other rank, and yet is what the other one waits for.
  MPI_Barrier(world);
  if (rank == 0) {
    MPI_Op op;
    MPI_Op_create(add_slowly, 1, &op);
    SAY("alone", MPI_Reduce_local(&rank, &out, 1, MPI_INT, op));
    MPI_Op_free(&op);
    SAY("behind_alone", MPI_Send(&out, 1, MPI_INT, 1, 12, world));
  }
  if (rank == 1) SAY("behind_alone", MPI_Recv(&in, 1, MPI_INT, 0, 12, world, none));
  SAY("after_alone", MPI_Barrier(world));

  // Of three receivers that come late the last one counts.
  MPI_Barrier(world);
  late(1, 30);
  late(2, 60);
  late(3, 45);
  for (int i = 0; rank == 0 && i < 3; ++i) MPI_Issend(&out, 1, MPI_INT, i + 1, 10, world, &requests[i]);
  if (rank == 0) SAY("receivers", MPI_Waitall(3, requests, statuses));
  if (rank > 0) SAY("receivers", MPI_Recv(&in, 1, MPI_INT, 0, 10, world, none));

  MPI_Barrier(world);
  late(0, 40);
  if (rank == 0) MPI_Send_init(&out, 1, MPI_INT, 1, 9, world, &request);
  if (rank == 1) MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 9, world, &request);
  if (rank == 1) MPI_Start(&request);
  if (rank == 0) SAY("started", MPI_Start(&request));
  if (rank == 1) SAY("started", MPI_Wait(&request, none));
  if (rank == 0) MPI_Wait(&request, none);
  if (rank < 2) MPI_Request_free(&request);
}

/// Rank 1 waits for the last partition, and has it when rank 0 makes that ready.
static void in_partitions(void) {
#if MPI_VERSION >= 4
  int out[3] = {0, 1, 2}, in[3];
  MPI_Request request;
  if (rank == 0) MPI_Psend_init(out, 3, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (rank == 1) MPI_Precv_init(in, 3, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 2) MPI_Start(&request);
  if (rank == 0) MPI_Pready_range(0, 1, request);
  late(0, 40);
  if (rank == 0) SAY("partitions", MPI_Pready(2, request));
  if (rank == 1) SAY("partitions", MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank < 2) MPI_Request_free(&request);
#endif
}

static void collectives(void) {
  MPI_Comm comm, ring;
  MPI_Request request;
  const int four = 4, periodic = 1;
  int out = rank, in[4];
  late(1, 40);
  SAY("dup", MPI_Comm_dup(MPI_COMM_WORLD, &comm));

  MPI_Barrier(comm);
  late(2, 50);
  SAY("bcast", MPI_Bcast(&out, 1, MPI_INT, 2, comm));
  MPI_Barrier(comm);
  late(3, 50);
  SAY("reduce", MPI_Reduce(&out, in, 1, MPI_INT, MPI_SUM, 1, comm));
  MPI_Barrier(comm);
  late(0, 45);
  SAY("gather", MPI_Gather(&out, 1, MPI_INT, in, 1, MPI_INT, 2, comm));
  MPI_Barrier(comm);
  late(2, 50);
  SAY("allreduce", MPI_Allreduce(&out, in, 1, MPI_INT, MPI_SUM, comm));
  late(0, 50);
  SAY("barrier", MPI_Barrier(comm));
  late(1, 50);
  SAY("scan", MPI_Scan(&out, in, 1, MPI_INT, MPI_SUM, comm));
  MPI_Barrier(comm);
  late(3, 40);
  SAY("nonblocking", MPI_Iallreduce(&out, in, 1, MPI_INT, MPI_SUM, comm, &request));
  SAY("nonblocking_wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  // Each waits for the two beside it.
  MPI_Cart_create(comm, 1, &four, &periodic, 0, &ring);
  MPI_Barrier(ring);
  late(0, 50);
  SAY("neighbors", MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, ring));
  MPI_Barrier(ring);
  late(2, 40);
  SAY("later_neighbors", MPI_Ineighbor_alltoall(in, 1, MPI_INT, in + 2, 1, MPI_INT, ring, &request));
  SAY("later_neighbors_wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Comm_free(&ring);
  MPI_Comm_free(&comm);
}

/// Ranks 0 and 1, and 2 and 3, who wait for those of the other two alone.
static void two_groups(void) {
  const int first = rank < 2;
  int out = rank, in[4];
  MPI_Comm own, both, grouped;
  MPI_Group all;
  MPI_Comm_split(MPI_COMM_WORLD, first, rank, &own);
  MPI_Barrier(MPI_COMM_WORLD);
  late(3, 40);
  SAY("join", MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, first ? 2 : 0, 1, &both));
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Barrier(MPI_COMM_WORLD);
  late(2, 40);
  SAY("of_group", MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &grouped));
  MPI_Comm_free(&grouped);
  MPI_Group_free(&all);
  MPI_Barrier(MPI_COMM_WORLD);
  late(1, 30);
  late(3, 60);
  SAY("between", MPI_Allgather(&out, 1, MPI_INT, in, 1, MPI_INT, both));
  MPI_Barrier(MPI_COMM_WORLD);
  late(1, 50);
  SAY("to_others", MPI_Bcast(&out, 1, MPI_INT, rank == 1 ? MPI_ROOT : first ? MPI_PROC_NULL : 1, both));
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

static void persistent(void) {
#if MPI_VERSION >= 4
  MPI_Request request, other;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &other);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    late(i + 1, 40);
    SAY(i == 0 ? "first_start" : "second_start", MPI_Start(&request));
    SAY(i == 0 ? "first_wait" : "second_wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  MPI_Request_free(&other);
  MPI_Request_free(&request);
#endif
}

static void one_sided(void) {
  int out = rank, memory[4] = {0, 0, 0, 0};
  const int origins[] = {0, 2}, target = 1, ends[][3] = {{0, 2, 2}};
  MPI_Group all, group, by_ranges;
  MPI_Win window, other;

  // Two windows over one communicator, so that their fences must be told apart.
  MPI_Barrier(MPI_COMM_WORLD);
  late(3, 40);
  SAY("create", MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  MPI_Win_fence(0, other);
  MPI_Put(&out, 1, MPI_INT, (rank + 1) % 4, rank, 1, MPI_INT, window);
  MPI_Barrier(MPI_COMM_WORLD);
  late(2, 50);
  SAY("fence", MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
  late(0, 40);
  SAY("other_fence", MPI_Win_fence(0, other));

  // Ranks 0 and 2 put at rank 1, which lets them in late.
  MPI_Win_get_group(window, &all);
  if (rank == 1) MPI_Group_incl(all, 2, origins, &group);
  if (rank != 1) MPI_Group_incl(all, 1, &target, &group);
  MPI_Barrier(MPI_COMM_WORLD);
  late(1, 50);
  if (rank == 1) SAY("post", MPI_Win_post(group, 0, window));
  if (rank == 1) MPI_Win_wait(window);
  if (rank == 0 || rank == 2) {
    SAY("start", MPI_Win_start(group, 0, window));
    MPI_Put(&out, 1, MPI_INT, 1, rank, 1, MPI_INT, window);
    SAY("complete", MPI_Win_complete(window));
  }
  // Then they take long over it, rank 2 longest.
  MPI_Group_range_incl(all, 1, (void *)ends, &by_ranges);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Win_post(by_ranges, 0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 || rank == 2) MPI_Win_start(group, 0, window);
  late(0, 20);
  late(2, 50);
  if (rank == 0 || rank == 2) {
    MPI_Put(&out, 1, MPI_INT, 1, rank, 1, MPI_INT, window);
    SAY("done", MPI_Win_complete(window));
  }
  if (rank == 1) SAY("wait", MPI_Win_wait(window));
  MPI_Group_free(&by_ranges);
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  // Rank 0 has the lock of rank 3; rank 1 wants it for itself, rank 2 with others. What it has of rank 2 is in nobody's
  // way, nor are ranks 0 and 3 in each other's.
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, window);
    MPI_Put(&out, 1, MPI_INT, 3, rank, 1, MPI_INT, window);
    MPI_Win_flush(3, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  late(0, 60);
  if (rank == 0) SAY("give_back", MPI_Win_unlock(3, window));
  if (rank == 0) MPI_Win_unlock(2, window);
  late(2, 15);
  if (rank == 1 || rank == 2) {
    SAY("lock", MPI_Win_lock(rank == 1 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 3, 0, window));
    MPI_Get(&memory[3], 1, MPI_INT, 3, rank, 1, MPI_INT, window);
    SAY("lock", MPI_Win_unlock(3, window));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SAY("shared", MPI_Win_lock(MPI_LOCK_SHARED, 3, 0, window));
  late(rank, 20);
  SAY("shared", MPI_Win_unlock(3, window));
  MPI_Barrier(MPI_COMM_WORLD);
  late(1, 40);
  SAY("free", MPI_Win_free(&window));
  MPI_Win_free(&other);
}

int main(int argc, char **argv) {
  char name[32];
  int initialized;
  // What ranks do before MPI_Init moves their times against each other no more than anything else.
  MPI_Initialized(&initialized);
  usleep((unsigned)getpid() % 4 * 10000 + 1000);
  MPI_Initialized(&initialized);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "said.%d", rank);
  said = fopen(name, "w");
  if (said == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  point_to_point();
  in_partitions();
  collectives();
  two_groups();
  persistent();
  one_sided();
  fclose(said);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}
