// Reduction operators: user-defined, commutative or not, one that calls MPI, local reductions, all predefined ones.
#include "check.h"

static int calls = 0;

static void add_twice(void *in, void *inout, int *n, MPI_Datatype *type) {
  int bytes = 0;
  MPI(MPI_Type_size(*type, &bytes));  // MPI from inside MPI
  CHECK(bytes == (int)sizeof(int));
  for (int i = 0; i < *n; ++i) ((int *)inout)[i] += ((int *)in)[i];
  ++calls;
}

static void second(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  memcpy(inout, in, sizeof(int) * (size_t)*n);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  MPI_Op add;
  MPI_Op left_most;
  int commutes = 0;
  int value[3] = {rank, rank + 1, rank + 2};
  int result[3];
  MPI(MPI_Op_create(add_twice, 1, &add));
  MPI(MPI_Op_create(second, 0, &left_most));
  MPI(MPI_Op_commutative(add, &commutes));
  CHECK(commutes);
  MPI(MPI_Op_commutative(left_most, &commutes));
  CHECK(!commutes);
  for (int i = 0; i < 3; ++i) MPI(MPI_Allreduce(value, result, 3, MPI_INT, add, MPI_COMM_WORLD));
  CHECK(result[0] == size * (size - 1) / 2 && result[2] == result[0] + 2 * size);
  MPI(MPI_Allreduce(value, result, 3, MPI_INT, left_most, MPI_COMM_WORLD));
  CHECK(result[0] == 0);
  result[0] = 10;
  MPI(MPI_Reduce_local(value, result, 1, MPI_INT, add));
  CHECK(result[0] == 10 + rank);
  const MPI_Op all[] = {MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,    MPI_BAND,
                        MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};
  for (unsigned i = 0; i < 10; ++i) MPI(MPI_Allreduce(value, result, 3, MPI_INT, all[i], MPI_COMM_WORLD));
  for (unsigned i = 0; i < 12; ++i) {
    if (all[i] == MPI_NO_OP || all[i] == MPI_REPLACE) continue;
    MPI(MPI_Reduce_local(value, result, 3, MPI_INT, all[i]));
  }
  MPI(MPI_Op_free(&add));
  CHECK(add == MPI_OP_NULL);
  MPI(MPI_Op_free(&left_most));
  CHECK(calls > 0);
  return finish();
}
