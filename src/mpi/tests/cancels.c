// Receives that are cancelled before their message comes, and ones that are cancelled too late. Which is which does not
// depend on messages, but on files: a replay, which knows nothing of these, has to see to it by itself.
//
//   cancels [persistent]
#include <unistd.h>

#include "check.h"

enum { kTurns = 6, kLongest = 40 };

static void name_of(int turn, char what, char *name) { snprintf(name, kLongest, "cancels.%d%c", turn, what); }
/// Says to the other process that this one has come so far.
static void say(int turn, char what) {
  char name[kLongest];
  name_of(turn, what, name);
  FILE *file = fopen(name, "w");
  CHECK(file != NULL);
  if (file != NULL) fclose(file);
}
static void await(int turn, char what) {
  char name[kLongest];
  name_of(turn, what, name);
  for (int i = 0; i < 200000 && access(name, F_OK) != 0; ++i) usleep(200);
}

static void cancel(MPI_Request *request, int wanted, int ignore) {
  MPI_Status status;
  int cancelled = 0;
  MPI(MPI_Cancel(request));
  MPI(MPI_Wait(request, ignore ? MPI_STATUS_IGNORE : &status));
  if (ignore) return;
  MPI(MPI_Test_cancelled(&status, &cancelled));
  CHECK(cancelled == wanted);
}

static void receiving(int turn) {
  int in[3];
  int flag = 0;
  MPI_Request request[3];
  MPI(MPI_Irecv(&in[0], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request[0]));
  MPI(MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[1]));
  cancel(&request[1], 1, turn % 2);
  cancel(&request[0], 1, turn % 2);
  say(turn, 'a');
  MPI(MPI_Recv(&in[0], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(in[0] == turn);
  MPI(MPI_Irecv(&in[2], 1, MPI_INT, turn % 3 == 0 ? MPI_ANY_SOURCE : 1, 6, MPI_COMM_WORLD, &request[2]));
  say(turn, 'b');
  await(turn, 'c');
  for (int i = 0; i < 1000; ++i) MPI(MPI_Iprobe(1, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  cancel(&request[2], 0, turn % 2);
  CHECK(in[2] == -turn);
}

static void sending(int turn) {
  const int back = -turn;
  await(turn, 'a');
  MPI(MPI_Send(&turn, 1, MPI_INT, 0, 5, MPI_COMM_WORLD));
  await(turn, 'b');
  MPI(MPI_Send(&back, 1, MPI_INT, 0, 6, MPI_COMM_WORLD));
  say(turn, 'c');
}

static void persistent(void) {
  int in = 0;
  MPI_Request request;
  MPI(MPI_Recv_init(&in, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request));
  MPI(MPI_Start(&request));
  cancel(&request, 1, 0);
  MPI(MPI_Request_free(&request));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  char name[kLongest];
  for (int turn = 1; rank == 0 && turn <= kTurns; ++turn) {
    for (char what = 'a'; what <= 'c'; ++what) {
      name_of(turn, what, name);
      (void)remove(name);  // of a run before
    }
  }
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  for (int turn = 1; turn <= kTurns; ++turn) {
    if (rank == 0) receiving(turn);
    if (rank == 1) sending(turn);
  }
  if (argc > 1 && strcmp(argv[1], "persistent") == 0 && rank == 0) persistent();
  return finish();
}
