// Generalized requests: completed by the program, with callbacks that call MPI.
#include "check.h"

static int freed = 0;
static int cancelled = 0;

static int query(void *extra, MPI_Status *status) {
  MPI(MPI_Status_set_elements(status, MPI_BYTE, *(int *)extra));
  MPI(MPI_Status_set_cancelled(status, cancelled));
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = 7;
  return MPI_SUCCESS;
}

static int release(void *extra) {
  (void)extra;
  ++freed;
  return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) {
  (void)extra, (void)complete;
  cancelled = 1;
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  int bytes = 12;
  int count = 0;
  int flag = 0;
  MPI_Request request;
  MPI_Status status;
  MPI(MPI_Grequest_start(query, release, cancel, &bytes, &request));
  MPI(MPI_Test(&request, &flag, &status));
  CHECK(!flag);
  MPI(MPI_Grequest_complete(request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK(count == 12 && status.MPI_TAG == 7 && freed == 1);
  MPI(MPI_Grequest_start(query, release, cancel, &bytes, &request));
  MPI(MPI_Cancel(&request));
  MPI(MPI_Grequest_complete(request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_Test_cancelled(&status, &flag));
  CHECK(flag && freed == 2);
  MPI(MPI_Grequest_start(query, release, cancel, &bytes, &request));
  MPI(MPI_Grequest_complete(request));
  MPI(MPI_Test(&request, &flag, &status));
  CHECK(flag && status.MPI_TAG == 7 && freed == 3);
  return finish();
}
