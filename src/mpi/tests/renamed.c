// Objects and buffers that come and go under one name, so that a call looks like an earlier one: its row must say what
// it was all the same. Datatypes of other sizes, communicators in which this process is another rank, buffers that lie
// elsewhere, operations, and receives of which the status says now one thing, now another.
#include "check.h"

static void sum(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/// The type is made at one place with one name each time; every other round it is larger.
static MPI_Datatype column(int blocks) {
  MPI_Datatype type;
  MPI_Type_vector(blocks, 1, 4, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void types(int round) {
  static int values[64];
  MPI_Datatype type = column(round % 2 ? 2 : 3);
  MPI_Bcast(values, 1, type, round % size, MPI_COMM_WORLD);
  MPI_Type_free(&type);
  // What is received is as much as was asked for, here always, there sometimes less.
  type = column(3);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request request;
  MPI_Status status;
  MPI_Isend(values, 3, MPI_INT, to, 7, MPI_COMM_WORLD, &request);
  MPI_Recv(values + 8, 1, type, from, 7, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isend(values, round % 3 == 0 ? 1 : 3, MPI_INT, to, 7, MPI_COMM_WORLD, &request);
  MPI_Recv(values + 8, 1, type, from, 7, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
}

/// Two of one kind alive: the second has another name than the first, and which is freed first changes.
static void pairs(unsigned drawn) {
  int values[16] = {0};
  MPI_Datatype type[2];
  for (int k = 0; k < 2; k++) {
    MPI_Type_contiguous(2, MPI_INT, &type[k]);
    MPI_Type_commit(&type[k]);
    if ((drawn >> k & 1) != 0) MPI_Bcast(values, 1, type[k], 0, MPI_COMM_WORLD);
  }
  MPI_Bcast(values, 1, type[drawn >> 2 & 1], 0, MPI_COMM_WORLD);
  MPI_Type_free(&type[drawn >> 3 & 1]);
  MPI_Type_free(&type[1 - (drawn >> 3 & 1)]);
}

static void communicators(int round) {
  MPI_Comm comm, second;
  // The new one has the same number each time, and this process now one rank there, now another.
  MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? rank : size - rank, &comm);
  MPI_Comm_dup(comm, &second);
  int one = 1, all = 0, place;
  MPI_Comm_rank(comm, &place);
  for (int k = 0; k < 3; k++) {
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, (round * 5 + k) % 3 == 1 ? comm : second);
    MPI_Reduce(&one, place == 0 ? &all : NULL, 1, MPI_INT, MPI_SUM, 0, comm);
    CHECK(place != 0 || all == size);
    MPI_Op op;
    MPI_Op_create(sum, k % 2, &op);
    MPI_Allreduce(&one, &all, 1, MPI_INT, op, comm);
    CHECK(all == size);
    MPI_Op_free(&op);
  }
  MPI_Comm_free(&second);
  MPI_Comm_free(&comm);
}

static void buffers(int round) {
  int *first = malloc(1000 * sizeof *first);
  int *second = round % 4 < 2 ? malloc(3000 * sizeof *second) : NULL;
  int *third = malloc(1000 * sizeof *third);
  for (int i = 0; i < 3; i++) {
    MPI_Bcast((round * 5 + i) % 3 == 1 ? first : third, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(first, 10, MPI_INT, 0, MPI_COMM_WORLD);
    if (second != NULL) MPI_Bcast(second + i, 10, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(third, 10, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, first, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  free(round % 2 ? first : third);
  free(second);
  free(round % 2 ? third : first);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  unsigned drawn = 1;
  for (int round = 0; round < 40; round++) {
    drawn = drawn * 1103515245 + 12345;
    pairs(drawn >> 16);
    types(round);
    communicators(round * 7 % 5);
    buffers(round * 3 % 7);
  }
  return finish();
}
