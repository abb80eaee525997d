/* Launches between MPI calls: one before MPI_Init, three in turn with MPI_Allreduce, one by a thread that makes no MPI
 * call, and one before MPI_Finalize. Kernels are in turns_kernels.cc. With an argument the process kills itself behind
 * the third. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>

void launch_spin(unsigned blocks);
void launch_odd(void);

static void *other_thread(void *nothing) {
  launch_odd();
  return nothing;
}

int main(int argc, char **argv) {
  launch_odd();
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 3; ++step) {
    int sum = 0;
    launch_spin(step + 1u);
    MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (argc > 1) raise(SIGKILL);
  pthread_t thread;
  pthread_create(&thread, 0, other_thread, 0);
  pthread_join(thread, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  launch_odd();
  MPI_Finalize();
  return 0;
}
