// Dynamic processes (Open MPI): spawned children that talk to their parents. Elsewhere nothing but a barrier.
#include "check.h"

int main(int argc, char **argv) {
#ifdef OPEN_MPI
  start(&argc, &argv);
  MPI_Comm parent;
  MPI_Comm inter;
  MPI(MPI_Comm_get_parent(&parent));
  int value = 0;
  if (parent == MPI_COMM_NULL) {
    int codes[1] = {-1};
    char *arguments[] = {"child", NULL};
    MPI(MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       rank == 0 ? codes : MPI_ERRCODES_IGNORE));
    if (rank == 0) CHECK(codes[0] == MPI_SUCCESS);
    int children = 0;
    MPI(MPI_Comm_remote_size(inter, &children));
    CHECK(children == 1);
    value = 77;
    if (rank == 0) {
      MPI(MPI_Send(&value, 1, MPI_INT, 0, 1, inter));
      MPI(MPI_Recv(&value, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE));
      CHECK(value == 78);
    }
    MPI(MPI_Comm_disconnect(&inter));
    return finish();
  }
  CHECK(argc > 1 && strcmp(argv[1], "child") == 0);
  MPI(MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE));
  ++value;
  MPI(MPI_Send(&value, 1, MPI_INT, 0, 2, parent));
  MPI(MPI_Comm_disconnect(&parent));
  MPI(MPI_Finalize());
  return 0;
#else
  start(&argc, &argv);
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
#endif
}
