// Ends without MPI_Finalize: argument "exit" (status 3), "_exit" (status 4), "abort" (MPI_Abort, code 5), "error"
// (within a call that fails), "late" (the same when the others are in MPI_Finalize), "crash" (SIGSEGV), or "kill"
// (SIGKILL); only rank 0 dies, the others wait for it.
#include <signal.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *how = argc > 1 ? argv[1] : "exit";
  int value = rank;
  for (int i = 0; i < 50; ++i)
    MPI(MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), i, left(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  if (rank == 0) {
    printf("leaving\n");
    fflush(stdout);
    if (strcmp(how, "exit") == 0) exit(3);
    if (strcmp(how, "_exit") == 0) _exit(4);
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(how, "error") == 0) MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    if (strcmp(how, "late") == 0) {
      usleep(300000);
      MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    }
    if (strcmp(how, "crash") == 0) raise(SIGSEGV);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
  }
  if (strcmp(how, "late") == 0) MPI(MPI_Finalize());
  MPI_Recv(&value, 1, MPI_INT, 0, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // never comes
  return 0;
}
