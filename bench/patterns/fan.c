// A root that sends to 1, 2, …, P-1 and hears from them in the same order, again and again.
//
//   fan [STEPS]
#include "pattern.h"

enum { kItems = 32 };

int main(int argc, char **argv) {
  start(&argc, &argv);
  const long steps = number(argc, argv, 1, 50);
  int word[kItems] = {0};
  for (long i = 0; i < steps; ++i) {
    if (rank == 0) {
      for (int to = 1; to < size; ++to) {
        word[kItems - 1] = (int)(to * 3 + i);
        MPI(MPI_Send(word, kItems, MPI_INT, to, 1, MPI_COMM_WORLD));
      }
      for (int from = 1; from < size; ++from) {
        MPI(MPI_Recv(word, kItems, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(word[kItems - 1] == (int)(from * 3 + i + 1));
      }
    } else {
      MPI(MPI_Recv(word, kItems, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK(word[kItems - 1] == (int)(rank * 3 + i));
      ++word[kItems - 1];
      MPI(MPI_Send(word, kItems, MPI_INT, 0, 2, MPI_COMM_WORLD));
    }
  }
  return done("fan", steps);
}
