// A time-step loop written as a recursion, direct and by way of another function: recursion STEPS. Buffers are static,
// so that nothing but the call stack grows with the depth.
#include "check.h"

static int steps = 10;
static int sent;
static int received;
static int sum;

#define FRAME static __attribute__((noinline)) int
FRAME step(int left_over);

FRAME exchange(int tag) {
  MPI(MPI_Sendrecv(&sent, 1, MPI_INT, right(), tag, &received, 1, MPI_INT, left(), tag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE));
  return received;
}

FRAME by_way_of(int left_over) {
  const int below = step(left_over);
  return below + 1;
}

FRAME step(int left_over) {
  sent = rank;
  CHECK(exchange(1) == left());
  MPI(MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == size * (size - 1) / 2);
  if (left_over == 1) return 1;
  const int below = left_over > steps / 2 ? step(left_over - 1) : by_way_of(left_over - 1);
  CHECK(exchange(2) == left());
  return below + 1;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  if (argc > 1) steps = atoi(argv[1]);
  CHECK(step(steps) >= steps);
  CHECK(exchange(3) == left());
  return finish();
}
