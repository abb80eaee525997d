// Sessions (MPI 4), beside MPI_Init and without it (argument "only", then how many messages with a tag each). Elsewhere
// nothing but a barrier.
#include <stdint.h>

#include "check.h"

int main(int argc, char **argv) {
#if MPI_VERSION >= 4
  const int only = argc > 1 && strcmp(argv[1], "only") == 0;
  if (!only) start(&argc, &argv);
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int sets = 0;
  int length = 0;
  char name[MPI_MAX_PSET_NAME_LEN];
  MPI_Info info;
  for (int round = 0; round < (only ? 1 : 2); ++round) {
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets));
    CHECK(sets >= 2);
    for (int i = 0; i < sets; ++i) {
      length = 0;
      MPI(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
      CHECK(length > 0 && length < (int)sizeof name);
      MPI(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
    }
    MPI(MPI_Session_get_info(session, &info));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Session_get_pset_info(session, "mpi://WORLD", &info));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI(MPI_Comm_create_from_group(group, "org.example.first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    MPI(MPI_Comm_rank(comm, &rank));
    MPI(MPI_Comm_size(comm, &size));
    int sum = 0;
    MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * (size - 1) / 2);
    uint32_t random = 1;
    for (long i = 0; i < (argc > 2 ? atol(argv[2]) : 0); ++i) {
      random = random * 1664525 + 1013904223;
      const int tag = (int)(random >> 17);
      MPI(MPI_Sendrecv_replace(&sum, 1, MPI_INT, right(), tag, left(), tag, comm, MPI_STATUS_IGNORE));
    }
    MPI(MPI_Group_free(&group));
    MPI(MPI_Comm_free(&comm));
    MPI_Errhandler handler;
    MPI(MPI_Session_get_errhandler(session, &handler));
    if (round == 1 || only) {
      if (rank == 0 && only) puts("ok");
      fflush(stdout);
    }
    MPI(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
  }
  return only ? 0 : finish();
#else
  start(&argc, &argv);
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  return finish();
#endif
}
