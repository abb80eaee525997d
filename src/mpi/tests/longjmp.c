// An error handler that leaves the failed call with longjmp, from different depths, and a callback that is left from
// within.
#include <setjmp.h>

#include "check.h"

static jmp_buf back;
static int left_calls = 0;

static void jump(MPI_Comm *comm, int *code, ...) {
  int mine = 0;
  (void)code;
  MPI_Comm_rank(*comm, &mine);
  ++left_calls;
  longjmp(back, 1);
}

static void fail_at_depth(int depth) {
  volatile char room[200];
  room[0] = (char)depth;
  if (depth > 0) {
    fail_at_depth(depth - 1);
  } else {
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, size + 5, 3, MPI_COMM_WORLD);
    CHECK(!"the call must not return");
  }
  CHECK(room[0] == depth);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI_Errhandler handler;
  MPI(MPI_Comm_create_errhandler(jump, &handler));
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
  for (volatile int round = 0; round < 6; ++round) {
    if (setjmp(back) == 0) fail_at_depth(round * 3 % 7);
    int mine = 0;
    MPI(MPI_Comm_rank(MPI_COMM_WORLD, &mine));
    CHECK(mine == rank && left_calls == round + 1);
  }
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  MPI(MPI_Errhandler_free(&handler));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
}
