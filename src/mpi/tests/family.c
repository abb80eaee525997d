// Jobs that spawn jobs (Open MPI): each of two parents spawns one alone, at the same time and alike but for how much
// they say to each other; then both together spawn one of two programs, one of whose processes spawns another; and a
// port and a published name lead from one job to another. Elsewhere nothing but a barrier.
#include "check.h"

#ifdef OPEN_MPI

/// Says so many numbers to process 0 of the other side, which answers each.
static void talk(MPI_Comm inter, int numbers) {
  MPI(MPI_Send(&numbers, 1, MPI_INT, 0, 1, inter));
  for (int i = 0; i < numbers; ++i) {
    int back = -1;
    MPI(MPI_Send(&i, 1, MPI_INT, 0, 2, inter));
    MPI(MPI_Recv(&back, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE));
    CHECK(back == i + 1);
  }
}

static void answer(MPI_Comm inter) {
  int numbers = -1;
  MPI(MPI_Recv(&numbers, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
  for (int i = 0; i < numbers; ++i) {
    int value = -1;
    MPI(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE));
    ++value;
    MPI(MPI_Send(&value, 1, MPI_INT, 0, 3, inter));
  }
}

static void parents(char *program) {
  char *alone[] = {"alone", NULL};
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Comm inter;
    MPI(MPI_Comm_spawn(program, alone, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
    talk(inter, 1 + 2 * rank + turn);
    MPI(MPI_Comm_disconnect(&inter));
  }

  MPI_Comm inter;
  MPI_Comm all;
  char *together[] = {"together", NULL};
  char *spawning[] = {"spawning", NULL};
  char *programs[] = {program, program};
  char **arguments[] = {together, spawning};
  const int processes[] = {1, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  int codes[2] = {-1, -1};
  MPI(MPI_Comm_spawn_multiple(2, programs, arguments, processes, infos, 1, MPI_COMM_WORLD, &inter, codes));
  if (rank == 1) CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
  int sum = 0;
  MPI(MPI_Intercomm_merge(inter, 0, &all));
  MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));

  if (rank == 0) {
    char port[MPI_MAX_PORT_NAME] = "";
    char found[MPI_MAX_PORT_NAME] = "";
    MPI_Comm met;
    MPI(MPI_Open_port(MPI_INFO_NULL, port));
    MPI(MPI_Publish_name("cairn-family", MPI_INFO_NULL, port));
    MPI(MPI_Lookup_name("cairn-family", MPI_INFO_NULL, found));
    CHECK(strcmp(port, found) == 0);
    MPI(MPI_Send(port, sizeof port, MPI_CHAR, 0, 4, inter));
    MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met));
    talk(met, 4);
    MPI(MPI_Comm_disconnect(&met));
    MPI(MPI_Unpublish_name("cairn-family", MPI_INFO_NULL, port));
    MPI(MPI_Close_port(port));
  }
  MPI(MPI_Comm_free(&all));
  MPI(MPI_Comm_disconnect(&inter));
}

static void children(char *program, const char *what, MPI_Comm parent) {
  if (strcmp(what, "alone") == 0) {
    answer(parent);
    MPI(MPI_Comm_disconnect(&parent));
    return;
  }
  MPI_Comm all;
  int sum = 0;
  MPI(MPI_Intercomm_merge(parent, 1, &all));
  MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
  if (strcmp(what, "spawning") == 0) {
    char *alone[] = {"alone", NULL};
    MPI_Comm inter;
    MPI(MPI_Comm_spawn(program, alone, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
    talk(inter, 7);
    MPI(MPI_Comm_disconnect(&inter));
  } else {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm met;
    MPI(MPI_Recv(port, sizeof port, MPI_CHAR, 0, 4, parent, MPI_STATUS_IGNORE));
    MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met));
    answer(met);
    MPI(MPI_Comm_disconnect(&met));
  }
  MPI(MPI_Comm_free(&all));
  MPI(MPI_Comm_disconnect(&parent));
}

#endif

int main(int argc, char **argv) {
  start(&argc, &argv);
#ifdef OPEN_MPI
  MPI_Comm parent;
  MPI(MPI_Comm_get_parent(&parent));
  if (parent != MPI_COMM_NULL) {
    CHECK(argc > 1);
    children(argv[0], argv[1], parent);
    MPI(MPI_Finalize());
    return 0;
  }
  parents(argv[0]);
#else
  MPI(MPI_Barrier(MPI_COMM_WORLD));
#endif
  return finish();
}
