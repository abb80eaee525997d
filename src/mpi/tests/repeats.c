// Loops that repeat themselves until a recorder knows each call in advance, and then something that looks the same is
// not, or requests made there are used elsewhere.
#include "check.h"

enum { kRounds = 24, kRequests = 4 };

static int out[64];
static int in[64];
static MPI_Request request[2 * kRequests];

/// `count` messages to oneself.
static void post(int count, MPI_Datatype type, MPI_Comm comm) {
  for (int i = 0; i < count; ++i) MPI(MPI_Irecv(&in[8 * i], 1, type, rank, i, comm, &request[i]));
  for (int i = 0; i < count; ++i) MPI(MPI_Isend(&out[8 * i], 1, type, rank, i, comm, &request[kRequests + i]));
}

/// Every few rounds the requests are asked for, completed in another order or in parts, or by other calls.
static void odd_rounds(void) {
  for (int round = 0; round < 42; ++round) {
    post(2, MPI_INT, MPI_COMM_WORLD);
    if (round == 9 || round == 13) {
      int flag = 0;
      MPI(MPI_Request_get_status(request[1], &flag, MPI_STATUS_IGNORE));
    }
    if (round == 17) {
      MPI(MPI_Wait(&request[kRequests + 1], MPI_STATUS_IGNORE));
    } else if (round == 21) {
      MPI_Request swapped[2] = {request[1], request[0]};
      MPI(MPI_Waitall(2, swapped, MPI_STATUSES_IGNORE));
      request[0] = request[1] = MPI_REQUEST_NULL;
    } else if (round == 25) {
      const MPI_Request first = request[0];
      request[0] = request[1];
      request[1] = first;
    } else if (round == 29) {
      MPI(MPI_Request_free(&request[kRequests]));
    } else if (round == 33) {
      MPI(MPI_Irecv(in + 40, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[2]));
    }
    MPI(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    MPI(MPI_Waitall(2, request + kRequests, MPI_STATUSES_IGNORE));
    for (int flag = 0; round == 37 && !flag;) MPI(MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE));
  }
}

/// With a persistent request alive, more requests than a short list holds, and some of one value (MPICH).
static void many_requests(void) {
  MPI_Request persistent = MPI_REQUEST_NULL;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request all[12];
    if (round == 12) MPI(MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &persistent));
    for (int i = 0; i < 12; ++i) MPI(MPI_Isend(&out[i], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &all[i]));
    if (round > 12) MPI(MPI_Start(&persistent));
    if (round > 12) MPI(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    MPI(MPI_Waitall(5, all, MPI_STATUSES_IGNORE));
    for (int i = 11; i >= 5; --i) MPI(MPI_Wait(&all[i], MPI_STATUS_IGNORE));
  }
  MPI(MPI_Request_free(&persistent));
}

/// A datatype and a communicator end and begin, with handles and names that may be the same, and mean something else.
static void other_objects(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status status;
    if (round % 8 == 0) {
      if (round != 0) {
        MPI(MPI_Type_free(&type));
        MPI(MPI_Comm_free(&comm));
      }
      MPI(MPI_Type_contiguous(1 + round / 8, MPI_INT, &type));
      MPI(MPI_Type_commit(&type));
      MPI(MPI_Comm_split(MPI_COMM_WORLD, round == 8 ? rank : 0, rank, &comm));
    }
    int me = -1;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Irecv(in, 1, type, me, 3, comm, &request[0]));
    // The message of the last rounds is shorter than what was posted.
    MPI(MPI_Send(out, round < 20 ? 1 + round / 8 : 1, MPI_INT, me, 3, comm));
    MPI(MPI_Wait(&request[0], &status));
  }
  MPI(MPI_Type_free(&type));
  MPI(MPI_Comm_free(&comm));
}

/// The same address is another allocation, or another place in one.
static void other_memory(void) {
  char *low = malloc(4096);
  for (int round = 0; round < kRounds; ++round) {
    char *buffer = malloc(round < 12 ? 256 : 512);
    if (round == 6) {
      free(low);
      low = NULL;
    }
    MPI(MPI_Send(buffer, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    MPI(MPI_Send(low, low == NULL ? 0 : 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    free(buffer);
  }
}

/// Requests that are still there when their round is over, and are completed by the next.
static void overlapping_rounds(void) {
  MPI_Request before = MPI_REQUEST_NULL;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request now = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI(MPI_Irecv(&in[round % 2], 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &now));
    MPI(MPI_Wait(&before, &status));
    MPI(MPI_Send(out, 1, MPI_INT, rank, 5, MPI_COMM_WORLD));
    before = now;
  }
  MPI(MPI_Wait(&before, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  for (int i = 0; i < 2 * kRequests; ++i) request[i] = MPI_REQUEST_NULL;
  odd_rounds();
  many_requests();
  other_objects();
  other_memory();
  overlapping_rounds();
  return finish();
}
