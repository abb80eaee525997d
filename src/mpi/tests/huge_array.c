// One rank makes a datatype of a million blocks, more than a small recorder can hold.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  if (rank == 1) {
    const int blocks = 1000000;
    int *lengths = malloc(sizeof(int) * (size_t)blocks);
    int *places = malloc(sizeof(int) * (size_t)blocks);
    for (int i = 0; i < blocks; ++i) {
      lengths[i] = 1 + i % 3;
      places[i] = 5 * i + i % 2;
    }
    MPI_Datatype type;
    MPI(MPI_Type_indexed(blocks, lengths, places, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Type_free(&type));
    free(lengths);
    free(places);
  }
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
}
