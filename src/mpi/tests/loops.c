// Loops as programs have them, for `cairn loops`: loops SHAPE. The lines of a shape's time step end with "step SHAPE".
// Functions that are called stay functions, whatever the compiler thinks of that: what a frame is called that is
// several functions of the source depends on where in these it is. One is put into its callers if that is defined.
#include "check.h"

#define CALLED __attribute__((noinline)) static void
#ifdef PUT_IN
#define MAY_BE_PUT_IN __attribute__((always_inline)) static inline void
#else
#define MAY_BE_PUT_IN CALLED
#endif

enum { kNumbers = 64 };
static int numbers[kNumbers];
static int others[kNumbers];

// Calls that several places share, as a program's own layer around MPI has them.
CALLED send_on(int count, int tag) {
  MPI(MPI_Sendrecv(numbers, count, MPI_INT, (rank + 1) % size, tag, others, count, MPI_INT, (rank + size - 1) % size,
                   tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
MAY_BE_PUT_IN share(void) { MPI(MPI_Bcast(numbers, 4, MPI_INT, 0, MPI_COMM_WORLD)); }
CALLED add_up(void) { MPI(MPI_Allreduce(numbers, others, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); }

/// The first operations of a turn are made before the loop, as to hide waiting times: 12 turns of three operations.
CALLED rotated(void) {
  share();
  add_up();
  for (int turn = 1; turn < 12; ++turn) {
    send_on(8, 0);  // step rotated
    share();
    add_up();
  }
  send_on(8, 0);
}

/// Buffers, tags and partners alternate, as those of NAS IS do: 10 turns.
CALLED alternating(void) {
  for (int turn = 0; turn < 10; ++turn) {
    int *mine = turn % 2 == 0 ? numbers : others;
    const int to = turn % 3 == 0 ? (rank + 1) % size : (rank + size - 1) % size;
    const int from = turn % 3 == 0 ? (rank + size - 1) % size : (rank + 1) % size;
    MPI_Request request;
    MPI(MPI_Irecv(mine + 32, 32, MPI_INT, from, turn % 2, MPI_COMM_WORLD, &request));     // step alternating
    MPI(MPI_Send(mine, 1 + turn % 2, MPI_INT, to, turn % 2, MPI_COMM_WORLD));             // step alternating
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));                                           // step alternating
    MPI(MPI_Allreduce(mine, mine + 16, 1 + turn % 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));  // step alternating
  }
}

/// The last turn computes a norm that the others do not, as that of NAS LU does: 30 turns.
CALLED last_differs(void) {
  for (int turn = 0; turn < 30; ++turn) {
    for (int plane = 0; plane < 5; ++plane) send_on(4, plane);  // step last_differs
    if (turn == 29) MPI(MPI_Reduce(numbers, others, 5, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    share();  // step last_differs
  }
}

/// Down and up through levels that exchange in one function, as NAS MG does: 4 turns of 12 exchanges and a sum.
CALLED v_cycle(void) {
  for (int level = 3; level > 0; --level) send_on(4 << level, level);
  for (int level = 1; level <= 3; ++level) {
    send_on(4 << level, level);
    send_on(4 << level, level);
    send_on(2, level);
  }
}
CALLED cycles(void) {
  for (int turn = 0; turn < 4; ++turn) {
    v_cycle();  // step cycles
    add_up();   // step cycles
  }
}

/// Each tenth turn has more: 6 times 10 turns.
CALLED reported(void) {
  for (int turn = 1; turn <= 60; ++turn) {
    send_on(4, 0);                     // step reported
    share();                           // step reported
    add_up();                          // step reported
    MPI(MPI_Barrier(MPI_COMM_WORLD));  // step reported
    if (turn % 10 == 0) MPI(MPI_Gather(numbers, 1, MPI_INT, others, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
}

/// As NAS EP: nothing comes again.
CALLED none(void) {
  share();
  add_up();
  send_on(1, 0);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const struct {
    const char *name;
    void (*run)(void);
  } shapes[] = {{"rotated", rotated}, {"alternating", alternating}, {"last_differs", last_differs},
                {"cycles", cycles},   {"reported", reported},       {"none", none}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    if (strcmp(argv[1], shapes[i].name) == 0) shapes[i].run();
  }
  return finish();
}
