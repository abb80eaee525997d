// Ranks make datatypes of many blocks, more than a small recorder can hold, and of which one that has room leaves out
// nothing. `huge_array [blocks [regular|irregular|everyone]]`: one rank makes a type whose places follow a rule or
// none, or each makes one, after calls by which no two ranks are of one class.
#include "check.h"

static void make(int blocks, int irregular) {
  int *lengths = malloc(sizeof(int) * (size_t)blocks);
  int *places = malloc(sizeof(int) * (size_t)blocks);
  unsigned random = 1;
  for (int i = 0; i < blocks; ++i) {
    random = random * 1664525 + 1013904223;
    lengths[i] = 1 + i % 3;
    places[i] = 5 * i + (irregular ? (int)(random >> 31) : i % 2);
  }
  MPI_Datatype type;
  MPI(MPI_Type_indexed(blocks, lengths, places, MPI_INT, &type));
  MPI(MPI_Type_commit(&type));
  MPI(MPI_Type_free(&type));
  free(lengths);
  free(places);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const int blocks = argc > 1 ? atoi(argv[1]) : 1000000;
  const char *how = argc > 2 ? argv[2] : "regular";
  if (strcmp(how, "everyone") == 0) {
    int any = 0;
    if (rank > 0) MPI(MPI_Initialized(&any));
    if (rank > 1) MPI(MPI_Finalized(&any));
    make(blocks, 0);
  } else if (rank == 1) {
    make(blocks, strcmp(how, "irregular") == 0);
  }
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
}
