// Random neighbours: in each step a rank sends to one to three others, which do not know from whom (MPI_ANY_SOURCE),
// messages of 1 to 8,192 bytes, and computes a while that differs for each message: neighbours [steps].
#include <mpi.h>
#include <stdlib.h>

enum { kMostMessages = 3, kSizes = 14, kTags = 4, kMostWork = 2000 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = argc > 1 ? atoi(argv[1]) : 1200;
  unsigned seed = 12345 + (unsigned)rank;
  static char sent[1 << kSizes];
  static char received[1 << kSizes];
  volatile double work = 0;
  int *to = malloc((size_t)ranks * sizeof *to);
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < ranks; ++i) to[i] = 0;
    const int messages = 1 + rand_r(&seed) % kMostMessages;
    MPI_Request requests[kMostMessages];
    for (int i = 0; i < messages; ++i) {
      int other = rand_r(&seed) % ranks;
      if (other == rank) other = (other + 1) % ranks;
      ++to[other];
      const int size = 1 << (rand_r(&seed) % kSizes);
      MPI_Isend(sent, size, MPI_CHAR, other, step % kTags, MPI_COMM_WORLD, &requests[i]);
    }
    int from;
    MPI_Reduce_scatter_block(to, &from, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < from; ++i) {
      MPI_Status status;
      MPI_Probe(MPI_ANY_SOURCE, step % kTags, MPI_COMM_WORLD, &status);
      int size;
      MPI_Get_count(&status, MPI_CHAR, &size);
      MPI_Recv(received, size, MPI_CHAR, status.MPI_SOURCE, step % kTags, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const int rounds = rand_r(&seed) % kMostWork;
      for (int round = 0; round < rounds; ++round) work += round * 1e-3;
    }
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  }
  free(to);
  MPI_Finalize();
  return 0;
}
