// MPI_THREAD_MULTIPLE: threads that make and free objects of every kind at one time. A value that one thread gave back
// is another's at once, before the first has returned from giving it back.
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 150 };

static MPI_Comm own[kThreads];
static int never(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  return MPI_SUCCESS;
}
static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int *)inout)[i] += ((int *)in)[i];
}

static void *make_and_free(void *argument) {
  const int number = (int)(long)argument;
  for (int i = 0; i < kRounds; ++i) {
    MPI_Datatype type, again;
    MPI(MPI_Type_contiguous(1 + number, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Type_vector(2, 1 + i % 3, 4, type, &again));
    MPI(MPI_Type_free(&type));
    int bytes = 0;
    MPI(MPI_Type_size(again, &bytes));
    CHECK(bytes == 2 * (1 + i % 3) * (1 + number) * (int)sizeof(int));
    MPI(MPI_Type_free(&again));
    MPI_Group group, rest;
    MPI(MPI_Comm_group(own[number], &group));
    MPI(MPI_Group_excl(group, 1, &(int){0}, &rest));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&rest));
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "key", "value"));
    MPI(MPI_Info_free(&info));
    MPI_Op op;
    MPI(MPI_Op_create(add, 1, &op));
    MPI(MPI_Op_free(&op));
    int keyval = 0;
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, never, &keyval, NULL));
    MPI(MPI_Comm_free_keyval(&keyval));
    int out = 10 * rank + number;
    int in = -1;
    MPI_Request request[2];
    MPI(MPI_Recv_init(&in, 1, MPI_INT, left(), number, own[number], &request[0]));
    MPI(MPI_Isend(&out, 1, MPI_INT, right(), number, own[number], &request[1]));
    MPI(MPI_Start(&request[0]));
    MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK(in == 10 * left() + number);
    MPI(MPI_Request_free(&request[0]));
    if (i % 10 != 0) continue;
    MPI_Comm comm, self;
    MPI(MPI_Comm_dup(own[number], &comm));
    MPI(MPI_Comm_split(comm, 0, -rank, &self));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Barrier(self));
    MPI(MPI_Comm_free(&self));
  }
  return NULL;
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  who();
  if (provided < MPI_THREAD_MULTIPLE) return finish();
  for (int i = 0; i < kThreads; ++i) MPI(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
  pthread_t thread[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&thread[i], NULL, make_and_free, (void *)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < kThreads; ++i) MPI(MPI_Comm_free(&own[i]));
  return finish();
}
