// Calls with others nested in them: copying a communicator's attribute calls back, two deep and again and again, with
// time before, between and behind these calls.
#include <time.h>

#include "check.h"

static int key = MPI_KEYVAL_INVALID;
static int inner_key = MPI_KEYVAL_INVALID;
static int copied = 0;

static void work(void) {
  const struct timespec time = {0, 300000};
  nanosleep(&time, NULL);
}

static int copy_inner(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
  int mine = 0;
  (void)keyval, (void)extra;
  work();
  MPI(MPI_Comm_rank(comm, &mine));
  work();
  *(void **)out = in;
  *flag = 1;
  ++copied;
  return MPI_SUCCESS;
}

static int copy_outer(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
  int members = 0;
  MPI_Comm dup;
  (void)keyval, (void)extra;
  work();
  MPI(MPI_Comm_size(comm, &members));
  work();
  MPI(MPI_Comm_dup(MPI_COMM_SELF, &dup));
  MPI(MPI_Comm_free(&dup));
  work();
  *(void **)out = in;
  *flag = 1;
  ++copied;
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const int rounds = 10;
  static int value;
  MPI(MPI_Comm_create_keyval(copy_outer, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  MPI(MPI_Comm_create_keyval(copy_inner, MPI_COMM_NULL_DELETE_FN, &inner_key, NULL));
  MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value));
  MPI(MPI_Comm_set_attr(MPI_COMM_SELF, inner_key, &value));
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm dup;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    work();
    MPI(MPI_Comm_free(&dup));
  }
  CHECK(copied == 2 * rounds);
  MPI(MPI_Comm_delete_attr(MPI_COMM_SELF, inner_key));
  MPI(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  MPI(MPI_Comm_free_keyval(&inner_key));
  MPI(MPI_Comm_free_keyval(&key));
  return finish();
}
