// Communicators of many kinds, whose members each rank tells in their order, in its file said.RANK: "comm RANK: 1 0 | 3
// 2". And messages in them, which carry the sender's rank in MPI_COMM_WORLD: "got RANK: SOURCE", in order. members.py
// holds both against what `cairn info --communicators` and `cairn dump --world` say.
#include <stdio.h>

#include "check.h"

static FILE *said;  // this rank's

static void tell_group(MPI_Group group, char *line, int *length) {
  MPI_Group world;
  int members;
  MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MPI(MPI_Group_size(group, &members));
  for (int i = 0; i < members; ++i) {
    int there;
    MPI(MPI_Group_translate_ranks(group, 1, &i, world, &there));
    *length += sprintf(line + *length, " %d", there);
  }
  MPI(MPI_Group_free(&world));
  MPI(MPI_Group_free(&group));
}

static void tell(MPI_Comm comm) {
  char line[200];
  int length = sprintf(line, "comm %d:", rank), inter;
  MPI_Group group;
  MPI(MPI_Comm_group(comm, &group));
  tell_group(group, line, &length);
  MPI(MPI_Comm_test_inter(comm, &inter));
  if (inter) {
    length += sprintf(line + length, " |");
    MPI(MPI_Comm_remote_group(comm, &group));
    tell_group(group, line, &length);
  }
  fprintf(said, "%s\n", line);
}

static void got(int source) { fprintf(said, "got %d: %d\n", rank, source); }

// Two calls, two requests, one line.
#define POST(from, to, comm, requests)                                       \
  MPI(MPI_Irecv(from, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &(requests)[0])); \
  MPI(MPI_Isend(&rank, 1, MPI_INT, to, 1, comm, &(requests)[1]))

// Every member to the next one of an intracommunicator, in four ways of receiving.
static void around(MPI_Comm comm) {
  int own, members, from[2] = {-1, -1}, index;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Message message;
  MPI(MPI_Comm_rank(comm, &own));
  MPI(MPI_Comm_size(comm, &members));
  int next = (own + 1) % members;
  POST(&from[0], next, comm, requests);
  MPI(MPI_Waitall(2, requests, statuses));
  got(from[0]);
  MPI(MPI_Irecv(&from[0], 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &requests[0]));
  MPI(MPI_Irecv(&from[1], 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[1]));
  MPI(MPI_Send(&rank, 1, MPI_INT, next, 3, comm));
  MPI(MPI_Waitany(2, requests, &index, statuses));
  got(from[index]);
  MPI(MPI_Send(&rank, 1, MPI_INT, next, 2, comm));
  MPI(MPI_Wait(&requests[1 - index], statuses));
  got(from[1 - index]);
  MPI(MPI_Isend(&rank, 1, MPI_INT, next, 4, comm, &requests[0]));
  MPI(MPI_Mprobe(MPI_ANY_SOURCE, 4, comm, &message, statuses));
  MPI(MPI_Mrecv(&from[0], 1, MPI_INT, &message, statuses));
  got(from[0]);
  MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
  MPI_Comm backwards, column, uneven, twin, group, inter, merged, grid;
  start(&argc, &argv);
  char name[30];
  snprintf(name, sizeof name, "said.%d", rank);
  said = fopen(name, "w");
  CHECK(said != NULL);
  int half = rank / (size / 2);

  MPI(MPI_Comm_split(MPI_COMM_WORLD, half, -rank, &backwards));
  tell(backwards);
  around(backwards);
  MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, (rank * 5) % 7, &column));
  tell(column);
  // Of two processes and of all others; nobody asks for its size, and what a call on it moves depends on that.
  MPI(MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &uneven));
  tell(uneven);
  int to_each[16] = {0}, of_each[16];
  MPI(MPI_Alltoall(to_each, 1, MPI_INT, of_each, 1, MPI_INT, uneven));
  // One number, three communicators after each other, and one over the last but one.
  for (int i = 0; i < 3; ++i) {
    MPI_Comm over;
    MPI(MPI_Comm_dup(column, &twin));
    tell(twin);
    if (i == 1) {
      MPI(MPI_Comm_dup(twin, &over));
      tell(over);
      around(over);
      MPI(MPI_Comm_free(&over));
    }
    MPI(MPI_Comm_free(&twin));
  }
  if (half == 0) {
    MPI_Group world, some;
    int range[1][3] = {{size / 2 - 1, 0, -1}};
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_range_incl(world, 1, range, &some));
    MPI(MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &group));
    tell(group);
    around(group);
    MPI(MPI_Group_free(&some));
    MPI(MPI_Group_free(&world));
    MPI(MPI_Comm_free(&group));
  }
  // The leader of the lower half is its last rank, that of the upper half the last of all.
  MPI(MPI_Intercomm_create(backwards, 0, MPI_COMM_WORLD, half == 0 ? size - 1 : size / 2 - 1, 9, &inter));
  tell(inter);
  int own, from, partner;
  MPI_Status status;
  MPI(MPI_Comm_rank(inter, &own));
  partner = size / 2 - 1 - own;
  MPI(MPI_Sendrecv(&rank, 1, MPI_INT, partner, 5, &from, 1, MPI_INT, MPI_ANY_SOURCE, 5, inter, &status));
  got(from);
  MPI(MPI_Intercomm_merge(inter, half == 0, &merged));
  tell(merged);
  around(merged);
  int dims[2] = {2, size / 2}, periods[2] = {1, 1};
  MPI(MPI_Cart_create(merged, 2, dims, periods, 1, &grid));
  tell(grid);
  around(grid);

  MPI(MPI_Comm_free(&grid));
  MPI(MPI_Comm_free(&merged));
  MPI(MPI_Comm_free(&inter));
  MPI(MPI_Comm_free(&uneven));
  MPI(MPI_Comm_free(&column));
  MPI(MPI_Comm_free(&backwards));
  fclose(said);
  return finish();
}
