// Wrappers that end with a call of MPI, of which compilers make a jump: then MPI returns to the wrapper's caller.
// Compiled twice, with WRAPPERS and without, so that no wrapper is inlined. The words behind "//" name lines for
// tail_calls.py.
#include <mpi.h>

int send_it(int *value, int to);
int either(int *value, int to);
int by_another(int *value);
int on_two_lines(int *value, int to);
int asks_first(int *value, int to);

#ifdef WRAPPERS

int send_it(int *value, int to) {
  ++*value;
  return MPI_Send(value, 1, MPI_INT, to, 0, MPI_COMM_WORLD);  // send
}

int either(int *value, int to) {
  if (*value % 2 == 0) return MPI_Rsend(value, 1, MPI_INT, to, 0, MPI_COMM_WORLD);  // ready
  return send_it(value, to);
}

static int __attribute__((noinline)) hidden(int *value) {
  return MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_SELF);  // bcast
}

int by_another(int *value) {
  *value += 2;
  return hidden(value);
}

int on_two_lines(int *value, int to) {
  if (to == MPI_PROC_NULL) return MPI_Ssend(value, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
  return MPI_Ssend(value, 2, MPI_INT, to, 1, MPI_COMM_WORLD);
}

int asks_first(int *value, int to) {
  static int rank;                       // on the stack it would have to outlive the jump
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);  // rank
  *value += rank;
  return MPI_Bsend(value, 0, MPI_INT, to, 2, MPI_COMM_WORLD);  // buffered
}

#else

int main(int argc, char **argv) {
  int value = 1;
  MPI_Init(&argc, &argv);
  send_it(&value, MPI_PROC_NULL);                              // first
  for (int i = 0; i < 3; ++i) send_it(&value, MPI_PROC_NULL);  // loop
  value = 2;
  either(&value, MPI_PROC_NULL);  // even
  value = 3;
  either(&value, MPI_PROC_NULL);        // odd
  by_another(&value);                   // another
  on_two_lines(&value, MPI_PROC_NULL);  // two
  asks_first(&value, MPI_PROC_NULL);    // asks
  MPI_Finalize();
  return 0;
}

#endif
