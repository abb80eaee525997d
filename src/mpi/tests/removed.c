// Functions that MPI 3.0 removed and old programs still call; headers may not declare them.
#include "check.h"

#undef MPI_Address
#undef MPI_Errhandler_create
#undef MPI_Errhandler_get
#undef MPI_Errhandler_set
#undef MPI_Type_extent
#undef MPI_Type_hindexed
#undef MPI_Type_hvector
#undef MPI_Type_lb
#undef MPI_Type_struct
#undef MPI_Type_ub
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

int MPI_Address(void *, MPI_Aint *);
int MPI_Errhandler_get(MPI_Comm, MPI_Errhandler *);
int MPI_Errhandler_set(MPI_Comm, MPI_Errhandler);
int MPI_Type_extent(MPI_Datatype, MPI_Aint *);
int MPI_Type_hindexed(int, int[], MPI_Aint[], MPI_Datatype, MPI_Datatype *);
int MPI_Type_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *);
int MPI_Type_lb(MPI_Datatype, MPI_Aint *);
int MPI_Type_struct(int, int[], MPI_Aint[], MPI_Datatype[], MPI_Datatype *);
int MPI_Type_ub(MPI_Datatype, MPI_Aint *);

int main(int argc, char **argv) {
  start(&argc, &argv);
  int words[4] = {0};
  MPI_Aint address = 0;
  MPI_Aint extent = 0;
  MPI_Datatype type;
  MPI_Errhandler handler;
  int lengths[2] = {1, 2};
  MPI_Aint places[2] = {0, 8};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI(MPI_Address(&words[1], &address));
  CHECK((char *)address == (char *)&words[1]);
  MPI(MPI_Type_hvector(2, 1, 8, MPI_INT, &type));
  MPI(MPI_Type_extent(type, &extent));
  CHECK(extent == 12);
  MPI(MPI_Type_free(&type));
  MPI(MPI_Type_hindexed(2, lengths, places, MPI_INT, &type));
  MPI(MPI_Type_ub(type, &extent));
  CHECK(extent == 16);
  MPI(MPI_Type_lb(type, &extent));
  CHECK(extent == 0);
  MPI(MPI_Type_free(&type));
  MPI(MPI_Type_struct(2, lengths, places, types, &type));
  MPI(MPI_Type_commit(&type));
  MPI(MPI_Type_free(&type));
  MPI(MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI(MPI_Errhandler_get(MPI_COMM_WORLD, &handler));
  CHECK(handler == MPI_ERRORS_RETURN);
  int keyval = 0;
  int flag = 0;
  void *value = NULL;
  MPI(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &keyval, NULL));
  MPI(MPI_Attr_put(MPI_COMM_WORLD, keyval, words));
  MPI(MPI_Attr_get(MPI_COMM_WORLD, keyval, &value, &flag));
  CHECK(flag && value == words);
  MPI(MPI_Attr_delete(MPI_COMM_WORLD, keyval));
  MPI(MPI_Keyval_free(&keyval));
  return finish();
}
