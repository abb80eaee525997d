// Arrays of requests drained by MPI_Waitany, Waitsome, Testany and Testsome, and all that may come between their calls.
//
//   drains          every case once
//   drains long     many drains in order: what its trace takes is looked at
//   drains irregular   so many different calls that the recorder begins new segments, in the middle of drains
#include <pthread.h>

#include "check.h"

enum { kRequests = 12, kArrays = 10, kLong = 64 };

static int data[kLong];

/// Receives and sends to itself: half of the array each. Nothing of it is left when `drained` has been reached.
static void post(MPI_Request *request, int n, int tag) {
  for (int i = 0; i < n / 2; ++i) MPI(MPI_Irecv(&data[i], 1, MPI_INT, rank, tag + i, MPI_COMM_WORLD, &request[i]));
  for (int i = n / 2; i < n; ++i)
    MPI(MPI_Isend(&data[i], 1, MPI_INT, rank, tag + i - n / 2, MPI_COMM_WORLD, &request[i]));
}

/// The same with requests that are handles of their own: Open MPI gives one handle for all short sends, and which of
/// these a thread completes cannot be told when several threads have some.
static void post_apart(MPI_Request *request, int n, int tag) {
  for (int i = 0; i < n / 2; ++i) MPI(MPI_Irecv(&data[i], 1, MPI_INT, rank, tag + i, MPI_COMM_WORLD, &request[i]));
  for (int i = n / 2; i < n; ++i)
    MPI(MPI_Issend(&data[i], 1, MPI_INT, rank, tag + i - n / 2, MPI_COMM_WORLD, &request[i]));
}

static int living(const MPI_Request *request, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += request[i] != MPI_REQUEST_NULL;
  return count;
}

static void by_waitany(MPI_Request *request, int n) {
  MPI_Status status;
  int index = -1;
  while (living(request, n) > 0) MPI(MPI_Waitany(n, request, &index, &status));
  MPI(MPI_Waitany(n, request, &index, &status));
  CHECK(index == MPI_UNDEFINED);
}

static void by_testany(MPI_Request *request, int n) {
  int index = -1;
  for (int flag = 0; living(request, n) > 0;) MPI(MPI_Testany(n, request, &index, &flag, MPI_STATUS_IGNORE));
}

static void by_waitsome(MPI_Request *request, int n) {
  MPI_Status statuses[kRequests];
  int indices[kRequests];
  for (int done = 0; living(request, n) > 0;) MPI(MPI_Waitsome(n, request, &done, indices, statuses));
}

static void by_testsome(MPI_Request *request, int n) {
  int indices[kRequests];
  for (int done = 0; living(request, n) > 0;) MPI(MPI_Testsome(n, request, &done, indices, MPI_STATUSES_IGNORE));
}

typedef void Drain(MPI_Request *, int);
static Drain *const drains[] = {by_waitany, by_testany, by_waitsome, by_testsome};

static void gaps(Drain *drain) {
  MPI_Request request[kRequests];
  post(request, kRequests, 0);
  MPI(MPI_Wait(&request[kRequests - 1], MPI_STATUS_IGNORE));
  MPI(MPI_Wait(&request[kRequests / 2 - 1], MPI_STATUS_IGNORE));
  drain(request, kRequests);
  drain(request, kRequests);  // nothing but MPI_REQUEST_NULL
  MPI_Request one[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI(MPI_Irecv(&data[0], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &one[1]));
  drain(&one[1], 1);
  drain(one, 2);
}

/// Two arrays in turns; one that moves, that grows, and of which another call takes something.
static void several(void) {
  MPI_Request a[kRequests];
  MPI_Request b[kRequests];
  int index = -1;
  for (int round = 0; round < 3; ++round) {
    post(a, kRequests, 0);
    post(b, kRequests, 100);
    while (living(a, kRequests) > 0) {
      MPI(MPI_Waitany(kRequests, a, &index, MPI_STATUS_IGNORE));
      MPI(MPI_Waitany(kRequests, b, &index, MPI_STATUS_IGNORE));
    }
    CHECK(living(b, kRequests) == 0);
  }
  post(a, kRequests, 0);
  MPI(MPI_Waitany(kRequests, a, &index, MPI_STATUS_IGNORE));
  memcpy(b, a, sizeof a);
  MPI(MPI_Waitany(kRequests, b, &index, MPI_STATUS_IGNORE));
  MPI(MPI_Waitany(kRequests - 1, b + 1, &index, MPI_STATUS_IGNORE));
  MPI(MPI_Waitany(kRequests, b, &index, MPI_STATUS_IGNORE));
  for (int i = 0; i < kRequests; ++i) {
    if (b[i] == MPI_REQUEST_NULL) continue;
    MPI(MPI_Wait(&b[i], MPI_STATUS_IGNORE));
    break;
  }
  MPI(MPI_Waitany(kRequests, b, &index, MPI_STATUS_IGNORE));
  MPI(MPI_Irecv(&data[0], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &b[index]));
  by_waitsome(b, kRequests);
  // More arrays than are remembered.
  MPI_Request many[kArrays][4];
  for (int k = 0; k < kArrays; ++k) post(many[k], 4, 10 * k);
  for (int step = 0; step < 4; ++step)
    for (int k = 0; k < kArrays; ++k) MPI(MPI_Waitany(4, many[k], &index, MPI_STATUS_IGNORE));
}

/// Persistent requests stay in the array; inactive ones are passed over.
static void persistent(Drain *drain) {
  MPI_Request request[4];
  int index = -1;
  MPI(MPI_Recv_init(&data[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request[0]));
  MPI(MPI_Send_init(&data[1], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request[1]));
  for (int round = 0; round < 3; ++round) {
    request[2] = request[3] = MPI_REQUEST_NULL;
    MPI(MPI_Startall(2, request));
    for (int i = 0; i < 2; ++i) MPI(MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE));
    MPI(MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);
    // With others, that go.
    MPI(MPI_Startall(2, request));
    post(&request[2], 2, 50);
    for (int i = 0; i < 4; ++i) MPI(MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE));
    CHECK(request[0] != MPI_REQUEST_NULL && living(request, 4) == 2);
    post(&request[2], 2, 50);
    drain(&request[2], 2);
  }
  MPI(MPI_Request_free(&request[0]));
  MPI(MPI_Request_free(&request[1]));
  drain(request, 4);
}

/// Messages that are too long, and arguments that MPI refuses: what then completed is known by the array alone.
static void errors(void) {
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI_Request request[4];
  MPI_Status statuses[4];
  int indices[4];
  int index = -1;
  int done = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 4; ++i) MPI(MPI_Irecv(&data[i], i % 2, MPI_INT, rank, i, MPI_COMM_WORLD, &request[i]));
    for (int i = 0; i < 4; ++i) MPI(MPI_Send(data, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
    // A failed request is as good as none for a program that goes on.
    for (int i = 0; i < 8 && living(request, 4) > 0; ++i) {
      if (round == 0) {
        MPI_Waitany(4, request, &index, statuses);
      } else {
        MPI_Waitsome(4, request, &done, indices, statuses);
      }
    }
  }
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Waitany(-1, none, &index, statuses);
  MPI(MPI_Waitany(2, none, &index, statuses));
  MPI(MPI_Waitany(0, NULL, &index, statuses));
  MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static MPI_Request handed_over[kRequests];

static void *other_thread(void *unused) {
  MPI_Request request[kRequests];
  for (int round = 0; round < 3; ++round) {
    post_apart(request, kRequests, 200);
    by_waitany(request, kRequests);
  }
  by_waitany(handed_over, kRequests);
  return unused;
}

static void threads(void) {
  MPI_Request request[kRequests];
  pthread_t thread;
  post_apart(handed_over, kRequests, 300);
  post_apart(request, kRequests, 400);
  int index = -1;
  MPI(MPI_Waitany(kRequests, request, &index, MPI_STATUS_IGNORE));
  CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0);
  by_waitany(request, kRequests);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void drain_long(void) {
  MPI_Request request[kLong];
  for (int round = 0; round < 8; ++round) {
    post(request, kLong, 0);
    by_waitany(request, kLong);
  }
}

static void drain_irregularly(void) {
  MPI_Request request[4];
  unsigned state = 1;
  int index = -1;
  int flag = 0;
  for (int round = 0; round < 4000; ++round) {
    post(request, 4, (int)(state % 20000));
    for (int i = 0; i < 4; ++i) {
      state = state * 1664525 + 1013904223;
      MPI(MPI_Iprobe(0, (int)(state >> 17), MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
      MPI(MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE));
    }
  }
}

int main(int argc, char **argv) {
  int level = 0;
  MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
  who();
  if (argc > 1) {
    strcmp(argv[1], "long") == 0 ? drain_long() : drain_irregularly();
    return finish();
  }
  for (int d = 0; d < 4; ++d) {
    MPI_Request request[kRequests];
    for (int round = 0; round < 2; ++round) {
      post(request, kRequests, 0);
      drains[d](request, kRequests);
    }
    gaps(drains[d]);
    persistent(drains[d]);
  }
  several();
  if (level == MPI_THREAD_MULTIPLE) threads();
  errors();
  return finish();
}
