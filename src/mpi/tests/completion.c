// Every way to complete requests: Test*, Wait*, ignored statuses, null and inactive requests, freed active ones.
#include "check.h"

enum { kMessages = 6 };

static int out[kMessages];
static int in[kMessages];
static MPI_Request request[2 * kMessages];
static MPI_Status status[2 * kMessages];

static void post(void) {
  for (int i = 0; i < kMessages; ++i) {
    in[i] = -1;
    out[i] = 100 * rank + i;
    MPI(MPI_Irecv(&in[i], 1, MPI_INT, left(), i, MPI_COMM_WORLD, &request[i]));
  }
  for (int i = 0; i < kMessages; ++i)
    MPI(MPI_Isend(&out[i], 1, MPI_INT, right(), i, MPI_COMM_WORLD, &request[kMessages + i]));
}

static void check(void) {
  for (int i = 0; i < 2 * kMessages; ++i) CHECK(request[i] == MPI_REQUEST_NULL);
  for (int i = 0; i < kMessages; ++i) CHECK(in[i] == 100 * left() + i);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const int n = 2 * kMessages;
  int flag = 0;
  int index = 0;
  int done = 0;
  int indices[2 * kMessages];
  for (int ignore = 0; ignore < 2; ++ignore) {
    MPI_Status *one = ignore ? MPI_STATUS_IGNORE : status;
    MPI_Status *all = ignore ? MPI_STATUSES_IGNORE : status;
    post();
    for (int i = n - 1; i >= 0; --i) MPI(MPI_Wait(&request[i], one));
    check();
    post();
    for (int i = 0; i < n; ++i)
      for (flag = 0; !flag;) MPI(MPI_Test(&request[i], &flag, one));
    check();
    post();
    MPI(MPI_Waitall(n, request, all));
    if (!ignore) {
      for (int i = 0; i < kMessages; ++i) CHECK(status[i].MPI_SOURCE == left() && status[i].MPI_TAG == i);
    }
    check();
    post();
    for (flag = 0; !flag;) MPI(MPI_Testall(n, request, &flag, all));
    check();
    post();
    for (int i = 0; i < n; ++i) {
      MPI(MPI_Waitany(n, request, &index, one));
      CHECK(index >= 0 && index < n && request[index] == MPI_REQUEST_NULL);
    }
    MPI(MPI_Waitany(n, request, &index, one));
    CHECK(index == MPI_UNDEFINED);
    check();
    post();
    for (int i = 0; i < n;) {
      MPI(MPI_Testany(n, request, &index, &flag, one));
      if (flag) {
        CHECK(index != MPI_UNDEFINED);
        ++i;
      }
    }
    MPI(MPI_Testany(n, request, &index, &flag, one));
    CHECK(flag && index == MPI_UNDEFINED);
    check();
    post();
    for (int i = 0; i < n; i += done) {
      MPI(MPI_Waitsome(n, request, &done, indices, all));
      CHECK(done != MPI_UNDEFINED && done >= 1);
    }
    MPI(MPI_Waitsome(n, request, &done, indices, all));
    CHECK(done == MPI_UNDEFINED);
    check();
    post();
    for (int i = 0; i < n; i += done) MPI(MPI_Testsome(n, request, &done, indices, all));
    MPI(MPI_Testsome(n, request, &done, indices, all));
    CHECK(done == MPI_UNDEFINED);
    check();
  }
  // A mixture with null requests in between, completed from the other end.
  post();
  MPI(MPI_Wait(&request[3], status));
  MPI(MPI_Wait(&request[7], MPI_STATUS_IGNORE));
  MPI(MPI_Waitall(n, request, status));
  CHECK(status[3].MPI_SOURCE == MPI_ANY_SOURCE);
  check();
  // Requests handed over to MPI, and one that is looked at before it is completed.
  post();
  for (flag = 0; !flag;) MPI(MPI_Request_get_status(request[0], &flag, status));
  CHECK(request[0] != MPI_REQUEST_NULL && status->MPI_TAG == 0);
  for (flag = 0; !flag;) MPI(MPI_Request_get_status(request[0], &flag, MPI_STATUS_IGNORE));
  for (int i = kMessages; i < n; ++i) MPI(MPI_Request_free(&request[i]));
  MPI(MPI_Waitall(kMessages, request, MPI_STATUSES_IGNORE));
  check();
  MPI(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  MPI(MPI_Barrier(MPI_COMM_WORLD));
  // Many to PROC_NULL: MPI may hand out one handle for all of them.
  for (int i = 0; i < n; ++i) MPI(MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &request[i]));
  MPI(MPI_Wait(&request[2], MPI_STATUS_IGNORE));
  MPI(MPI_Waitall(n, request, status));
  // From Fortran's form and back: what is in it comes from no message.
  MPI(MPI_Sendrecv(out, 1, MPI_INT, right(), 7, in, 1, MPI_INT, left(), 7, MPI_COMM_WORLD, &status[0]));
  MPI_Fint fortran[16];
  for (int i = 0; i < 3; ++i) {
    status[0].MPI_TAG = i == 0 ? 7 : MPI_ANY_TAG;
    MPI(MPI_Status_c2f(&status[0], fortran));
    MPI(MPI_Status_f2c(fortran, &status[1]));
    CHECK(status[1].MPI_SOURCE == left() && status[1].MPI_TAG == status[0].MPI_TAG);
  }
  return finish();
}
